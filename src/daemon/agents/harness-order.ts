import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunSpec } from "../../engine/workflow.ts";
import type { HarnessOrder } from "../../ports/harness.ts";

/** What a run was ordered and prepared with: its end is read with it, and it may have to be asked again. */
export interface KeptOrder {
  readonly spec: RunSpec;
  /** It has the run's token in it. */
  readonly order: HarnessOrder;
}

export async function writeOrder(folder: string, kept: KeptOrder): Promise<void> {
  await writeFile(join(folder, "harness.json"), JSON.stringify(kept), { mode: 0o600 });
}

export async function readOrder(folder: string): Promise<KeptOrder> {
  return JSON.parse(await readFile(join(folder, "harness.json"), "utf8")) as KeptOrder;
}
