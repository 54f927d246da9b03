import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HarnessOrder } from "../../../ports/harness.ts";
import { jsonAt, parseObject, textAt } from "./json-at.ts";
import { noTokens, type TokenCount } from "./token-count.ts";

/** What is known before a turn and needed after it, in a file of the run's own: it outlives us. */
export interface TurnNotes {
  readonly model: string;
  /** Codex's own folder. */
  readonly home: string;
  /** What the session had used up: Codex tells only totals. */
  readonly before: TokenCount;
  /** What the answer must fit; undefined where Codex was not asked to see to it. */
  readonly schema: unknown;
}

type At = Pick<HarnessOrder, "run" | "runFolder">;

/** The first notes stay: whoever makes ready a second time may come when the turn is under way. */
export async function keepNotes(at: At, notes: TurnNotes): Promise<void> {
  await mkdir(at.runFolder, { recursive: true });
  await writeFile(fileOf(at), JSON.stringify(notes), { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}

/** Undefined where nobody has kept any. */
export function readNotes(at: At): TurnNotes | undefined {
  const json = parseObject(textOf(fileOf(at)));
  if (json === undefined) return undefined;
  const { input, cached, output } = { ...noTokens, ...(jsonAt(json, "before") as Partial<TokenCount>) };
  return {
    model: textAt(json, "model"),
    home: textAt(json, "home"),
    before: { input, cached, output },
    schema: jsonAt(json, "schema"),
  };
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
