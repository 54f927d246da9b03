import { join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { ControlGit } from "../control/control-git.ts";
import { checkWhole, fetchInto } from "../control/fetch-into.ts";
import { knownCommits, noteReached } from "../control/history.ts";
import { entryIfSeen } from "../file-entries.ts";
import { readHead } from "../git-folder.ts";
import { isObjectId } from "../names.ts";
import { distrust, readSome, type Workspace, withObjectsOf } from "../untrusted-folder.ts";

interface Tips {
  /** Undefined if there is no commit yet. */
  readonly head: string | undefined;
  /** Commits that no ref of the control repository reached, without those that another of them contains. */
  readonly unsaved: readonly string[];
}

/** Fetches every commit that only the workspace may have. */
export async function fetchTips(
  control: ControlGit,
  workspace: Workspace,
  task: string,
  signal: AbortSignal | undefined,
): Promise<Tips> {
  const { head, others } = await refsOf(control, workspace, signal);
  const sure = [...(head === undefined ? [] : [head]), ...others, ...leftByOperations(workspace)];
  const { reached } = knownCommits(control);
  const asked = [...sure, ...fromLogs(workspace)].filter((id) => !reached.has(id));
  const known = await existing(control, workspace, asked);
  const commits = sure.flatMap((id) => known.get(id) ?? []);
  let lookedAt: readonly string[] = [...known.values()];
  const tips = await unsaved(control, workspace, lookedAt).catch((error) => {
    // A reflog may name commits whose parents git has pruned; they cannot be saved. A killed process proves nothing.
    const isBroken = error instanceof Fault && error.retry === "never";
    if (!isBroken) throw error;
    lookedAt = commits;
    return unsaved(control, workspace, lookedAt);
  });
  if (tips.length === 0) noteReached(control, lookedAt);
  if (tips.length > 0) {
    await fetchInto(control, {
      from: workspace.source ?? workspace.folder,
      refspecs: tips.map((commit, index) => `+${commit}:${incomingTips(task)}/${index}`),
      prunes: false,
      signal,
    });
    await checkWhole(control, tips);
  }
  const isThere = head !== undefined && (reached.has(head) || commits.includes(head));
  return { head: isThere ? head : undefined, unsaved: tips };
}

export interface TipsInside {
  readonly head: string | undefined;
  /** Branches and tags, in the order of their names. */
  readonly refs: readonly (readonly [name: string, commit: string])[];
  /** Whether the repository has this commit and none of its remotes does. */
  isOwn(commit: string): Promise<boolean>;
  /** Commits that would be lost with the repository, without those that another contains; always in the same order. */
  readonly unsaved: readonly string[];
}

/**
 * The commits that only a repository inside a workspace may have: all that its remote-tracking branches do not contain.
 * If its git folder `stays`, only commits that none of its refs reaches. What the control repository has does not
 * matter, so that the same repository always gives the same answer.
 */
export async function tipsInside(
  control: ControlGit,
  workspace: Workspace,
  stays: boolean,
  signal: AbortSignal | undefined,
): Promise<TipsInside> {
  if (workspace.source === undefined) return { head: undefined, refs: [], unsaved: [], isOwn: async () => false };
  const listed = await advertised(control, workspace.folder, workspace.source, signal);
  const isKept = (name: string) => name !== "HEAD" && (stays || name.startsWith("refs/remotes/"));
  const head = listed.find(([name]) => name === "HEAD")?.[1];
  const own = listed.filter(([name]) => !isKept(name)).map(([, id]) => id);
  const sure = [...own, ...leftByOperations(workspace)];
  const known = await existing(control, workspace, [...sure, ...fromLogs(workspace), ...listed.map(([, id]) => id)]);
  const commitsOf = (ids: readonly string[]) => ids.flatMap((id) => known.get(id) ?? []);
  const kept = commitsOf(listed.filter(([name]) => isKept(name)).map(([, id]) => id));
  const tips = await unsaved(control, workspace, known.values(), kept).catch((error) => {
    if (!(error instanceof Fault) || error.retry !== "never") throw error;
    return unsaved(control, workspace, commitsOf(sure), kept);
  });
  const refs = listed.flatMap(([name, id]): [string, string][] => {
    const commit = /^refs\/(heads|tags)\/[^^]+$/.test(name) ? known.get(id) : undefined;
    return commit === undefined ? [] : [[name, commit]];
  });
  const isOwn = async (commit: string) =>
    (await existing(control, workspace, [commit])).has(commit) &&
    (await unsaved(control, workspace, [commit], kept)).length > 0;
  return { head: head && known.get(head), refs, unsaved: [...tips].sort(), isOwn };
}

/** Fetches commits of a repository inside a workspace, with all they need. `number` is unique within the workspace. */
export async function fetchInside(
  control: ControlGit,
  { source, folder }: Workspace,
  commits: readonly string[],
  {
    task,
    number,
    signal,
  }: { readonly task: string; readonly number: number; readonly signal: AbortSignal | undefined },
): Promise<void> {
  if (commits.length === 0) return;
  const refspecs = commits.map((commit, index) => `+${commit}:${incomingTips(task)}/inside-${number}-${index}`);
  await fetchInto(control, { from: source ?? folder, refspecs, prunes: false, signal });
  await checkWhole(control, commits);
}

/** Temporary refs for commits until a salvage commit contains them. */
function incomingTips(task: string): string {
  return `refs/signalbox/incoming/salvage/${task}`;
}

export async function forgetTips(control: ControlGit, task: string): Promise<void> {
  if (hasNone(control, incomingTips(task))) return;
  const { stdout } = await control.git(["for-each-ref", "--format=delete %(refname)", incomingTips(task)]);
  if (stdout.length > 0) await control.git(["update-ref", "--no-deref", "--stdin"], { input: stdout, writes: true });
}

/** Whether the files prove that there is no such ref, which is the usual case and saves starting git. */
function hasNone({ folder }: ControlGit, refs: string): boolean {
  if (entryIfSeen(join(folder, "reftable")) !== undefined || entryIfSeen(join(folder, refs)) !== undefined)
    return false;
  const packed = entryIfSeen(join(folder, "packed-refs"));
  return (
    packed === undefined || (packed.size <= maxPackedRead && !readSome(join(folder, "packed-refs")).includes(refs))
  );
}

const maxPackedRead = 1024 * 1024;

/** For a worktree HEAD only: its branches belong to the repository, and stay when the worktree is removed. */
async function refsOf(
  control: ControlGit,
  { folder, gitFolder, commonFolder, source, isLinked }: Workspace,
  signal: AbortSignal | undefined,
): Promise<{ readonly head: string | undefined; readonly others: readonly string[] }> {
  if (source === undefined) return { head: undefined, others: [] };
  const head = isLinked ? (await readHead({ gitFolder, commonFolder }))?.commit : undefined;
  if (head !== undefined) return { head, others: [] };
  const refs = await advertised(control, folder, source, signal);
  const others = isLinked ? [] : refs.map(([, id]) => id);
  return { head: refs.find(([name]) => name === "HEAD")?.[1], others };
}

/** The refs that a repository advertises. */
async function advertised(
  control: ControlGit,
  folder: string,
  source: string,
  signal: AbortSignal | undefined,
): Promise<readonly (readonly [name: string, id: string])[]> {
  const { stdout } = await control.git(["ls-remote", "--end-of-options", source], {
    protocols: ["file"],
    about: folder,
    signal,
  });
  const lines = stdout.toString("utf8").split("\n");
  return lines.flatMap((line): [string, string][] => {
    const [id = "", name = ""] = line.split("\t");
    return isObjectId(id) ? [[name, id]] : [];
  });
}

/** A merge, rebase or the like that is under way may hold the only reference to a commit. */
function leftByOperations({ gitFolder }: Workspace): readonly string[] {
  return places.flatMap((place) => readSome(join(gitFolder, place)).split(/\s+/).filter(isObjectId));
}

const places = [
  "MERGE_HEAD",
  "MERGE_AUTOSTASH",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "REBASE_HEAD",
  ...["rebase-merge", "rebase-apply"].flatMap((folder) =>
    ["orig-head", "onto", "autostash", "stopped-sha", "amend"].map((file) => `${folder}/${file}`),
  ),
];

const maxEntries = 1000;

/**
 * Commits from HEAD's reflog, so that amended and reset commits are not lost, and the stashes. Worktrees share their
 * stashes, which stay when a worktree is removed; the stashes of its own branch are saved all the same.
 */
function fromLogs({ gitFolder, commonFolder, isLinked }: Workspace): readonly string[] {
  const heads = readSome(join(gitFolder, "logs", "HEAD"))
    .split("\n")
    .slice(-maxEntries);
  const stashes = readSome(join(commonFolder, "logs", "refs", "stash"))
    .split("\n")
    .slice(-maxEntries);
  const [, branch = "(no branch)"] = /^ref: refs\/heads\/(.+)$/m.exec(readSome(join(gitFolder, "HEAD"))) ?? [];
  const isOwn = (line: string) => ["WIP on", "On"].some((words) => line.includes(`\t${words} ${branch}: `));
  const own = stashes.filter((line) => !isLinked || isOwn(line)).map((line) => line.split(" ")[1] ?? "");
  // Each line begins with where HEAD was and where it went.
  const ids = [...heads.flatMap((line) => line.split(" ", 2)), ...own, readSome(join(gitFolder, "ORIG_HEAD")).trim()];
  return ids.filter((id) => isObjectId(id) && !/^0+$/.test(id));
}

/** Peels ids to commits, and drops those that do not exist: a reflog may name objects that git pruned long ago. */
async function existing(
  control: ControlGit,
  workspace: Workspace,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const { stdout } = await control.git(["cat-file", "--batch-check=%(objectname) %(rest)"], {
    input: Buffer.from([...new Set(ids)].map((id) => `${id}^{commit} ${id}\n`).join("")),
    env: withObjectsOf(workspace),
    settings: distrust,
  });
  const lines = stdout.toString("latin1").split("\n");
  const pairs = lines.map((line) => line.split(" ")).filter((words) => words.every(isObjectId));
  return new Map(pairs.map(([commit = "", id = ""]) => [id, commit]));
}

/** The commits that no ref of ours reaches (or, if given, none of `kept`), without those that another contains. */
async function unsaved(
  control: ControlGit,
  workspace: Workspace,
  commits: Iterable<string>,
  kept?: readonly string[],
): Promise<readonly string[]> {
  const asked = [...new Set(commits)];
  if (asked.length === 0) return [];
  const ours = ["--not", "--exclude=refs/signalbox/incoming/*", "--all"];
  const input = [...asked, ...(kept ?? []).map((commit) => `^${commit}`)];
  const { stdout } = await control.git(["rev-list", "--parents", "--stdin", ...(kept === undefined ? ours : [])], {
    input: Buffer.from(input.map((line) => `${line}\n`).join("")),
    env: withObjectsOf(workspace),
    settings: distrust,
    isLong: true,
  });
  const lines = stdout
    .toString("latin1")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split(" "));
  const parents = new Set(lines.flatMap(([, ...ids]) => ids));
  return lines.map(([id = ""]) => id).filter((id) => !parents.has(id));
}
