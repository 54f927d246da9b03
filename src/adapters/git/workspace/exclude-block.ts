import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "../../../fault.ts";
import { entryAt } from "./entry-at.ts";
import { publish } from "./publish.ts";
import { readFileAt } from "./read-git-folder.ts";

const first = "# >>> signalbox: task files of agents (kept by signalbox)";
const last = "# <<< signalbox";

/** It comes first in its file, so that whatever a person says there wins, and that taking it away leaves no trace. */
export const excludeBlock = `${[
  first,
  "/TASK.md",
  "/TASK.md.*.draft",
  "/.signalbox/*.md",
  "/.signalbox/*.md.*.draft",
  last,
].join("\n")}\n`;

/** Git looks only at the file that all worktrees share. */
export function excludeFile(commonFolder: string): string {
  return join(commonFolder, "info", "exclude");
}

export async function addExclude(commonFolder: string): Promise<void> {
  await change(commonFolder, (rest) => excludeBlock + rest);
}

export async function removeExclude(commonFolder: string): Promise<void> {
  await change(commonFolder, (rest) => rest);
}

async function change(commonFolder: string, write: (rest: string) => string): Promise<void> {
  const path = excludeFile(commonFolder);
  const bytes = await readFileAt(path, 16 * 1024 * 1024);
  if (bytes === "other" || bytes === "too-large") throw notPlain(path);
  // Every byte stays as it is: latin1 has one character for each.
  const before = bytes === "none" ? "" : bytes.toString("latin1");
  const after = write(withoutBlocks(before));
  if (after === before) return;
  await mkdir(dirname(path), { recursive: true });
  await publish(path, Buffer.from(after, "latin1"), {
    mode: ((await entryAt(path))?.mode ?? 0o644) & 0o777,
    lasts: true,
  });
}

/** Also of blocks that somebody has copied or cut short: each ends at the latest where lines of ours end. */
function withoutBlocks(text: string): string {
  const kept: string[] = [];
  let isInside = false;
  for (const line of text.split(/(?<=\n)/)) {
    const plain = line.trimEnd();
    if (plain === first) isInside = true;
    else if (isInside && plain === last) isInside = false;
    else if (!isInside || !ours.has(plain)) {
      isInside = false;
      kept.push(line);
    }
  }
  return kept.join("");
}

const ours = new Set(excludeBlock.split("\n").filter((line) => line.startsWith("/")));

function notPlain(path: string): Fault {
  return new Fault("workspace.unwritable", `${path} is no plain file, so task files cannot be hidden from git there.`, {
    hint: "Put a file of its own there, with what the link leads to.",
  });
}
