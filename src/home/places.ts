import { existsSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { Fault } from "../fault.ts";
import { sha256 } from "../sha256.ts";
import { shellWord } from "../shell-quote.ts";

/** Whether `version` is later than `than`: `0.10.0` is later than `0.9.1`, and a release later than its candidates. */
export function isNewer(version: string, than: string): boolean {
  const [a, b] = [version, than].map((each) => each.split("-"));
  const [numbers, others] = [a, b].map((each) => (each?.[0] ?? "").split(".").map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (numbers?.[i] ?? 0) - (others?.[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return a?.[1] === undefined && b?.[1] !== undefined;
}

/** The root of the git repository that contains a folder. In a worktree or a submodule `.git` is a file. */
export function findRepository(folder: string): string | undefined {
  if (existsSync(join(folder, ".git"))) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : findRepository(parent);
}

/** The folder of the package. The sources and the bundle are at different depths in it. */
export function packageRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "package.json")) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

// Replaced by the build: reading a file would slow down every command that an agent waits for.
declare const builtVersion: string | undefined;

export const packageVersion: string = typeof builtVersion === "string" ? builtVersion : readVersion();

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")) as { version: string };
  return version;
}

/** The files and folders of a home. All paths are absolute. */
export interface Places {
  readonly database: string;
  /** Records how many entries the database had; see `StoreNote` in `database.ts`. */
  readonly storeNote: string;
  readonly config: string;
  readonly workflows: string;
  readonly logs: string;
  readonly log: string;
  readonly backups: string;
  /** The databases that a restore has replaced. */
  readonly setAside: string;
  readonly trash: string;
  /** The running daemon's own files; mode 0700. */
  readonly run: string;
  /** Not always in `run`, but its folder is as private. The folder has nothing else: sandboxed agents can see it. */
  readonly socket: string;
  /** Where earlier versions had the socket; now a link to it. */
  readonly formerSocket: string;
  readonly lock: string;
  /** Contains the pid of the process that holds the lock. */
  readonly pid: string;
  readonly startReport: string;
  /** Exists after a person has killed the daemon on purpose: then no command restarts it. */
  readonly stopped: string;
  /** Exists while the daemon runs that is not restarted any more, because it died too often; a later daemon finds it. */
  readonly unwatched: string;
  /** Records where agents work; the command line reads it before it uses the person's credential. */
  readonly agents: string;
  /** The port that was chosen for browsers. */
  readonly webPort: string;
  readonly humanToken: string;
  /** The recorded environment for a daemon that an agent starts. */
  readonly surroundings: string;
  readonly trusted: string;
  readonly workspaces: string;
  /** The projects' control repositories. */
  readonly control: string;
  /** Repositories that were cloned for projects. */
  readonly repositories: string;
  /** A folder for each run: its order, its output and the reports of its hooks. */
  readonly runs: string;
  /** The first folder on agents' PATH. */
  readonly bin: string;
  /** The socket of the tmux server with the agents' windows. */
  readonly terminal: string;
}

export function homePlaces(home: string): Places {
  const root = resolve(home);
  const run = join(root, "run");
  return {
    database: join(root, "signalbox.db"),
    storeNote: join(root, "store.json"),
    config: join(root, "config.yml"),
    workflows: join(root, "workflows"),
    logs: join(root, "logs"),
    log: join(root, "logs", "daemon.log"),
    backups: join(root, "backups"),
    setAside: join(root, "set-aside"),
    trash: join(root, "trash"),
    run,
    socket: socketPath(root, join(run, "api", "daemon.sock"), "-api/daemon.sock"),
    formerSocket: socketPath(root, join(run, "daemon.sock"), "/daemon.sock"),
    lock: join(run, "lock.db"),
    pid: join(run, "daemon.pid"),
    startReport: join(run, "start.log"),
    stopped: join(run, "stopped"),
    unwatched: join(run, "unwatched"),
    agents: join(run, "agents.json"),
    webPort: join(run, "web.json"),
    humanToken: join(root, "human.token"),
    surroundings: join(root, "environment.json"),
    trusted: join(root, "trusted"),
    workspaces: join(root, "workspaces"),
    control: join(root, "control"),
    repositories: join(root, "repositories"),
    runs: join(root, "runs"),
    bin: join(root, "bin"),
    terminal: socketPath(root, join(run, "tmux.sock"), "/tmux.sock"),
  };
}

/** A relative path would be another home in every folder, so it is refused. */
export function homeFolder(env: Readonly<Record<string, string | undefined>>): string {
  const home = env.SIGNALBOX_HOME || join(homedir(), ".signalbox");
  if (isAbsolute(home)) return resolve(home);
  const meant = home.startsWith("~/") ? join(homedir(), home.slice(2)) : resolve(home);
  throw new Fault("usage", `SIGNALBOX_HOME is "${home}", a relative path: every folder would have a home of its own.`, {
    hint: `Give the absolute path, such as: export SIGNALBOX_HOME=${shellWord(meant)}`,
  });
}

/** A repository's own files; undefined if its `.signalbox` is the home, as for a user who keeps all of `~` in git. */
export function repositoryPlaces(home: string, repository: string): Pick<Places, "config" | "workflows"> | undefined {
  const folder = resolve(repository, ".signalbox");
  if (realPath(folder) === realPath(resolve(home))) return undefined;
  return { config: join(folder, "config.yml"), workflows: join(folder, "workflows") };
}

// Linux refuses socket paths of more than 107 bytes, some systems of more than 103.
const maxSocketPath = 100;

/**
 * Not in TMPDIR, which an agent or a service may have changed: every process with this home must find the same socket.
 */
function socketPath(home: string, wanted: string, end: string): string {
  if (Buffer.byteLength(wanted) <= maxSocketPath) return wanted;
  return join("/tmp", `signalbox-${process.getuid?.() ?? 0}-${sha256(home).slice(0, 12)}${end}`);
}

/** The socket to connect to: a daemon of an earlier version has it in another place until it is started again. */
export function socketToAsk({ socket, formerSocket }: Pick<Places, "socket" | "formerSocket">): string {
  return existsSync(socket) ? socket : formerSocket;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/**
 * Relative to the current folder, unless the file is outside it or the current folder is the root, as for the daemon.
 */
export function shownPath(file: string): string {
  const folder = currentFolder();
  const path = folder === undefined ? "" : relative(folder, file);
  return path === "" || path.startsWith("..") || `/${path}` === file ? file : path;
}

function currentFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    // The current folder was deleted.
    return undefined;
  }
}
