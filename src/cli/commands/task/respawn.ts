import { routes } from "../../../api/routes.ts";
import { askChange } from "../../ask-change.ts";
import type { Context } from "../../context.ts";

export async function respawn(this: Context, { json }: { json: boolean }, reference: string) {
  await askChange(this, routes.respawnTask, reference, json);
  if (!json) this.say(`To see its agent at work: signalbox task attach ${reference}`);
}
