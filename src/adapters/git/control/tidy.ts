import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "../../sync-folder.ts";
import { createTurns } from "../turns.ts";
import type { ControlGit } from "./control-git.ts";

/** Each line of merges leaves a pack, and git looks into all of them for what it does not find. */
const mostPacks = 24;
/** Of one folder of 256, as git counts them itself. */
const mostLoose = 8;
const day = 24 * 60 * 60 * 1000;

const turns = createTurns();

export function tidy(control: ControlGit, signal: AbortSignal | undefined): Promise<boolean> {
  return turns.take(control.folder, async () => {
    const packs = join(control.folder, "objects", "pack");
    const names = await namesIn(packs);
    await removeUnfinished(packs, names);
    const loose = await namesIn(join(control.folder, "objects", "17"));
    if (names.filter((name) => name.endsWith(".pack")).length <= mostPacks && loose.length <= mostLoose) return false;
    await bringTogether(control, signal);
    await syncFolder(packs);
    return true;
  });
}

/**
 * Of all that git can do here this alone takes no heed of what refs reach: smaller packs become larger ones with everything
 * that is in them, loose objects too. What became part of a new pack is deleted when that is whole; whoever looks for it
 * in the old one meanwhile looks again.
 */
async function bringTogether(control: ControlGit, signal: AbortSignal | undefined): Promise<void> {
  await control.git(["repack", "--quiet", "-d", "-n", "--geometric=2", "--no-write-bitmap-index"], {
    // Nobody waits for it, but others want to work.
    settings: ["pack.threads=1", "pack.windowMemory=256m"],
    isLong: true,
    writes: true,
    signal,
  });
}

/** What a git that was killed has left. Nothing takes a day. */
async function removeUnfinished(packs: string, names: readonly string[]): Promise<void> {
  for (const name of names.filter((each) => each.startsWith("tmp_") || each.startsWith(".tmp-"))) {
    const path = join(packs, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > day) await rm(path, { force: true });
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}
