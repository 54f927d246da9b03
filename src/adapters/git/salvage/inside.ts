import { readdirSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { Fault } from "../../../fault.ts";
import type { FileName } from "../../../ports/git.ts";
import type { ControlGit } from "../control/control-git.ts";
import { checkWhole } from "../control/fetch-into.ts";
import { entryIfSeen } from "../file-entries.ts";
import { checkCommit, fileName, splitNul } from "../names.ts";
import { findWorkspace, readSome, type Workspace, withObjectsOf } from "../untrusted-folder.ts";
import { fetchInside, type TipsInside, tipsInside } from "./fetch-tips.ts";
import type { IndexEntry } from "./staged.ts";
import { commitTaken, draftOf, isAsCommitted, type SavedInside, takeTree, withDraft } from "./take-files.ts";

/** The salvage of one workspace with its nested repositories. */
interface Session {
  readonly task: string;
  readonly signal: AbortSignal | undefined;
  /** The folders that are removed with the workspace. A repository with its git folder elsewhere keeps its commits. */
  readonly going: readonly string[];
  readonly depth: number;
  /** How many more repositories, and bytes of their objects, may be saved. */
  readonly left: { repositories: number; bytes: number };
}

const maxDepth = 8;

export function beginSession(
  workspace: Workspace,
  { task, signal }: { readonly task: string; readonly signal?: AbortSignal | undefined },
): Session {
  const going = [workspace.folder, ...(workspace.isLinked ? [workspace.gitFolder] : [])].map(realPath);
  return { task, signal, going, depth: 0, left: { repositories: 100, bytes: 256 * 1024 * 1024 } };
}

/**
 * Saves the repositories inside a workspace: commits that none of their remotes has, and uncommitted files. The same
 * repository always becomes the same commit. One that is too large, or that git cannot read, is refused.
 */
export async function salvageInside(
  control: ControlGit,
  workspace: Workspace,
  repositories: readonly FileName[],
  files: readonly Buffer[],
  session: Session,
): Promise<SavedInside> {
  const saved: { path: string; commit: string }[] = [];
  const refused: FileName[] = [];
  const taken = new Set(files.map((path) => path.toString("utf8")));
  const isFree = (name: string) => {
    const place = join(workspace.folder, name);
    const isEmpty = entryIfSeen(place)?.isDirectory()
      ? readdirSync(place).length === 0
      : entryIfSeen(place) === undefined;
    return isEmpty && ![...taken].some((each) => each.startsWith(`${name}/`));
  };
  for (const { path, name, found, isElsewhere } of await placesInside(control, workspace, repositories, files)) {
    if (found === undefined) {
      refused.push(path);
      continue;
    }
    const answer = await salvageOne(control, found, session);
    if (answer.isRefused) refused.push(path);
    if (answer.commit === undefined) continue;
    let free = name;
    // A repository at its own path replaces its submodule entry; any other needs a free name.
    while (isElsewhere && !isFree(free)) free += "~";
    taken.add(`${free}/`);
    saved.push({ path: free, commit: answer.commit });
  }
  return { saved, refused };
}

interface Place {
  readonly path: FileName;
  /** Its path in the saved tree. */
  readonly name: string;
  /** Undefined if it cannot be read. */
  readonly found: Workspace | undefined;
  /** Whether the files at that path are not its own. */
  readonly isElsewhere: boolean;
}

async function placesInside(
  control: ControlGit,
  workspace: Workspace,
  repositories: readonly FileName[],
  files: readonly Buffer[],
): Promise<readonly Place[]> {
  const places: Place[] = [];
  for (const path of repositories) {
    const name = Buffer.from(path.bytes).toString("utf8");
    const folder = join(workspace.folder, name);
    // Something else has replaced the folder, and was saved with the other files.
    if (!isRealFolder(workspace.folder, folder)) continue;
    const isText = Buffer.from(name).equals(Buffer.from(path.bytes));
    const found = isText ? await findWorkspace(control.run, folder, undefined) : undefined;
    places.push({ path, name, found, isElsewhere: false });
  }
  for (const name of trackedRepositories(workspace, files)) {
    const found = await findWorkspace(control.run, join(workspace.folder, name), undefined);
    // Its files are tracked by the workspace, and saved there.
    const alone = found && { ...found, hasFiles: false };
    places.push({ path: fileName(Buffer.from(name)), name: `${name}.repository`, found: alone, isElsewhere: true });
  }
  const known = new Set(places.flatMap(({ found }) => (found === undefined ? [] : [realPath(found.gitFolder)])));
  for (const name of modulesIn(workspace.gitFolder)) {
    const gitFolder = join(workspace.gitFolder, "modules", name);
    if (known.has(realPath(gitFolder))) continue;
    const path = fileName(Buffer.from(name));
    const folder = { folder: gitFolder, gitFolder, commonFolder: gitFolder, isLinked: false, source: gitFolder };
    places.push({ path, name, found: { ...folder, hasFiles: false }, isElsewhere: true });
  }
  return places;
}

/** Folders of tracked files in which a repository was created: git does not report those. */
export function trackedRepositories({ folder, hasFiles }: Workspace, files: readonly Buffer[]): readonly string[] {
  if (!hasFiles) return [];
  const folders = new Set<string>();
  for (const path of files) {
    for (let above = dirname(path.toString("utf8")); above !== "." && !folders.has(above); above = dirname(above))
      folders.add(above);
  }
  return [...folders].filter((name) => {
    const place = join(folder, name);
    return entryIfSeen(join(place, ".git")) !== undefined && isRealFolder(folder, place);
  });
}

export function namesOf(entries: readonly IndexEntry[]): readonly Buffer[] {
  return entries.map(({ path }) => path);
}

/** The submodules in a git folder by name, including those whose working folder is empty again. */
export function modulesIn(gitFolder: string): readonly string[] {
  const modules = join(gitFolder, "modules");
  if (!entryIfSeen(modules)?.isDirectory()) return [];
  const find = (below: string, depth: number): readonly string[] => {
    const place = join(modules, below);
    if (below !== "" && entryIfSeen(join(place, "HEAD"))?.isFile()) return [below];
    if (depth > maxDepth || !entryIfSeen(place)?.isDirectory()) return [];
    return readdirSync(place).flatMap((name) => find(join(below, name), depth + 1));
  };
  return find("", 0).slice(0, 1000);
}

interface Answer {
  readonly commit?: string;
  readonly isRefused: boolean;
}

async function salvageOne(control: ControlGit, found: Workspace, session: Session): Promise<Answer> {
  try {
    return await withDraft(control, found, async (draft): Promise<Answer> => {
      const stays = !session.going.some((folder) => isWithin(folder, realPath(found.commonFolder)));
      const tips = await tipsInside(control, found, stays, session.signal);
      const { head, unsaved } = tips;
      const drafted = await draftOf(control, found, draft, undefined);
      const isPlain =
        modulesIn(found.gitFolder).length + trackedRepositories(found, namesOf(drafted.entries)).length === 0;
      if (unsaved.length === 0 && isPlain && (await hasNothing(control, found, drafted, head)))
        return { isRefused: isUnreadable(found) };
      const { left, depth, task, signal } = session;
      const size = sizeOf(join(found.commonFolder, "objects"), { entries: maxEntries });
      if (left.repositories <= 0 || depth >= maxDepth || size > left.bytes) return { isRefused: true };
      left.repositories -= 1;
      left.bytes -= size;
      const commits = [...new Set([...(head === undefined ? [] : [head]), ...unsaved])];
      await fetchInside(control, found, commits, { task, number: left.repositories, signal });
      const deeper = { ...session, depth: depth + 1 };
      const taken = await takeTree(control, found, drafted, { head, signal }, (repositories, files) =>
        salvageInside(control, found, repositories, files, deeper),
      );
      const isRefused = taken.refused.length > 0 || isUnreadable(found);
      if (!taken.isChanged && unsaved.length === 0) return { isRefused };
      const order = { head, unsaved, message: messageOf(found, tips), staged: "Staged files\n", date: 0 };
      const commit = await commitTaken(control, taken, order);
      await checkWhole(control, [commit]);
      return { commit, isRefused };
    });
  } catch (error) {
    const isFinal = error instanceof Fault && (error.retry === "never" || error.code === "git.timeout");
    if (!isFinal) throw error;
    return { isRefused: true };
  }
}

async function hasNothing(
  control: ControlGit,
  found: Workspace,
  { draft, settings, entries }: Awaited<ReturnType<typeof draftOf>>,
  head: string | undefined,
): Promise<boolean> {
  if (!found.hasFiles) return true;
  if (head === undefined) return entries.length === 0 && readdirSync(found.folder).every((name) => name === ".git");
  return isAsCommitted(control, draft, settings, entries, head, withObjectsOf(found));
}

/** Whether the folder has a `.git` folder that git cannot read as a repository. */
function isUnreadable({ folder, source }: Workspace): boolean {
  return source === undefined && (entryIfSeen(join(folder, ".git"))?.isDirectory() ?? false);
}

/** Notes what the files cannot hold: the checked-out branch, all branches and tags. `restoreInside` reads it. */
function messageOf({ gitFolder }: Workspace, { head, refs }: TipsInside): string {
  const [, branch] = /^ref: (refs\/heads\/.+)$/m.exec(readSome(join(gitFolder, "HEAD"))) ?? [];
  const lines = [
    ...(head === undefined ? [] : [`${head} HEAD`]),
    ...(branch === undefined ? [] : [`HEAD ${branch}`]),
    ...refs.slice(0, maxRefs).map(([name, commit]) => `${commit} ${name}`),
  ];
  return `Salvaged repository\n\n${lines.join("\n")}\n`;
}

const maxRefs = 1000;
const maxEntries = 50_000;

/** The size of a folder in bytes; infinite if it has too many files to count. */
function sizeOf(path: string, count: { entries: number }): number {
  const found = entryIfSeen(path);
  if (found === undefined) return 0;
  count.entries -= 1;
  if (count.entries < 0) return Number.POSITIVE_INFINITY;
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name), count), 0);
}

/** Whether every part of the path below `top` is a folder, not a link. */
function isRealFolder(top: string, folder: string): boolean {
  return (
    entryIfSeen(folder)?.isDirectory() === true && realPath(folder) === join(realPath(top), folder.slice(top.length))
  );
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder + sep);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Checks only submodules that are checked out in the workspace: about others nothing is known here. */
export async function unpushedModules(
  control: ControlGit,
  { folder, from, to }: { readonly folder: string; readonly from: string; readonly to: string },
): Promise<readonly FileName[]> {
  const ids = [checkCommit(from), checkCommit(to)];
  const { stdout } = await control.git(["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", ...ids], {
    isLong: true,
  });
  const found: FileName[] = [];
  const parts = splitNul(stdout);
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [, mode, , id = ""] = parts[at]?.toString("latin1").split(" ") ?? [];
    const path = parts[at + 1];
    if (mode === "160000" && path !== undefined && (await isUnpushed(control, folder, path, id)))
      found.push(fileName(path));
  }
  return found;
}

async function isUnpushed(control: ControlGit, folder: string, path: Buffer, commit: string): Promise<boolean> {
  const place = join(folder, path.toString("utf8"));
  if (!isRealFolder(folder, place)) return false;
  try {
    const module = await findWorkspace(control.run, place, undefined);
    if (module?.source === undefined) return false;
    return (await tipsInside(control, module, false, undefined)).isOwn(commit);
  } catch (error) {
    // Salvage reports a repository that git cannot read; this check leaves it out.
    if (error instanceof Fault) return false;
    throw error;
  }
}
