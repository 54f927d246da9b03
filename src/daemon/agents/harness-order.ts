import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HarnessOrder } from "../../ports/harness.ts";

/** What a run was prepared with, for when it has to be asked again. It has the run's token in it. */
export async function writeOrder(folder: string, order: HarnessOrder): Promise<void> {
  await writeFile(join(folder, "harness.json"), JSON.stringify(order), { mode: 0o600 });
}

export async function readOrder(folder: string): Promise<HarnessOrder> {
  return JSON.parse(await readFile(join(folder, "harness.json"), "utf8")) as HarnessOrder;
}
