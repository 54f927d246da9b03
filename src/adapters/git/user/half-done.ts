import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { syncFolder } from "../../sync-folder.ts";
import { isObjectId } from "../check-names.ts";
import type { ControlGit } from "../control/control-git.ts";
import { entryAt } from "../entry-at.ts";
import { joinNul } from "../file-name.ts";
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
 * Takes files back to what the index has that updates to these commits have written, begun to write, or removed. What has
 * anything else in it is the user's, and stays.
 */
export async function undoHalfDone(
  control: ControlGit,
  place: GitPlace,
  before: string,
  commits: readonly string[],
): Promise<void> {
  for (const commit of commits) {
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
