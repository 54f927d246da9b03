import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { sha256 } from "../engine/sha256.ts";

/** Where everything of the user's lies. All paths are absolute. */
export interface Places {
  readonly database: string;
  /** Says how far the database had come; see `store-note.ts`. */
  readonly storeNote: string;
  readonly config: string;
  readonly workflows: string;
  readonly logs: string;
  readonly log: string;
  readonly backups: string;
  /** What was there before something was restored. */
  readonly setAside: string;
  readonly trash: string;
  /** What belongs to the running daemon, and to nobody else: mode 0700. */
  readonly run: string;
  /** Its folder is not always `run`, and must be as private. */
  readonly socket: string;
  readonly lock: string;
  /** The number of the process that has the lock. */
  readonly pid: string;
  readonly startReport: string;
  /** There while somebody has killed the daemon on purpose: it is not to be started again by itself. */
  readonly stopped: string;
  /** Where agents work, for those who must know before they speak for a person. */
  readonly agents: string;
  readonly humanToken: string;
  /** What a daemon that an agent starts is started with. */
  readonly surroundings: string;
  readonly trusted: string;
  readonly workspaces: string;
  /** The projects' control repositories. */
  readonly control: string;
  /** Repositories that were cloned for projects. */
  readonly repositories: string;
  /** A folder for each run: its orders, what it printed, what its hooks said. */
  readonly runs: string;
  /** What agents find first on their PATH. */
  readonly bin: string;
  /** The socket of the terminal server in which agents' windows are. */
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
    socket: socketPath(root, join(run, "daemon.sock"), "daemon.sock"),
    lock: join(run, "lock.db"),
    pid: join(run, "daemon.pid"),
    startReport: join(run, "start.log"),
    stopped: join(run, "stopped"),
    agents: join(run, "agents.json"),
    humanToken: join(root, "human.token"),
    surroundings: join(root, "environment.json"),
    trusted: join(root, "trusted"),
    workspaces: join(root, "workspaces"),
    control: join(root, "control"),
    repositories: join(root, "repositories"),
    runs: join(root, "runs"),
    bin: join(root, "bin"),
    terminal: socketPath(root, join(run, "tmux.sock"), "tmux.sock"),
  };
}

export function homeFolder(env: Readonly<Record<string, string | undefined>>): string {
  return resolve(env.SIGNALBOX_HOME || join(homedir(), ".signalbox"));
}

/** What a repository brings along, unless its `.signalbox` is the home: who keeps all of `~` in git has no project there. */
export function repositoryPlaces(home: string, repository: string): Pick<Places, "config" | "workflows"> | undefined {
  const folder = resolve(repository, ".signalbox");
  if (realPath(folder) === realPath(resolve(home))) return undefined;
  return { config: join(folder, "config.yml"), workflows: join(folder, "workflows") };
}

// The system refuses paths of sockets beyond 107 bytes, some systems beyond 103.
const longestSocket = 100;

/** Not in TMPDIR, which an agent or a service may have changed: whoever has the same home must come to the same socket. */
function socketPath(home: string, wanted: string, name: string): string {
  if (Buffer.byteLength(wanted) <= longestSocket) return wanted;
  return join("/tmp", `signalbox-${process.getuid?.() ?? 0}-${sha256(home).slice(0, 12)}`, name);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
