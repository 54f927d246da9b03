import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createMemo } from "../../../keyed.ts";
import type { IgnoredFile } from "../../../ports/control-repository.ts";
import type { FileName } from "../../../ports/git.ts";
import { draftsFolder } from "../control/control.ts";
import type { ControlGit } from "../control/control-git.ts";
import { treeOf } from "../control/history.ts";
import { commitTree } from "../control/merge.ts";
import { entryIfSeen } from "../file-entries.ts";
import { fileName, joinNul, splitNul } from "../names.ts";
import type { GitPlace } from "../runner.ts";
import { distrust, readSome, type Workspace } from "../untrusted-folder.ts";
import { copyStaged, draftIndex, hasMore, type IndexEntry, stagedTree } from "./staged.ts";

interface TakenFiles {
  /** The folders of nested repositories. */
  readonly repositories: readonly FileName[];
  readonly refused: readonly FileName[];
}

/** Adds every file that is not ignored to the draft's index, byte for byte. */
export async function takeFiles(
  control: ControlGit,
  draft: GitPlace,
  settings: readonly string[],
  entries: readonly IndexEntry[],
  signal: AbortSignal | undefined,
): Promise<TakenFiles> {
  const { paths: others } = await list(control, draft, settings, ["--others"]);
  const inside = [
    ...entries.filter(({ mode }) => mode === "160000").map(({ path }) => path),
    ...others.filter(isFolder).map((path) => path.subarray(0, -1)),
  ];
  // To check a nested repository for changes, git would run another git process there, with that repository's settings.
  const excluded = inside.map((path) => Buffer.concat([Buffer.from(":(top,exclude,literal)"), path]));
  await control.run(draft, ["add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul"], {
    // 1: some files could not be read.
    accepts: [0, 1],
    input: joinNul([":(top)", ...excluded]),
    settings,
    isLong: true,
    writes: true,
    signal,
  });
  const { paths: left, unopened } = await list(control, draft, settings, ["--others", "--modified"]);
  const keys = new Set(inside.map((path) => path.toString("latin1")));
  const refused = left.filter((path) => !isFolder(path) && !keys.has(path.toString("latin1")));
  return { repositories: inside.map(fileName), refused: [...refused, ...unopened].map(fileName) };
}

/**
 * The folders that git could not open, such as one whose path is longer than the system allows: git warns about each, and
 * lists nothing in it. It cuts the names of very long ones.
 */
function unopenedIn(stderr: string): readonly Buffer[] {
  return [...stderr.matchAll(/^warning: could not open directory '(.*)$/gm)].map(([, rest = ""]) => {
    const [, path = rest] = /^(.*?)\/?': [^']*$/.exec(rest) ?? [];
    return Buffer.from(path);
  });
}

/**
 * The settings of the workspace that matter for its files and cannot run a command: the file system's abilities, and
 * which files are ignored.
 */
export async function fileSettings(
  control: ControlGit,
  workspace: Workspace,
  draft: GitPlace & { readonly gitDir: string },
): Promise<readonly string[]> {
  const ignored = join(draft.gitDir, "ignored");
  const own = await userIgnoreFile(control);
  const everywhere = own === undefined ? "" : await readFile(own, "utf8").catch(() => "");
  // The repository's own list comes last and wins, as in git.
  await writeFile(ignored, `${everywhere}\n${readSome(join(workspace.commonFolder, "info", "exclude"))}`);
  const text = readSome(join(workspace.commonFolder, "config"));
  const kept = await abilities.get(`${control.folder} ${text}`, async () => {
    const config = join(draft.gitDir, "workspace-config");
    await writeFile(config, text);
    const { code, stdout } = await control.git(
      [
        "config",
        "--file",
        config,
        "--no-includes",
        "--type=bool",
        "-z",
        "--get-regexp",
        "^core\\.(filemode|symlinks)$",
      ],
      { accepts: [0, 1, 3, 128] },
    );
    return code === 0 ? splitNul(stdout).map((part) => part.toString("latin1").replace("\n", "=")) : [];
  });
  return [...kept, `core.excludesFile=${ignored}`, "core.untrackedCache=false"];
}

/** Cached by the text of the configuration. */
const abilities = createMemo<readonly string[]>();

async function userIgnoreFile({ git, ignoreFile }: ControlGit): Promise<string | undefined> {
  const { code, stdout } = await git(["config", "--type=path", "--get", "core.excludesFile"], {
    accepts: [0, 1],
    configuration: "user",
  });
  return code === 0 ? stdout.toString("utf8").replace(/\n$/, "") : ignoreFile;
}

async function list(
  control: ControlGit,
  draft: GitPlace,
  settings: readonly string[],
  which: readonly string[],
): Promise<{ readonly paths: readonly Buffer[]; readonly unopened: readonly Buffer[] }> {
  const { stdout, stderr } = await control.run(draft, ["ls-files", ...which, "--exclude-standard", "-z"], {
    settings,
    isLong: true,
  });
  return { paths: splitNul(stdout), unopened: unopenedIn(stderr) };
}

/** Git lists an untracked repository as one folder. */
function isFolder(path: Buffer): boolean {
  return path.at(-1) === 0x2f;
}

/** Dependencies and build results can have hundreds of thousands of files; an approximate size is enough. */
const maxCounted = 50_000;

export async function ignoredFiles(
  control: ControlGit,
  draft: GitPlace,
  settings: readonly string[],
): Promise<readonly IgnoredFile[]> {
  const { stdout } = await control.run(
    draft,
    ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"],
    { settings, isLong: true },
  );
  const count = { left: maxCounted };
  return splitNul(stdout).map((path) => {
    const isFolder = path.at(-1) === 0x2f;
    const bytes = isFolder ? path.subarray(0, -1) : path;
    return {
      path: fileName(bytes),
      isFolder,
      size: sizeOf(Buffer.concat([Buffer.from(`${draft.folder}/`), bytes]), count),
    };
  });
}

function sizeOf(path: Buffer, count: { left: number }): number {
  count.left -= 1;
  const found = count.left < 0 ? undefined : entryIfSeen(path);
  if (found === undefined) return 0;
  if (!found.isDirectory()) return found.size;
  return namesIn(path).reduce((sum, name) => sum + sizeOf(Buffer.concat([path, Buffer.from("/"), name]), count), 0);
}

function namesIn(folder: Buffer): readonly Buffer[] {
  try {
    return readdirSync(folder, { encoding: "buffer" });
  } catch {
    return [];
  }
}

/** A working copy of the control repository over a workspace's files, with an index of its own. */
interface Draft extends GitPlace {
  readonly gitDir: string;
}

/** Git never runs with the workspace's own configuration. The draft is deleted afterwards. */
export async function withDraft<T>(
  control: ControlGit,
  { folder, hasFiles }: Workspace,
  use: (draft: Draft) => Promise<T>,
): Promise<T> {
  const drafts = join(control.folder, draftsFolder);
  await mkdir(drafts, { recursive: true });
  const gitDir = await mkdtemp(join(drafts, "salvage-"));
  try {
    await writeFile(join(gitDir, "HEAD"), unborn);
    await writeFile(join(gitDir, "commondir"), `${control.folder}\n`);
    const place = hasFiles ? folder : await emptyFolder(gitDir);
    return await use({ folder: place, gitDir, workTree: place, configuration: "ours" });
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

async function emptyFolder(gitDir: string): Promise<string> {
  const folder = join(gitDir, "empty");
  await mkdir(folder);
  return folder;
}

interface Drafted {
  readonly draft: Draft;
  readonly settings: readonly string[];
  readonly entries: readonly IndexEntry[];
}

export async function draftOf(
  control: ControlGit,
  workspace: Workspace,
  draft: Draft,
  head: string | undefined,
): Promise<Drafted> {
  const settings = await fileSettings(control, workspace, draft);
  return { draft, settings, entries: await draftIndex(control, workspace, draft, head) };
}

export interface Taken {
  readonly tree: string;
  /** The tree of the staged files, if it has content that is nowhere else. */
  readonly staged: string | undefined;
  /** Whether anything differs from the checked-out commit. */
  readonly isChanged: boolean;
  /** Every nested repository. */
  readonly repositories: readonly FileName[];
  /** The commits of those that had to be saved; the tree has them in place of the repositories. */
  readonly inside: readonly string[];
  readonly refused: readonly FileName[];
}

export interface SavedInside {
  /** The path of each repository, and the commit that it was saved as. */
  readonly saved: readonly { readonly path: string; readonly commit: string }[];
  /** Repositories of which something could not be saved. */
  readonly refused: readonly FileName[];
}

/** Writes the files of a workspace, and the repositories that `takeInside` saved, into the control repository. */
export async function takeTree(
  control: ControlGit,
  workspace: Workspace,
  { draft, settings, entries }: Drafted,
  { head, signal }: { readonly head: string | undefined; readonly signal: AbortSignal | undefined },
  takeInside: (repositories: readonly FileName[], files: readonly Buffer[]) => Promise<SavedInside>,
): Promise<Taken> {
  await copyStaged(control, workspace, draft, entries);
  const staged = await stagedTree(control, draft, entries);
  const before = await treeAt(control, head);
  // If the whole folder is gone, its files do not count as deleted.
  const taken = workspace.hasFiles ? await takeFiles(control, draft, settings, entries, signal) : nothing;
  const files = workspace.hasFiles ? await writeTree(control, draft) : (staged ?? before);
  const inside = await takeInside(taken.repositories, await namesOf(control, draft));
  const tree = inside.saved.length === 0 ? files : await treeWith(control, draft, files, inside.saved);
  const differs = staged !== undefined && staged !== before && staged !== files;
  // During a merge the two always differ; then only staged content that is nowhere else counts.
  const isConflict = entries.some(({ stage }) => stage !== "0");
  const isStagedOnly = differs && (!isConflict || (await hasMore(control, staged, [before, files])));
  return {
    tree,
    staged: isStagedOnly ? staged : undefined,
    isChanged: tree !== before || isStagedOnly,
    repositories: taken.repositories,
    inside: inside.saved.map(({ commit }) => commit),
    refused: [...taken.refused, ...inside.refused],
  };
}

async function namesOf(control: ControlGit, draft: Draft): Promise<readonly Buffer[]> {
  return splitNul((await control.run(draft, ["ls-files", "-z"], { isLong: true })).stdout);
}

const nothing = { repositories: [], refused: [] } as const;

/** A nested repository becomes a submodule entry in the tree. */
async function treeWith(
  control: ControlGit,
  draft: Draft,
  tree: string,
  inside: SavedInside["saved"],
): Promise<string> {
  const env = { GIT_INDEX_FILE: join(draft.gitDir, "inside-index") };
  await control.run(draft, ["read-tree", "--end-of-options", tree], { env, writes: true });
  const input = joinNul(inside.map(({ path, commit }) => `160000 ${commit} 0\t${path}`));
  await control.run(draft, ["update-index", "-z", "--index-info"], { env, input, writes: true });
  return writeTree(control, draft, env);
}

const author = { name: "Signalbox", email: "signalbox@localhost" };

/** Makes one commit from which everything that was saved is reachable. */
export async function commitTaken(
  control: ControlGit,
  { tree, staged, inside }: Taken,
  order: {
    readonly head: string | undefined;
    readonly unsaved: readonly string[];
    readonly message: string;
    readonly staged: string;
    readonly date: number;
  },
): Promise<string> {
  const { head, unsaved, message, date } = order;
  const first = head === undefined ? [] : [head];
  const make = (of: string, parents: readonly string[], text: string) =>
    commitTree(control, { tree: of, parents, message: text, author, date });
  const index = staged === undefined ? [] : [await make(staged, first, order.staged)];
  return make(tree, [...new Set([...first, ...index, ...unsaved, ...inside])], message);
}

async function treeAt(control: ControlGit, head: string | undefined): Promise<string> {
  return head === undefined ? emptyTree(control) : treeOf(control, head);
}

export async function writeTree(
  control: ControlGit,
  draft: GitPlace,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { stdout } = await control.run(draft, ["write-tree"], { env, writes: true });
  return stdout.toString("latin1").trim();
}

export async function emptyTree(control: ControlGit): Promise<string> {
  const { stdout } = await control.git(["hash-object", "-w", "-t", "tree", "--stdin"], { writes: true });
  return stdout.toString("latin1").trim();
}

/**
 * Whether files and index equal a commit, as they usually do when an agent ends. This takes one git process, a salvage
 * takes six. False also if `git status` cannot tell for sure: then everything is read.
 */
export async function isAsCommitted(
  control: ControlGit,
  draft: GitPlace & { readonly gitDir: string },
  settings: readonly string[],
  entries: readonly IndexEntry[],
  commit: string,
  /** Names further places for the commit's objects. */
  env: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const isPlain = entries.every(({ stage, mode, tag }) => stage === "0" && mode !== "160000" && tag === "H");
  if (!isPlain) return false;
  await writeFile(join(draft.gitDir, "HEAD"), `${commit}\n`);
  const { code, stdout, stderr } = await control.run(
    draft,
    ["status", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules=none"],
    { accepts: [0, 128], env, settings: [...settings, ...distrust], isLong: true },
  );
  await writeFile(join(draft.gitDir, "HEAD"), unborn);
  return code === 0 && stdout.length === 0 && unopenedIn(stderr).length === 0;
}

/** A draft's HEAD has no commit. */
const unborn = "ref: refs/heads/none\n";
