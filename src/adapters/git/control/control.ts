import { existsSync } from "node:fs";
import { appendFile, mkdir, open, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "../../../durable-file.ts";
import { Fault } from "../../../fault.ts";
import { createTurns } from "../../../keyed.ts";
import type { TaskRef } from "../../../ports/control-repository.ts";
import { syncRef } from "../lasting.ts";
import { checkCommit, checkPart, checkRef, noCommit } from "../names.ts";
import type { RunGit } from "../runner.ts";
import { type ControlGit, createControlGit } from "./control-git.ts";
import { commitAt, isAncestor, knownCommits, treeOf } from "./history.ts";

/** Pins a commit that a ref is about to leave, as `refs/signalbox/kept/<owner>/<n>`. */
export async function keep(control: ControlGit, owner: string, commit: string): Promise<void> {
  const folder = `refs/signalbox/kept/${checkPart(owner)}`;
  checkCommit(commit);
  for (;;) {
    const containing = ["for-each-ref", "--count=1", `--contains=${commit}`, "--end-of-options", folder];
    if ((await control.git(containing)).stdout.length > 0) return;
    const { stdout } = await control.git(["for-each-ref", "--format=%(refname)", "--end-of-options", folder]);
    const taken = stdout.toString("utf8").matchAll(/\/(\d+)$/gm);
    const next = Math.max(0, ...[...taken].map(([, number]) => Number(number))) + 1;
    try {
      const created = [`${folder}/${next}`, commit, noCommit(commit)];
      await control.git(["update-ref", "--no-deref", "-m", "kept", "--end-of-options", ...created], { writes: true });
      return await syncRef(control.folder, `${folder}/${next}`);
    } catch (error) {
      // Another process took the number.
      if (!(error instanceof Fault) || error.code !== "git.ref-moved") throw error;
    }
  }
}

export async function moveRef(control: ControlGit, ref: string, to: string, from: string | undefined): Promise<void> {
  checkRef(ref);
  if (!knownCommits(control).whole.has(to)) await treeOf(control, to);
  if (from !== undefined && !(await isAncestor(control, checkCommit(from), to))) {
    await keep(control, ownerOf(ref), from);
  }
  const moved = [ref, to, from ?? noCommit(to)];
  try {
    await control.git(["update-ref", "--no-deref", "-m", "moved", "--end-of-options", ...moved], { writes: true });
  } catch (error) {
    // Idempotent: an earlier attempt that was killed may have moved the ref already.
    const isThere = isMoved(error) && (await commitAt(control, ref)) === to;
    if (!isThere) throw error;
  }
  await syncRef(control.folder, ref);
}

function isMoved(error: unknown): boolean {
  return error instanceof Fault && error.code === "git.ref-moved";
}

/** The owner's name for pinned commits: the task's id for a task's ref, the last part of the name for others. */
function ownerOf(ref: string): string {
  const last = ref.split("/").at(-1) ?? "";
  return (
    last
      .replaceAll(/[^A-Za-z0-9_-]/g, "-")
      .replace(/^[^A-Za-z0-9]+/, "")
      .slice(0, 100) || "ref"
  );
}

/** Folder for temporary files in a control repository. */
export const draftsFolder = "drafts";

interface Opening {
  readonly folder: string;
  /** The repository whose object format a new control repository gets. */
  readonly like: string | undefined;
  readonly ignoreFile: string | undefined;
}

export async function openControl(run: RunGit, { folder, like, ignoreFile }: Opening): Promise<ControlGit> {
  if (!existsSync(folder)) await make(run, folder, like);
  const control = createControlGit(run, folder, ignoreFile);
  const { stdout } = await control.git(["rev-parse", "--is-bare-repository"]);
  if (stdout.toString("utf8").trim() !== "true") {
    throw new Fault("git.not-a-repository", `${folder} is not a control repository.`, {
      hint: "Move it away; the daemon creates a new one from the project's repository.",
    });
  }
  await removeDrafts(join(folder, draftsFolder));
  return control;
}

/** Creates it under another name and renames it, so that a folder with the final name is complete. */
async function make(run: RunGit, folder: string, like: string | undefined): Promise<void> {
  const draft = `${folder}.new`;
  const parent = dirname(folder);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await rm(draft, { recursive: true, force: true });
  const format = like === undefined ? "sha1" : await objectFormat(run, like);
  await run({ folder: parent, configuration: "ours" }, [
    "init",
    "--quiet",
    "--bare",
    // The user's templates may contain hooks.
    "--template=",
    `--object-format=${format}`,
    "--initial-branch=main",
    "--end-of-options",
    draft,
  ]);
  await appendFile(join(draft, "config"), settings);
  await mkdir(join(draft, "info"));
  await writeFile(join(draft, "info", "attributes"), attributes);
  await mkdir(join(draft, draftsFolder));
  for (const name of ["config", "HEAD", "info/attributes"]) await syncFile(join(draft, name));
  for (const name of ["refs", "objects", "info", "."]) await syncFolder(join(draft, name));
  await rename(draft, folder);
  await syncFolder(parent);
}

/** The same as our flags, for a person who runs git here: no hooks run, and nothing is ever pruned. */
const settings = `
[core]
\thooksPath = /dev/null
\tfsync = all
\tlogAllRefUpdates = always
[gc]
\tauto = 0
\tpruneExpire = never
\treflogExpire = never
\treflogExpireUnreachable = never
[maintenance]
\tauto = false
[transfer]
\tfsckObjects = true
[uploadpack]
\tallowAnySHA1InWant = true
`;

/** No conversion of files, whatever the attributes of a branch say. */
const attributes = "* -text -eol -filter -ident -working-tree-encoding\n";

async function objectFormat(run: RunGit, repository: string): Promise<string> {
  const { stdout } = await run({ folder: repository, configuration: "user" }, ["rev-parse", "--show-object-format"]);
  return stdout.toString("utf8").trim();
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Drafts that exist at the start were left by a killed daemon. */
async function removeDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => []))
    await rm(join(folder, name), { recursive: true, force: true });
}

/** Each batch of merges leaves a pack, and git searches all packs for a missing object. */
const maxPacks = 24;
/** In one of the 256 object folders: git estimates the number of loose objects in the same way. */
const maxLoose = 8;
const day = 24 * 60 * 60 * 1000;

const inTurn = createTurns();

export function tidy(control: ControlGit, signal: AbortSignal | undefined): Promise<boolean> {
  return inTurn(control.folder, async () => {
    const packs = join(control.folder, "objects", "pack");
    const names = await namesIn(packs);
    await removeUnfinished(packs, names);
    const loose = await namesIn(join(control.folder, "objects", "17"));
    if (names.filter((name) => name.endsWith(".pack")).length <= maxPacks && loose.length <= maxLoose) return false;
    await bringTogether(control, signal);
    await syncFolder(packs);
    return true;
  });
}

/**
 * Geometric repacking is the only kind that ignores reachability: smaller packs and loose objects become larger packs,
 * and no object is dropped. Old packs are deleted once the new one is complete; a concurrent reader searches again.
 */
async function bringTogether(control: ControlGit, signal: AbortSignal | undefined): Promise<void> {
  await control.git(["repack", "--quiet", "-d", "-n", "--geometric=2", "--no-write-bitmap-index"], {
    // Low priority: other work needs the processors and the memory.
    settings: ["pack.threads=1", "pack.windowMemory=256m"],
    isLong: true,
    writes: true,
    signal,
  });
}

/** Removes temporary packs of killed git processes. No command runs for a day. */
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

const folders = ["tasks", "began", "own", "made", "pushed", "pushing", "kept"].map((name) => `refs/signalbox/${name}/`);

/** Without salvage refs: only a person drops those. */
export async function listTaskRefs(control: ControlGit): Promise<readonly TaskRef[]> {
  const format = "--format=%(objectname) %(refname)";
  const { stdout } = await control.git(["for-each-ref", format, "--end-of-options", ...folders]);
  const lines = stdout.toString("utf8").split("\n");
  return lines.flatMap((line) => {
    const [commit = "", ref = ""] = line.split(" ");
    const [, , , task = ""] = ref.split("/");
    return task === "" ? [] : [{ ref, task, commit }];
  });
}

/** Deletes the refs whose commits are contained in one of `into`. Returns how many. */
export async function dropContainedRefs(
  control: ControlGit,
  refs: readonly TaskRef[],
  into: readonly string[],
): Promise<number> {
  const lines: string[] = [];
  for (const { ref, commit } of refs) {
    if (!folders.some((folder) => checkRef(ref).startsWith(folder))) continue;
    for (const tip of into) {
      if (!(await isAncestor(control, checkCommit(commit), checkCommit(tip)))) continue;
      lines.push(`delete ${ref} ${commit}\n`);
      break;
    }
  }
  if (lines.length === 0) return 0;
  await control.git(["update-ref", "--no-deref", "--stdin"], { input: Buffer.from(lines.join("")), writes: true });
  return lines.length;
}
