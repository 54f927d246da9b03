import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HarnessOrder } from "../../../ports/harness.ts";
import { jsonAt } from "../../json-at.ts";
import { parseObject, textAt } from "../json-at.ts";

/** What is known before a turn and needed after it, in a file of the run's own: it outlives us. */
export interface TurnNotes {
  readonly model: string;
  /** Codex's own folder. */
  readonly home: string;
  /** What the answer must fit; undefined where Codex was not asked to see to it. */
  readonly schema: unknown;
}

type At = Pick<HarnessOrder, "run" | "runFolder">;

export async function keepNotes(at: At, notes: TurnNotes): Promise<void> {
  await mkdir(at.runFolder, { recursive: true });
  await writeFile(fileOf(at), JSON.stringify(notes));
}

/** Empty where nobody has kept any. */
export function readNotes(at: At): TurnNotes {
  const json = parseObject(textOf(fileOf(at)));
  return { model: textAt(json, "model"), home: textAt(json, "home"), schema: jsonAt(json, "schema") };
}

function fileOf({ run, runFolder }: At): string {
  return join(runFolder, `codex-${run}.json`);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
