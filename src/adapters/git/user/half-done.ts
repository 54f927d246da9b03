import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { syncFolder } from "../../sync-folder.ts";
import { isObjectId } from "../check-names.ts";
import type { ControlGit } from "../control/control-git.ts";
import { isAncestor } from "../control/read-history.ts";
import { entryAt } from "../entry-at.ts";
import { joinNul, splitNul } from "../file-name.ts";
import type { GitPlace } from "../git-runner.ts";
import { type LocalChange, localChanges } from "./local-changes.ts";

/** A note that a worktree is being taken to a commit. It is there only while that goes on, or where it was cut short. */
export interface UpdateNote {
  /** Commits that updates were on their way to when they were cut short. */
  readonly cutShort: readonly string[];
  /** Notes one more. */
  add(commit: string): Promise<void>;
  remove(): void;
}

export function updateNote({ folder }: ControlGit, worktree: string): UpdateNote {
  const notes = join(folder, "updates");
  const path = join(notes, createHash("sha256").update(worktree).digest("hex").slice(0, 32));
  const cutShort = entryAt(path)?.isFile() ? readFileSync(path, "utf8").split("\n").filter(isObjectId) : [];
  return {
    cutShort,
    async add(commit) {
      mkdirSync(notes, { recursive: true });
      writeFileSync(path, [...new Set([...cutShort, commit])].map((line) => `${line}\n`).join(""), { flush: true });
      await syncFolder(notes);
    },
    remove: () => rmSync(path, { force: true }),
  };
}

/**
 * Takes files back to what the branch has that updates to these commits have written, begun to write, or removed, and staged.
 * What has anything else in it is the user's, and stays.
 */
export async function undoHalfDone(
  control: ControlGit,
  place: GitPlace,
  before: string,
  commits: readonly string[],
): Promise<void> {
  for (const commit of commits) {
    // The branch moves last: what it contains was done to its end.
    if (await isAncestor(control, commit, before)) continue;
    await unstage(control, place, before, commit);
    const files = await localChanges(control, place, before, commit);
    for (const file of files)
      if (await isBegun(control, place, commit, file)) rmSync(join(place.folder, file.path.text));
    const known = files.filter(({ state, isStaged }) => state !== "unknown" && !isStaged);
    // Writes only what is missing.
    await control.run(place, ["checkout-index", "--quiet", "-z", "--stdin"], {
      accepts: [0, 1, 128],
      input: joinNul(known.map(({ path }) => path.bytes)),
      isLong: true,
      isUnstoppable: true,
    });
  }
}

/** Git writes the index before it moves the branch: what is staged just as the commit has it is the update's. */
async function unstage(control: ControlGit, place: GitPlace, before: string, commit: string): Promise<void> {
  const { stdout } = await control.run(place, ["ls-files", "--stage", "-z"], { isLong: true });
  const staged = new Map(splitNul(stdout).map(stagedEntry));
  const flags = ["-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--end-of-options"];
  const parts = splitNul((await control.git(["diff-tree", ...flags, before, commit])).stdout);
  const back = parts.flatMap((path, index) => {
    // :MODE MODE OBJECT OBJECT LETTER, and the name by itself.
    const [mode = "", newMode = "", object = "", newObject = ""] = String(parts[index - 1])
      .slice(1)
      .split(" ");
    const wanted = newMode === nothing ? undefined : `${newMode} ${newObject} 0`;
    if (index % 2 === 0 || staged.get(path.toString("latin1")) !== wanted) return [];
    return [Buffer.concat([Buffer.from(`${mode === nothing ? "0" : mode} ${object}\t`), path])];
  });
  if (back.length === 0) return;
  await control.run(place, ["update-index", "-z", "--index-info"], {
    input: joinNul(back),
    isLong: true,
    isUnstoppable: true,
    writes: true,
  });
}

const nothing = "000000";

/** `MODE OBJECT STAGE`, by name. */
function stagedEntry(line: Buffer): readonly [string, string] {
  const tab = line.indexOf("\t");
  return [line.subarray(tab + 1).toString("latin1"), line.subarray(0, tab).toString("latin1")];
}

// Larger ones are left to the person, who sees their names.
const mostBytes = 256 * 1024 * 1024;

/** Whether a file has nothing but the first bytes, perhaps all, of what the commit has there, with the user's filters. */
async function isBegun(
  control: ControlGit,
  place: GitPlace,
  commit: string,
  { path, state, isStaged }: LocalChange,
): Promise<boolean> {
  // What is staged is the user's. Names that must be escaped are too rare to be worth the care that they would take.
  if (state === "missing" || isStaged || path.text.startsWith('"')) return false;
  const found = entryAt(join(place.folder, path.text));
  if (!found?.isFile() || found.size > mostBytes) return false;
  const wanted = `${commit}:${path.text}`;
  const { code, stdout, isCut } = await control.run(place, ["cat-file", "--filters", "--end-of-options", wanted], {
    accepts: [0, 128],
    most: found.size,
    cuts: true,
  });
  return (code === 0 || isCut) && readFileSync(join(place.folder, path.text)).equals(stdout.subarray(0, found.size));
}
