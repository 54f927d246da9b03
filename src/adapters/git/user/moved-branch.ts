import { existsSync, statSync } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { Git, LeftBehind, LookedAtBranch, WhoMoved } from "../../../ports/git.ts";
import { namesIn } from "../file-entries.ts";
import { findFolders, lookForRef, readEntry, readHead, readRef } from "../git-folder.ts";
import { branchRef, isObjectId, splitNul } from "../names.ts";
import type { GitPlace, RunGit } from "../runner.ts";
import { readSome } from "../untrusted-folder.ts";

/**
 * Finds a checkout of the user's whose branch was moved from elsewhere. If another worktree moves a branch, or a
 * command moves only its ref, git writes no entry into the reflog of the checkout that has the branch. This compares
 * the reflogs, and runs git only where they differ. Without reflogs it cannot detect the move.
 */
export function createLeftBehind(run: RunGit): Git["leftBehind"] {
  const compare = createCompare(run);
  return async (repository, branch, workspaces) => {
    const found = await findFolders(await realpath(repository).catch(() => repository));
    if (found === undefined) return undefined;
    const { commonFolder } = found;
    const log = join(commonFolder, "logs", branchRef(branch));
    const isWorkspace = ({ folder }: Checkout) => folder.startsWith(resolve(workspaces) + sep);
    const all = await checkouts(commonFolder);
    for (const checkout of all) {
      if (isWorkspace(checkout)) continue;
      const moved = await moveOf(commonFolder, checkout, branch, log);
      if (moved === undefined || !existsSync(moved.folder)) continue;
      const { after } = moved;
      if (after === undefined) return { ...moved, way: "deleted", branches: [], workspaces: [] };
      const way = await compare(checkout.gitFolder, moved.before, after);
      if (way === "followed") continue;
      return { ...moved, way, ...(await committedIn(commonFolder, all.filter(isWorkspace), branch, after)) };
    }
    return undefined;
  };
}

export async function lookAtBranch(repository: string, branch: string): Promise<LookedAtBranch | undefined> {
  const found = await findFolders(await realpath(repository).catch(() => repository));
  if (found === undefined) return undefined;
  const { commonFolder, gitFolder = commonFolder } = found;
  const { kind } = await lookForRef(commonFolder, branchRef(branch));
  const head = await readHead({ gitFolder, commonFolder });
  return kind === "unknown" ? undefined : { isThere: kind === "there", checkedOut: head?.branch };
}

export async function isAtItsStart(folder: string, branch: string): Promise<boolean> {
  const found = await findFolders(await realpath(folder).catch(() => folder));
  if (found === undefined) return false;
  const { commonFolder, gitFolder = commonFolder } = found;
  const tip = await readRef(commonFolder, branchRef(branch));
  const entries = entriesOf(join(commonFolder, "logs", branchRef(branch)));
  // Our clones begin without a reflog. In a worktree, a missing one means that git keeps none.
  if (tip === undefined || (entries.length === 0 && gitFolder !== commonFolder)) return false;
  // If the branch was created after the commit was made on a detached HEAD, only HEAD's reflog shows the commit.
  const isCommitted = entriesOf(join(gitFolder, "logs", "HEAD")).some((each) => isCommit(each, tip));
  return !isCommitted && entries.every(({ to }) => to === tip);
}

/**
 * When git moves the branch of a checkout, it writes an entry into the reflog of the checkout and into that of the
 * branch, in the same second. If no workspace has such an entry, the move was made in a checkout of the user's, which
 * may have been removed since.
 */
export async function whoMoved(
  repository: string,
  branch: string,
  commit: string,
  workspaces: string,
): Promise<WhoMoved> {
  const found = await findFolders(await realpath(repository).catch(() => repository));
  const nothing = { isUser: false, isOurs: false, isRenamed: false, movers: [], visitors: [] };
  if (found === undefined) return { ...nothing, branches: [], workspaces: [] };
  const { commonFolder } = found;
  const isWorkspace = ({ folder }: Checkout) => folder.startsWith(resolve(workspaces) + sep);
  const all = (await checkouts(commonFolder)).map((each) => ({
    ...each,
    entries: entriesOf(join(each.gitFolder, "logs", "HEAD")),
  }));
  const last = entriesOf(join(commonFolder, "logs", branchRef(branch))).at(-1);
  const moved = last?.to === commit ? last : undefined;
  const inLogs = (isIt: (entry: LogEntry) => boolean) => all.filter(({ entries }) => entries.some(isIt));
  const movers = inLogs((entry) => moved !== undefined && isSameMove(entry, moved, branch));
  const agents = movers.filter(isWorkspace);
  const isInCheckout = moved !== undefined && (inCheckout.test(moved.message) || moved.message === rewritten);
  const goes = inLogs(({ message }) => message.startsWith("checkout: moving ") && message.endsWith(` to ${branch}`));
  return {
    isUser: agents.length === 0 && (movers.length > 0 || isInCheckout),
    isOurs: moved?.message === restoredMessage,
    isRenamed: commit === "" && (await isRenamed(commonFolder, branch)),
    ...(moved === undefined ? {} : { at: moved.at * 1000 }),
    movers: agents.map(({ folder }) => folder),
    visitors: goes.filter(isWorkspace).map(({ folder }) => folder),
    ...(await committedIn(commonFolder, all.filter(isWorkspace), branch, commit)),
  };
}

/** The message in the reflog of a branch that the daemon has restored. */
export const restoredMessage = "branch restored";

/** How git's messages begin if a branch was checked out when it was moved. */
const inCheckout = /^(commit|reset|merge|pull|rebase|cherry-pick|revert|am|checkout)\b/;

/** The message of `git rebase --update-refs` for the other branches that it moves. */
const rewritten = "rewritten during rebase";

/** How many seconds apart the two entries of one move may be. */
const maxApart = 1;

/**
 * Whether entries of HEAD and of a branch are about the same move. The messages of a rebase and of `switch -C` differ.
 */
function isSameMove(head: LogEntry, moved: LogEntry, branch: string): boolean {
  const { message } = head;
  if (head.to !== moved.to) return false;
  if (moved.message === rewritten) return message.startsWith("rebase");
  if (Math.abs(head.at - moved.at) > maxApart) return false;
  return (
    message === moved.message ||
    /\(finish\)|^rebase finished/.test(message) ||
    (message.startsWith("checkout: moving ") && message.endsWith(` to ${branch}`))
  );
}

/** Whether a branch that is gone has another name now. */
async function isRenamed(commonFolder: string, branch: string): Promise<boolean> {
  const heads = join(commonFolder, "logs", "refs", "heads");
  const start = `Branch: renamed ${branchRef(branch)} to `;
  const files = await readdir(heads, { recursive: true }).catch(() => []);
  return files.some((name) => entriesOf(join(heads, name)).some(({ message }) => message.startsWith(start)));
}

/** A checkout that has the files of a branch, so that the branch cannot be moved without them; undefined if there is none. */
export async function checkoutOf(repository: string, branch: string, commit: string): Promise<string | undefined> {
  const found = await findFolders(await realpath(repository).catch(() => repository));
  if (found === undefined) return undefined;
  for (const { folder, gitFolder } of await checkouts(found.commonFolder)) {
    const head = await readHead({ gitFolder, commonFolder: found.commonFolder });
    // A checkout that was left behind has the files of the commit that the branch had before.
    if (head?.branch === branch && existsSync(folder) && lastIn(join(gitFolder, "logs", "HEAD")) !== commit)
      return folder;
  }
  return undefined;
}

interface Checkout {
  readonly folder: string;
  readonly gitFolder: string;
}

async function checkouts(commonFolder: string): Promise<readonly Checkout[]> {
  const main = basename(commonFolder) === ".git" ? [{ folder: dirname(commonFolder), gitFolder: commonFolder }] : [];
  const names = await namesIn(join(commonFolder, "worktrees"));
  const entries = await Promise.all(names.map((name) => readEntry(commonFolder, name)));
  return [...main, ...entries.flatMap((entry) => (entry ? [{ folder: entry.folder, gitFolder: entry.path }] : []))];
}

type Moved = Pick<LeftBehind, "folder" | "before" | "after">;

async function moveOf(
  commonFolder: string,
  { folder, gitFolder }: Checkout,
  branch: string,
  log: string,
): Promise<Moved | undefined> {
  const head = await readHead({ gitFolder, commonFolder });
  if (head?.branch !== branch) return undefined;
  const before = lastIn(join(gitFolder, "logs", "HEAD"));
  const after = head.commit;
  if (before === undefined || before === after || /^0+$/.test(before)) return undefined;
  if (after !== undefined) return lastIn(log) === after ? { folder, before, after } : undefined;
  const isDeleted = (await lookForRef(commonFolder, branchRef(branch))).kind === "absent";
  return isDeleted ? { folder, before, after } : undefined;
}

type Compared = LeftBehind["way"] | "followed";

/**
 * Caches the last answer until the index of the checkout changes, because the daemon keeps asking about a moved branch.
 */
function createCompare(run: RunGit): (gitFolder: string, before: string, after: string) => Promise<Compared> {
  const known = new Map<string, { readonly of: string; readonly compared: Compared }>();
  return async (gitFolder, before, after) => {
    const { ino, mtimeNs } = statSync(join(gitFolder, "index"), { bigint: true, throwIfNoEntry: false }) ?? {};
    const of = [before, after, ino, mtimeNs].join(" ");
    const last = known.get(gitFolder);
    if (last?.of === of) return last.compared;
    const place = { folder: gitFolder, gitDir: gitFolder, configuration: "ours" } as const;
    const isFollowed = await hasFollowed(run, place, before, after);
    const compared = isFollowed ? "followed" : await wayOf(run, place, before, after);
    known.set(gitFolder, { of, compared });
    return compared;
  };
}

/**
 * Whether the checkout has the files of the new commit although its reflog lacks the move: a person may have updated
 * the index without an entry, and git writes the two entries one after the other. Compares the index, not the files.
 */
async function hasFollowed(run: RunGit, place: GitPlace, before: string, after: string): Promise<boolean> {
  const flags = ["-z", "--name-only", "--no-renames", "--ignore-submodules=all"];
  const ask = async (args: readonly string[]) => {
    const { code, stdout } = await run(place, args, { accepts: [0, 128], isLong: true });
    return code === 0 ? splitNul(stdout).map((path) => path.toString("latin1")) : undefined;
  };
  const changed = await ask(["diff-tree", "-r", ...flags, "--end-of-options", before, after]);
  // Where one of the commits is gone, nothing can be compared.
  if (changed === undefined) return true;
  const unlike = new Set(await ask(["diff-index", "--cached", ...flags, "--end-of-options", after]));
  return !changed.some((path) => unlike.has(path));
}

async function wayOf(run: RunGit, place: GitPlace, before: string, after: string): Promise<LeftBehind["way"]> {
  const contains = async (ancestor: string, commit: string) => {
    const args = ["merge-base", "--is-ancestor", "--end-of-options", ancestor, commit];
    return (await run(place, args, { accepts: [0, 1] })).code === 0;
  };
  if (await contains(before, after)) return "forward";
  return (await contains(after, before)) ? "back" : "apart";
}

/** Whether a remote-tracking branch of the repository contains a commit; false if that cannot be found out. */
export function createIsInRemote(run: RunGit): Git["isInRemote"] {
  return async (repository, commit) => {
    const found = await findFolders(await realpath(repository).catch(() => repository));
    if (found === undefined) return false;
    const place = { folder: found.commonFolder, gitDir: found.commonFolder, configuration: "ours" } as const;
    const args = ["for-each-ref", "--count=1", `--contains=${commit}`, "--end-of-options", "refs/remotes"];
    // 128, 129: the repository does not have the commit.
    const { code, stdout } = await run(place, args, { accepts: [0, 128, 129], isLong: true });
    return code === 0 && stdout.length > 0;
  };
}

/**
 * The branches and workspaces in which a commit was made, by their reflogs. A branch that only starts there does not
 * count.
 */
async function committedIn(
  commonFolder: string,
  workspaces: readonly Checkout[],
  moved: string,
  commit: string,
): Promise<Pick<LeftBehind, "branches" | "workspaces">> {
  const heads = join(commonFolder, "logs", "refs", "heads");
  const isMade = (log: string) => entriesOf(log).some((entry) => isCommit(entry, commit));
  const files = await readdir(heads, { recursive: true }).catch(() => []);
  return {
    branches: files.filter((name) => name !== moved && isMade(join(heads, name))),
    workspaces: workspaces.flatMap(({ folder, gitFolder }) =>
      isMade(join(gitFolder, "logs", "HEAD")) ? [folder] : [],
    ),
  };
}

/** Whether an entry says that a commit was made, and not only moved to. */
function isCommit({ to, message }: LogEntry, commit: string): boolean {
  return to === commit && /^(commit|merge|pull|rebase|cherry-pick|revert|am)\b/.test(message);
}

interface LogEntry {
  readonly to: string;
  /** Seconds since 1970. */
  readonly at: number;
  readonly message: string;
}

/** The oldest first. */
function entriesOf(log: string): readonly LogEntry[] {
  return readSome(log).split("\n").flatMap(readEntryLine);
}

/** The commit that the last entry of a log leads to. */
function lastIn(log: string): string | undefined {
  const text = readSome(log).trimEnd();
  return readEntryLine(text.slice(text.lastIndexOf("\n") + 1))[0]?.to;
}

/** OLD NEW NAME <EMAIL> TIME ZONE, a tab, and what was done. */
function readEntryLine(line: string): readonly LogEntry[] {
  const [, to = ""] = line.split(" ", 2);
  const [, at = "0"] = /> (\d+) [+-]\d{4}(?:\t|$)/.exec(line) ?? [];
  return isObjectId(to) ? [{ to, at: Number(at), message: line.slice(line.indexOf("\t") + 1) }] : [];
}
