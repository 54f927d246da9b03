import { randomBytes } from "node:crypto";
import { link, mkdir, readdir, realpath, rename, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { writeWhole } from "../../../durable-file.ts";
import { Fault } from "../../../fault.ts";
import { createTurns, type Turns } from "../../../keyed.ts";
import { sha256 } from "../../../sha256.ts";
import type { LeftLock } from "../faults.ts";
import { findUserRepository, livingGit, readSmall, type UserRepository } from "../git-folder.ts";
import type { RunGit } from "../runner.ts";
import { type Heap, openHeap } from "./trash.ts";
import type { UserSettings } from "./user-settings.ts";

/** A git process that takes longer than this no longer counts against the limit: it may hang in its workspace. */
const maxTurn = 1_000;

/**
 * Runs at most as many git processes together as there are processors, and never starts two in the same turn of the
 * event loop: a start blocks the daemon for milliseconds, and thirty workspaces may be requested at the same moment. A
 * git that hangs in one workspace does not block the others.
 */
function pacedRunner(run: RunGit, most = Math.max(2, availableParallelism())): RunGit {
  const waiting: (() => void)[] = [];
  let free = most;
  let starting: Promise<unknown> = Promise.resolve();
  const take = async () => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    starting = starting.then(() => nextTurn());
    await starting;
  };
  const give = () => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return async (place, args, options) => {
    await take();
    let isHeld = true;
    const giveOnce = () => {
      if (isHeld) give();
      isHeld = false;
    };
    const timer = setTimeout(giveOnce, maxTurn);
    try {
      return await run(place, args, options);
    } finally {
      clearTimeout(timer);
      giveOnce();
    }
  };
}

/**
 * The daemon's own record of a workspace, out of the agents' reach. If it is lost, the workspace is only slower to
 * prepare: every file is read again.
 */
export interface WorkspaceRecord {
  readonly folder: string;
  /** making, switching: begun and not finished, so that the folder may be half-written. */
  readonly phase: "making" | "switching" | "ready";
  /** Empty if the workspace is parked. */
  readonly branch: string;
  /** The commit of the index beside this record. */
  readonly commit: string;
  /** The branch that is being renamed to `branch`. */
  readonly renamedFrom?: string;
  /** For a parked workspace: a hash of HEAD's reflog when it was parked. */
  readonly moves?: string;
  /** For a worktree: the name of git's record, and the worktree's own settings files. */
  readonly entry?: string;
  readonly obeyed?: Readonly<Record<string, string>>;
}

interface Records {
  read(folder: string): Promise<WorkspaceRecord | undefined>;
  write(record: WorkspaceRecord): Promise<void>;
  /** Moves the record of a folder that was moved. Does nothing if there is no record, or it was moved already. */
  move(from: string, to: string): Promise<void>;
  forget(folder: string): Promise<void>;
  all(): Promise<readonly WorkspaceRecord[]>;
  /** Our own index of the workspace's files. The workspace's own index cannot be trusted. */
  indexOf(folder: string): string;
  /** A cached index for one further commit, made from ours: agents commit, and are inspected often. */
  madeFor(folder: string, commit: string): string;
  keepMade(folder: string, commit: string, index: string): Promise<void>;
  /** A new path for a temporary file. */
  draft(): Promise<string>;
}

function createRecords(state: string): Records {
  const placeOf = (folder: string) => join(state, sha256(folder).slice(0, 20));
  const write = async (record: WorkspaceRecord) => {
    const place = placeOf(record.folder);
    await mkdir(place, { recursive: true, mode: 0o700 });
    await writeWhole(join(place, "record.json"), JSON.stringify(record), { fsync: false });
  };
  const all = async () => {
    const names = await readdir(state).catch(() => []);
    const records = await Promise.all(names.map((name) => readRecord(join(state, name, "record.json"))));
    return records.filter((record) => record !== undefined);
  };
  return {
    read: (folder) => readRecord(join(placeOf(folder), "record.json")),
    write,
    async move(from, to) {
      // Compares base names: the recorded path may differ, if it led through links.
      const known = (await all()).find(({ folder }) => folder !== to && basename(folder) === basename(from));
      if (known === undefined) return;
      // After a kill between the rename and the write, only the write is missing.
      const isMoved = !(await readdir(placeOf(known.folder)).then(
        () => true,
        () => false,
      ));
      if (!isMoved) {
        await rm(placeOf(to), { recursive: true, force: true });
        await rename(placeOf(known.folder), placeOf(to));
      }
      await write({ ...known, folder: to });
    },
    forget: (folder) => rm(placeOf(folder), { recursive: true, force: true }),
    all,
    indexOf: (folder) => join(placeOf(folder), "index"),
    madeFor: (folder, commit) => join(placeOf(folder), `${made}${commit}`),
    async keepMade(folder, commit, index) {
      const place = placeOf(folder);
      const earlier = (await readdir(place).catch(() => [])).filter((name) => name.startsWith(made));
      for (const name of earlier) await rm(join(place, name), { force: true });
      // Without the link the next index is built again.
      await link(index, join(place, `${made}${commit}`)).catch(() => {});
    },
    async draft() {
      const drafts = join(state, "drafts");
      await mkdir(drafts, { recursive: true, mode: 0o700 });
      return join(drafts, randomBytes(8).toString("hex"));
    },
  };
}

const made = "index-";

/** Undefined also for a file that a power cut left half-written. */
async function readRecord(path: string): Promise<WorkspaceRecord | undefined> {
  const text = await readSmall(path, 1024 * 1024);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as WorkspaceRecord);
  } catch {
    return undefined;
  }
}

export interface WorkspaceOptions {
  readonly run: RunGit;
  /** The user's repository. */
  readonly repository: string;
  /** The folder of the control repository. */
  readonly control: string;
  /** The folder of our records. Only the daemon writes there. */
  readonly state: string;
  /** On the same disk as the workspaces. */
  readonly trash: string;
  /** What workspaces without the user's configuration take over from it; nothing if missing. */
  readonly settings?: () => Promise<UserSettings>;
  readonly now?: () => number;
}

/** The shared tools for all workspaces of a project. */
export interface Workshop {
  readonly options: WorkspaceOptions;
  /** Runs git, and removes locks of killed git processes. */
  readonly git: RunGit;
  readonly records: Records;
  readonly inTurn: Turns;
  user(): Promise<UserRepository>;
  /** A new heap in the trash for files from a workspace. */
  heap(folder: string, isHeld?: boolean): Heap;
  /** Throws `workspace.busy` while a git process that outlived its daemon still runs there. */
  refuseBusy(folder: string): Promise<void>;
}

export function createWorkshop(options: WorkspaceOptions): Workshop {
  const { run, repository, state, trash, now = Date.now } = options;
  const paced = pacedRunner(run);
  let user: Promise<UserRepository> | undefined;
  const findUser = () => {
    user ??= findUserRepository(paced, repository).catch((error) => {
      user = undefined;
      throw error;
    });
    return user;
  };
  return {
    options,
    records: createRecords(state),
    inTurn: createTurns(),
    user: findUser,
    heap: (folder, isHeld = false) => openHeap(trash, { from: folder, at: now(), isHeld }),
    async refuseBusy(folder) {
      const living = await livingGit([folder]);
      if (living !== undefined && living.length > 0) throw busy(folder, living);
    },
    async git(place, args, more) {
      for (let tries = 0; ; tries += 1) {
        try {
          return await paced(place, args, more);
        } catch (error) {
          if (tries >= 5 || !isLocked(error)) throw error;
          const { commonFolder } = await findUser();
          const ours = [state, join(commonFolder, "worktrees"), join(commonFolder, "refs"), join(place.folder, ".git")];
          if (!(await removeDeadLock(error.cause as LeftLock, ours, [place.folder, repository]))) throw error;
        }
      }
    },
  };
}

/** The canonical path of a folder, with links above it resolved. The folder need not exist. */
export async function wholePath(folder: string): Promise<string> {
  if (!isAbsolute(folder) || folder.includes("\0")) {
    throw new Fault("workspace.foreign", `${JSON.stringify(folder)} is not the absolute path of a folder.`);
  }
  const path = resolve(folder);
  const above = await realpath(dirname(path)).catch(() => dirname(path));
  return join(above, basename(path));
}

// Git holds such locks for milliseconds. A younger lock may belong to a process that we have not seen yet.
const youngest = 1_000;
// Longer than any of our timeouts, for systems that do not list processes.
const surelyDead = 60 * 60 * 1_000;

/** Removes only locks that we or this workspace's agent take (below `ours`): the user's own locks always stay. */
export async function removeDeadLock(
  { path, since }: Pick<LeftLock, "path" | "since">,
  ours: readonly string[],
  workers: readonly string[],
): Promise<boolean> {
  if (!ours.some((folder) => path.startsWith(folder + sep))) return false;
  // The lock is gone already.
  if (since === undefined) return true;
  const age = Date.now() - since;
  if (age < youngest) {
    await sleep(youngest - age);
    return true;
  }
  const living = await livingGit(workers);
  const isDead = living === undefined ? age > surelyDead : living.length === 0;
  if (isDead) await rm(path, { force: true });
  return isDead;
}

function isLocked(error: unknown): error is Fault {
  return error instanceof Fault && error.code === "git.locked";
}

function busy(folder: string, pids: readonly number[]): Fault {
  return new Fault("workspace.busy", `git is still running in ${folder} (process ${pids.join(", ")}).`, {
    retry: "later",
    hint: "An earlier daemon started it, and it ends by itself.",
  });
}
