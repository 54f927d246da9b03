import { Fault } from "../../../fault.ts";
import { createMemo } from "../../../keyed.ts";
import type { ChangedFile, ChangedLines, Diff } from "../../../ports/control-repository.ts";
import type { PatchOrder, PatchPart } from "../../../ports/patch.ts";
import { checkCommit, fileName, joinNul, splitNul } from "../names.ts";
import type { ControlGit } from "./control-git.ts";
import { pathspecsOf, readPatchPage } from "./patch-page.ts";

// No diff may run a program that an agent's attributes name.
const plain = ["-r", "--find-renames", "--no-ext-diff", "--no-textconv"];

/** Commits never change. Long answers are not kept. */
const compared = createMemo<readonly ChangedFile[]>({ max: 1_000, keeps: ({ length }) => length <= 1_000 });

export async function changedFiles(control: ControlGit, from: string, to: string): Promise<readonly ChangedFile[]> {
  const ids = [checkCommit(from), checkCommit(to)];
  return compared.get(`${control.folder} ${ids.join(" ")}`, async () => {
    const { stdout } = await control.git(["diff-tree", ...plain, "-z", "--name-status", "--end-of-options", ...ids]);
    const parts = splitNul(stdout).values();
    const files: ChangedFile[] = [];
    for (const status of parts) {
      const letter = status.toString("latin1")[0] ?? "";
      const first = fileName(parts.next().value ?? Buffer.alloc(0));
      const second = letter === "R" ? fileName(parts.next().value ?? Buffer.alloc(0)) : undefined;
      files.push({ path: second ?? first, change: changes[letter] ?? "modified", from: second && first });
    }
    return files;
  });
}

const changes: Readonly<Record<string, ChangedFile["change"]>> = { A: "added", D: "deleted", R: "renamed", T: "type" };

/** Flags for a complete patch that does not depend on the user's settings. */
export const patch = [...plain.slice(1), "--patch", "--full-index", "--no-color", "--submodule=short"];
export const counted = [...plain.slice(1), "--raw", "--numstat", "-z"];

export async function changedLines(control: ControlGit, from: string, to: string): Promise<readonly ChangedLines[]> {
  const ids = [checkCommit(from), checkCommit(to)];
  const { stdout } = await control.git(["diff-tree", "-r", ...counted, "--end-of-options", ...ids]);
  return readCounted(stdout);
}

/**
 * Reads the output of `--raw --numstat -z`: first what happened to each file, then how many lines, in the same order. A renamed
 * file has its two names as separate parts after the rest.
 */
export function readCounted(output: Buffer): readonly ChangedLines[] {
  const parts = splitNul(output).values();
  const happened: ChangedFile["change"][] = [];
  const files: ChangedLines[] = [];
  const next = () => parts.next().value ?? Buffer.alloc(0);
  for (const part of parts) {
    const line = part.toString("latin1");
    if (line.startsWith(":")) {
      const letter = line.split(" ")[4]?.[0] ?? "";
      happened.push(changes[letter] ?? "modified");
      next();
      if (letter === "R") next();
      continue;
    }
    const [added = "", deleted = ""] = line.split("\t", 2);
    const name = part.subarray(added.length + deleted.length + 2);
    const from = name.length === 0 ? fileName(next()) : undefined;
    files.push({
      path: fileName(from === undefined ? name : next()),
      from,
      change: happened[files.length] ?? "modified",
      added: lines(added),
      deleted: lines(deleted),
    });
  }
  return files;
}

/** Undefined for a binary file, for which git prints a dash. */
function lines(count: string): number | undefined {
  return count === "-" ? undefined : Number(count);
}

export async function diff(control: ControlGit, from: string, to: string, most: number): Promise<Diff> {
  const ids = [checkCommit(from), checkCommit(to)];
  const { stdout, isCut } = await control.git(["diff-tree", "-r", ...patch, "--end-of-options", ...ids], {
    most,
    cuts: true,
  });
  return { bytes: stdout, isCut };
}

export function diffFile(control: ControlGit, from: string, to: string, order: PatchOrder): Promise<PatchPart> {
  const ids = [checkCommit(from), checkCommit(to)];
  const args = ["diff-tree", "-r", ...patch, "--end-of-options", ...ids, "--", ...pathspecsOf(order)];
  return readPatchPage(order.page, (options) => control.git(args, options));
}

/** Longer than any heading that git prints before a file's content. */
const maxHeading = 200;

export async function fileAt(
  control: ControlGit,
  commit: string,
  path: string | Uint8Array,
  most: number,
): Promise<Uint8Array | undefined> {
  const bytes = Buffer.from(path);
  // Git would read a path that begins with `./` or `../` relative to a folder.
  if (bytes.includes(0) || /^\.{0,2}(\/|$)/.test(bytes.toString("latin1"))) return undefined;
  const input = joinNul([Buffer.concat([Buffer.from(`${checkCommit(commit)}:`), bytes])]);
  const { stdout } = await control.git(["cat-file", "--batch", "-z"], {
    input,
    most: most + maxHeading + input.length,
    cuts: true,
  });
  const start = stdout.indexOf("\n") + 1;
  const [, size] = /^[0-9a-f]+ blob (\d+)\n$/.exec(stdout.toString("latin1", 0, start)) ?? [];
  if (size === undefined) return undefined;
  if (Number(size) > most) throw tooLarge(Number(size), most);
  return stdout.subarray(start, start + Number(size));
}

function tooLarge(size: number, most: number): Fault {
  return new Fault("git.too-much", `The file has ${size} bytes; the limit is ${most}.`, {
    hint: "Read it in the repository.",
  });
}
