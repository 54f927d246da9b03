import { mkdir, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { writeWhole } from "../../../durable-file.ts";
import { Fault } from "../../../fault.ts";
import { entryAt, namesIn } from "../file-entries.ts";
import {
  findEntry,
  livingGit,
  namelessEntries,
  readEntry,
  readHead,
  readRef,
  readSmall,
  type UserRepository,
  type WorktreeEntry,
} from "../git-folder.ts";
import { branchRef, noCommit } from "../names.ts";
import type { Files } from "./changes.ts";
import { addExclude, headText, installIndex, removeExclude, writeHead } from "./git-files.ts";
import { branchUse, checkThere } from "./inspect.ts";
import type { Found, Mechanics, Settled, Settling } from "./mechanics.ts";
import type { Heap } from "./trash.ts";
import type { Workshop, WorkspaceRecord } from "./workshop.ts";

/** Settings files of a single worktree. Git reads them if the repository's configuration enables that. */
const obeyedFiles = ["config.worktree", "info/sparse-checkout"];

async function findWorktree(
  { commonFolder }: UserRepository,
  folder: string,
  record: WorkspaceRecord | undefined,
): Promise<Found> {
  const found = entryAt(folder);
  if (found !== undefined && !found.isDirectory()) return { kind: "foreign", reason: "It is not a folder." };
  const entry = await findEntry(commonFolder, folder, record?.entry);
  const folders = entry && { gitFolder: entry.path, commonFolder };
  if (found === undefined) return { kind: "nothing", folders };
  const [, named] = /^gitdir: ([\s\S]+?)\n*$/.exec((await readSmall(join(folder, ".git"))) ?? "") ?? [];
  const leads = named && resolve(folder, named);
  if (entry !== undefined) {
    const flaw = await flawOf(entry, record, leads === entry.path);
    const isHalfMade = entry.lock === "initializing";
    return { kind: "ours", folders, flaw, isLocked: entry.lock !== undefined && !isHalfMade, isHalfMade };
  }
  if ((await namesIn(folder)).length === 0) return { kind: "nothing", folders };
  const moved = await movedEntry(commonFolder, leads);
  if (moved !== undefined) {
    const gitFolder = moved.path;
    const flaw = `It was moved here from ${moved.folder}.`;
    return { kind: "ours", folders: { gitFolder, commonFolder }, flaw, isLocked: false, isHalfMade: false };
  }
  if (record === undefined) return { kind: "foreign", reason: "It is not a worktree of this repository." };
  const flaw = "The repository has no record of this worktree.";
  return { kind: "ours", folders, flaw, isLocked: false, isHalfMade: false };
}

async function flawOf(
  entry: WorktreeEntry,
  record: WorkspaceRecord | undefined,
  isConnected: boolean,
): Promise<string | undefined> {
  if (entry.lock === "initializing") return "Its creation was interrupted.";
  if (!isConnected) return "Its file .git does not lead to the repository.";
  if ((await readSmall(join(entry.path, "commondir")))?.trim() !== "../..") return "It leads to another repository.";
  for (const name of record?.obeyed === undefined ? [] : obeyedFiles) {
    if ((await readSmall(join(entry.path, name))) !== record?.obeyed?.[name]) return `Its file ${name} was changed.`;
  }
  return undefined;
}

/** The record that a moved folder leads to. If the folder that the record names still exists, this one is a copy. */
async function movedEntry(commonFolder: string, leads: string | undefined): Promise<WorktreeEntry | undefined> {
  const entries = join(commonFolder, "worktrees");
  const name = (await namesIn(entries)).find((each) => join(entries, each) === leads);
  const entry = name === undefined ? undefined : await readEntry(commonFolder, name);
  return entry === undefined || entryAt(entry.folder) !== undefined ? undefined : entry;
}

/** Creates a branch in the user's repository, unless it exists. */
async function makeBranch(shop: Workshop, branch: string, commit: string): Promise<void> {
  const { git, user, options } = shop;
  const { commonFolder } = await user();
  if ((await readRef(commonFolder, branchRef(branch))) !== undefined) return;
  await mkdir(options.state, { recursive: true });
  const place = { folder: options.state, gitDir: commonFolder, configuration: "user" } as const;
  const created = ["update-ref", "--no-deref", "-m", "workspace prepared", branchRef(branch), commit, noCommit(commit)];
  try {
    await git(place, created, { writes: true });
  } catch (error) {
    // Another process created the branch meanwhile.
    if ((await readRef(commonFolder, branchRef(branch))) === commit) return;
    await checkThere(shop, commit, { objects: place, refs: place });
    throw error;
  }
}

/** Registers the folder as a worktree, and removes what a former task left in git's record of it. */
async function settleWorktree(shop: Workshop, order: Settling): Promise<Settled> {
  const { folder, found, record, heap } = order;
  const { commonFolder } = await shop.user();
  await clearNameless(shop, folder, heap);
  const path = found.folders?.gitFolder;
  const entry = path === undefined ? undefined : await readEntry(commonFolder, path.slice(dirname(path).length + 1));
  if (entry === undefined || (await isHalfMade(shop, order, entry))) return addWorktree(shop, order, entry);
  await connect(folder, entry, heap);
  await scrub(entry, record, heap);
  return {
    folders: { gitFolder: entry.path, commonFolder },
    hasFiles: found.kind === "ours",
    known: await knownOf(entry, record),
  };
}

async function addWorktree(shop: Workshop, order: Settling, halfMade: WorktreeEntry | undefined): Promise<Settled> {
  const { folder, branch, commit, heap } = order;
  const { commonFolder } = await shop.user();
  const checkedOut =
    branch === undefined ? ["--detach", "--end-of-options", folder, commit] : ["--end-of-options", folder, branch];
  if (halfMade !== undefined) await heap.takeFrom(halfMade.path, `.git-of-worktree-${halfMade.name}`);
  // Anything in the folder comes from the interrupted creation.
  for (const name of await namesIn(folder)) await heap.take(join(folder, name), name);
  await mkdir(folder, { recursive: true });
  // `livingGit` finds this process by its working directory.
  const place = { folder, gitDir: commonFolder, configuration: "user" } as const;
  // One at a time: git reads the records of all worktrees, and fails on one that is half-written.
  await shop.inTurn(`worktree add ${commonFolder}`, () =>
    shop.git(place, ["worktree", "add", "--quiet", "--no-checkout", ...checkedOut], {
      writes: true,
      env: { GIT_COMMON_DIR: commonFolder },
    }),
  );
  const entry = await findEntry(commonFolder, folder, undefined);
  if (entry === undefined) throw unknown(folder);
  return {
    folders: { gitFolder: entry.path, commonFolder },
    hasFiles: false,
    known: await knownOf(entry, undefined),
  };
}

/** Whether git was killed while it created the worktree. Then no agent has worked there: the branch has not moved. */
async function isHalfMade(shop: Workshop, { commit, folder }: Settling, entry: WorktreeEntry): Promise<boolean> {
  const { commonFolder } = await shop.user();
  const head = await readHead({ gitFolder: entry.path, commonFolder });
  if (entry.lock !== "initializing") return head === undefined;
  await shop.refuseBusy(folder);
  if (head?.commit === undefined || head.commit === commit) return true;
  throw new Fault("workspace.locked", `The worktree ${folder} is marked as still being created, but has commits.`, {
    hint: `Check it, then unlock it: git worktree unlock "${folder}"`,
  });
}

async function clearNameless(shop: Workshop, folder: string, heap: Heap): Promise<void> {
  const { commonFolder, folder: repository } = await shop.user();
  const nameless = await namelessEntries(commonFolder, folder);
  if (nameless.length === 0) return;
  const living = await livingGit([repository, folder]);
  if (living === undefined || living.length > 0) return;
  for (const [at, path] of nameless.entries()) await heap.takeFrom(path, `.git-of-worktree-half-made-${at}`);
}

/** Makes the folder and git's record point to each other. Never touches the record of another worktree. */
async function connect(folder: string, entry: WorktreeEntry, heap: Heap): Promise<void> {
  await mkdir(folder, { recursive: true });
  const dotGit = join(folder, ".git");
  const wanted = `gitdir: ${entry.path}\n`;
  if ((await readSmall(dotGit)) !== wanted) {
    if (entryAt(dotGit) !== undefined) await heap.take(dotGit, ".git");
    await writeWhole(dotGit, wanted, { fsync: false });
  }
  if (entry.folder !== folder) await writeWhole(join(entry.path, "gitdir"), `${dotGit}\n`, { fsync: false });
  if ((await readSmall(join(entry.path, "commondir"))) !== "../..\n")
    await writeWhole(join(entry.path, "commondir"), "../..\n", { fsync: false });
}

/** Files that a plain worktree's record has. All others belong to an operation or to submodules, or were planted. */
const plainFiles = ["HEAD", "commondir", "gitdir", "index", "logs", "locked", "config.worktree", "info"];

async function scrub(entry: WorktreeEntry, record: WorkspaceRecord | undefined, heap: Heap): Promise<void> {
  for (const name of await namesIn(entry.path)) {
    // A lock may belong to a running git process; `replaceLocked` checks that when it needs the lock.
    if (plainFiles.includes(name) || name.endsWith(".lock")) continue;
    await heap.takeFrom(join(entry.path, name), `.git-of-worktree-${entry.name}/${name}`);
  }
  if (record?.obeyed === undefined) return;
  for (const name of obeyedFiles) {
    const path = join(entry.path, name);
    const wanted = record.obeyed[name];
    if ((await readSmall(path)) === wanted) continue;
    await heap.takeFrom(path, `.git-of-worktree-${entry.name}/${name}`);
    if (wanted !== undefined)
      await mkdir(dirname(path), { recursive: true }).then(() => writeWhole(path, wanted, { fsync: false }));
    else await rm(path, { force: true });
  }
}

/** The settings files as git created them, before an agent worked there. */
async function knownOf(entry: WorktreeEntry, record: WorkspaceRecord | undefined): Promise<Settled["known"]> {
  if (record?.entry === entry.name && record.obeyed !== undefined) return { entry: entry.name, obeyed: record.obeyed };
  const obeyed: Record<string, string> = {};
  for (const name of obeyedFiles) {
    const text = await readSmall(join(entry.path, name));
    if (text !== undefined) obeyed[name] = text;
  }
  return { entry: entry.name, obeyed };
}

function unknown(folder: string): Fault {
  return new Fault("git.failed", `git created the worktree ${folder}, but does not list it.`, {
    retry: "later",
    hint: "See the list: git worktree list",
  });
}

/** Names both folders explicitly: an agent may have changed the files that lead from one to the other. */
function worktreeFiles(folder: string, gitDir: string, commonFolder: string): Files {
  return {
    place: { folder, gitDir, workTree: folder, configuration: "user" },
    env: { GIT_COMMON_DIR: commonFolder },
    settings: ["core.splitIndex=false"],
    ownObjects: {},
  };
}

/** A workspace that is a linked worktree of the user's repository: same refs, same configuration, files of its own. */
export function worktreeMechanics(shop: Workshop): Mechanics {
  const { git, options } = shop;
  const hide = () => shop.inTurn("exclude", async () => addExclude((await shop.user()).commonFolder));
  return {
    kind: "worktree",
    find: async (folder, record) => findWorktree(await shop.user(), folder, record),
    async filesOf(folder, folders) {
      const { commonFolder } = await shop.user();
      return worktreeFiles(folder, folders?.gitFolder ?? commonFolder, commonFolder);
    },
    useOf: async (branch, _, folders) => branchUse(await shop.user(), branch, folders?.gitFolder),
    tipOf: async (branch) => readRef((await shop.user()).commonFolder, branchRef(branch)),
    async isSaved({ head }) {
      // A branch of the user's repository stays when the workspace is removed.
      if (head?.commit === undefined || head.branch !== undefined) return true;
      const { commonFolder } = await shop.user();
      for (const gitDir of [commonFolder, options.control]) {
        const { stdout } = await git(
          { folder: gitDir, gitDir, configuration: gitDir === commonFolder ? "user" : "ours" },
          ["for-each-ref", "--count=1", `--contains=${head.commit}`],
          // 128, 129: the repository does not have the commit.
          { accepts: [0, 128, 129] },
        );
        if (stdout.length > 0) return true;
      }
      return false;
    },
    begin: (order) => makeBranch(shop, order.branch, order.commit),
    settle: (order) => settleWorktree(shop, order),
    async seat(seating) {
      const { folder, folders, index } = seating;
      if (folders === undefined) return;
      await writeHead(folders.gitFolder, headText(seating), [folder]);
      await installIndex(index, folders.gitFolder, [folder]);
      await hide();
    },
    refsOf: async (folder, { gitFolder, commonFolder }) => worktreeFiles(folder, gitFolder, commonFolder),
    reconnect: async (folder, record) => reconnectWorktree(await shop.user(), folder, record),
    async forget(folder, record, heap) {
      const entry = await findEntry((await shop.user()).commonFolder, folder, record?.entry);
      if (entry !== undefined) await heap.takeFrom(entry.path, `.git-of-worktree-${entry.name}`);
    },
    hideTaskFiles: hide,
    showTaskFiles: async () => shop.inTurn("exclude", async () => removeExclude((await shop.user()).commonFolder)),
  };
}

/**
 * Makes a worktree and git's record of it point to each other again. Our own record names git's; without one the folder
 * does, and is trusted only if git's record does not point to another existing folder.
 */
async function reconnectWorktree(
  { commonFolder }: Pick<UserRepository, "commonFolder">,
  folder: string,
  record: WorkspaceRecord | undefined,
): Promise<void> {
  const dotGit = join(folder, ".git");
  const [, named] = /^gitdir: ([\s\S]+?)\n*$/.exec((await readSmall(dotGit)) ?? "") ?? [];
  const name = record?.entry ?? (named && basename(named));
  const entry = name === undefined ? undefined : await readEntry(commonFolder, name);
  if (entry === undefined) return;
  if (entry.folder !== folder) {
    if (entryAt(entry.folder) !== undefined) return;
    await writeWhole(join(entry.path, "gitdir"), `${dotGit}\n`, { fsync: false });
  }
  const wanted = `gitdir: ${entry.path}\n`;
  // Without the file the workspace must be prepared again: an agent may have created a repository of its own there.
  if (named !== undefined && (await readSmall(dotGit)) !== wanted) await writeWhole(dotGit, wanted, { fsync: false });
}
