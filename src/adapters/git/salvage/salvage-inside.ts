import { readdirSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { Fault } from "../../../fault.ts";
import type { FileName } from "../../../ports/git-names.ts";
import type { ControlGit } from "../control/control-git.ts";
import { checkWhole } from "../control/fetch-into.ts";
import { entryAt } from "../entry-at.ts";
import { fileName } from "../file-name.ts";
import type { IndexEntry } from "./draft-index.ts";
import { fetchInside, type TipsInside, tipsInside } from "./fetch-tips.ts";
import { isAsCommitted } from "./is-as-committed.ts";
import { commitTaken, draftOf, type SavedInside, takeTree, withDraft } from "./take-tree.ts";
import { findWorkspace, readSome, type Workspace, withObjectsOf } from "./workspace.ts";

/** The saving of one workspace, with all that is inside of it. */
export interface Session {
  readonly task: string;
  readonly signal: AbortSignal | undefined;
  /** What goes when the workspace goes: whatever has its git folder elsewhere keeps it. */
  readonly going: readonly string[];
  readonly depth: number;
  /** How many more repositories, and how many more bytes of their histories, are taken. */
  readonly left: { repositories: number; bytes: number };
}

const mostDepth = 8;

export function beginSession(
  workspace: Workspace,
  { task, signal }: { readonly task: string; readonly signal?: AbortSignal | undefined },
): Session {
  const going = [workspace.folder, ...(workspace.isLinked ? [workspace.gitFolder] : [])].map(realPath);
  return { task, signal, going, depth: 0, left: { repositories: 100, bytes: 256 * 1024 * 1024 } };
}

/**
 * Saves the repositories inside of a workspace: commits that none of their remotes has, and what is uncommitted there. The
 * same one always becomes the same commit. One that is too large, or that git cannot read, is refused.
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
    const isEmpty = entryAt(place)?.isDirectory() ? readdirSync(place).length === 0 : entryAt(place) === undefined;
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
    // A submodule's own entry is replaced by what is saved of it.
    while (isElsewhere && !isFree(free)) free += "~";
    taken.add(`${free}/`);
    saved.push({ path: free, commit: answer.commit });
  }
  return { saved, refused };
}

interface Place {
  readonly path: FileName;
  /** Where it stands in the tree. */
  readonly name: string;
  /** Undefined where it cannot be looked at. */
  readonly found: Workspace | undefined;
  /** Whether the files at that name are not its own. */
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
    // Something else was put in its place, which was saved as that.
    if (!isRealFolder(workspace.folder, folder)) continue;
    const isText = Buffer.from(name).equals(Buffer.from(path.bytes));
    const found = isText ? await findWorkspace(control.run, folder, undefined) : undefined;
    places.push({ path, name, found, isElsewhere: false });
  }
  for (const name of trackedRepositories(workspace, files)) {
    const found = await findWorkspace(control.run, join(workspace.folder, name), undefined);
    // Its files are those of the workspace.
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

/** Folders of files that somebody has made repositories of: git says nothing about those. */
export function trackedRepositories({ folder, hasFiles }: Workspace, files: readonly Buffer[]): readonly string[] {
  if (!hasFiles) return [];
  const folders = new Set<string>();
  for (const path of files) {
    for (let above = dirname(path.toString("utf8")); above !== "." && !folders.has(above); above = dirname(above))
      folders.add(above);
  }
  return [...folders].filter((name) => {
    const place = join(folder, name);
    return entryAt(join(place, ".git")) !== undefined && isRealFolder(folder, place);
  });
}

export function namesOf(entries: readonly IndexEntry[]): readonly Buffer[] {
  return entries.map(({ path }) => path);
}

/** Submodules that git keeps there, by their names, also where their folders are empty again. */
export function modulesIn(gitFolder: string): readonly string[] {
  const modules = join(gitFolder, "modules");
  if (!entryAt(modules)?.isDirectory()) return [];
  const find = (below: string, depth: number): readonly string[] => {
    const place = join(modules, below);
    if (below !== "" && entryAt(join(place, "HEAD"))?.isFile()) return [below];
    if (depth > mostDepth || !entryAt(place)?.isDirectory()) return [];
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
      const size = sizeOf(join(found.commonFolder, "objects"), { entries: mostEntries });
      if (left.repositories <= 0 || depth >= mostDepth || size > left.bytes) return { isRefused: true };
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

/** Something is there that looks like a repository, and is none that git could read. */
function isUnreadable({ folder, source }: Workspace): boolean {
  return source === undefined && (entryAt(join(folder, ".git"))?.isDirectory() ?? false);
}

/** What the files do not say: which branch was checked out, and where branches and tags were. `restoreInside` reads it. */
function messageOf({ gitFolder }: Workspace, { head, refs }: TipsInside): string {
  const [, branch] = /^ref: (refs\/heads\/.+)$/m.exec(readSome(join(gitFolder, "HEAD"))) ?? [];
  const lines = [
    ...(head === undefined ? [] : [`${head} HEAD`]),
    ...(branch === undefined ? [] : [`HEAD ${branch}`]),
    ...refs.slice(0, mostRefs).map(([name, commit]) => `${commit} ${name}`),
  ];
  return `Salvaged repository\n\n${lines.join("\n")}\n`;
}

const mostRefs = 1000;
const mostEntries = 50_000;

/** Of a folder; infinite where it has too many files to be counted. */
function sizeOf(path: string, count: { entries: number }): number {
  const found = entryAt(path);
  if (found === undefined) return 0;
  count.entries -= 1;
  if (count.entries < 0) return Number.POSITIVE_INFINITY;
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name), count), 0);
}

/** Whether all of the way to it are folders, and no links. */
export function isRealFolder(top: string, folder: string): boolean {
  return entryAt(folder)?.isDirectory() === true && realPath(folder) === join(realPath(top), folder.slice(top.length));
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
