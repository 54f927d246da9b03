import { entryAt } from "./entry-at.ts";
import type { Mechanics } from "./mechanics.ts";
import { type Workshop, wholePath } from "./workshop.ts";

/** Only what names whole paths is written anew: what we know about the folder, and what leads from it to its repository. */
export async function reconnect(
  shop: Workshop,
  mechanics: Mechanics,
  path: string,
  from: string | undefined,
): Promise<void> {
  const folder = await wholePath(path);
  return shop.turns.take(folder, async () => {
    if (from !== undefined) await shop.records.move(from, folder);
    if ((await entryAt(folder)) === undefined) return;
    await mechanics.reconnect(folder, await shop.records.read(folder));
  });
}
