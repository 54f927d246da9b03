import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ProcessIdentity } from "../../../ports/processes.ts";

/** Who the program of a run is. Whoever makes this file has the run: there is one program for each. */
export function recordFile(folder: string): string {
  return join(folder, "process.json");
}

/** Undefined where no program was ever started for the run. */
export async function readRecord(folder: string): Promise<ProcessIdentity | undefined> {
  let text: string;
  try {
    text = await readFile(recordFile(folder), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const read: Partial<ProcessIdentity> = JSON.parse(text);
  return { boot: String(read.boot), pid: Number(read.pid), start: String(read.start) };
}
