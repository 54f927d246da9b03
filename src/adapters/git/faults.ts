import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import { Fault, type Retry } from "../../fault.ts";
import { timeOf } from "../../json.ts";
import { plainOutput } from "../../text.ts";
import { entryIfSeen } from "./file-entries.ts";

interface Refusal {
  /** The git command, such as `fetch`. */
  readonly command: string;
  readonly cwd: string;
  /** The repository that the refusal is about, if it is not `cwd`. */
  readonly about?: string;
  readonly code: number | undefined;
  readonly stderr: string;
  /** Whether another machine may have caused the refusal. */
  readonly isRemote: boolean;
}

/** Turns git's error output into a Fault. Git must have printed English (LC_ALL=C). */
export function gitFault({ command, cwd, about = cwd, code, stderr, isRemote }: Refusal): Fault {
  const lock = findLock(stderr, cwd);
  if (lock !== undefined) {
    return new Fault("git.locked", `git cannot work in ${cwd}: ${describeLock(lock)}`, {
      retry: "later",
      hint: lockHint,
      cause: lock,
    });
  }
  const said = lastLines(stderr);
  const known = (isRemote ? [...ofRemotes, ...ofRepositories] : ofRepositories).find(([form]) => form.test(stderr));
  if (known !== undefined) {
    const [, name, what, hint, retry = "never"] = known;
    // For a missing identity git prints long advice; our hint is shorter.
    const quote = said === "" || name === "no-identity" ? "" : ` git says:\n${said}`;
    return new Fault(`git.${name}`, `${what.replace("%", () => masked(about))}${quote}`, { hint, retry });
  }
  const how = code === undefined ? "was killed" : `ended with ${code}`;
  return new Fault("git.failed", `"git ${command}" ${how} in ${masked(about)}.${said === "" ? "" : `\n${said}`}`, {
    retry: code === undefined ? "later" : "never",
    hint: "Read git's message, and check the folder.",
  });
}

export const lockHint = "If no git is running there, nor on another machine that shares the folder, remove that file.";

/** The last lines of git's output, safe for a log: no control characters, no passwords, none of git's hints. */
export function lastLines(stderr: string): string {
  const lines = stderr
    .split(/[\r\n]+/)
    .map((line) => plainOutput(line).trimEnd())
    .filter((line) => line !== "" && !line.startsWith("hint:"));
  return masked(lines.slice(-6).join("\n"));
}

type Known = readonly [form: RegExp, name: string, what: string, hint: string, retry?: Retry];

const ofRemotes: readonly Known[] = [
  [
    /\(stale info\)/,
    "ref-moved",
    "The remote's branch has moved.",
    "Sync the repository, and find out who moved the branch.",
    "later",
  ],
  [
    /\[(remote )?rejected\]|hook declined|remote: error: GH\d+/,
    "remote-refused",
    "The remote refused.",
    "Read the remote's message: its rules decide.",
  ],
  [
    /Authentication failed|Permission denied|could not read (Username|Password)|terminal prompts disabled|Repository not found|repository '.*' not found|returned error: 40[134]|Permission to .* denied|Host key verification failed|does not appear to be a git repository/i,
    "remote-refused",
    "The remote denied access.",
    "This must work in the repository without asking for a password: git ls-remote",
  ],
  [
    /Could not resolve|unable to access|Connection (refused|timed out|reset|closed)|Network is unreachable|No route to host|Failed to connect|Couldn't connect|timed out|Temporary failure|returned error: 5\d\d|early EOF|hung up unexpectedly|Could not read from remote repository|unexpected disconnect|SSL_/i,
    "remote-unreachable",
    "The remote cannot be reached.",
    "Check the network and the remote's address.",
    "later",
  ],
];

const ofRepositories: readonly Known[] = [
  [
    /exists; cannot create|cannot lock ref .*(there are still|non-empty directory)/,
    "bad-ref",
    "A ref cannot have this name, because another ref has a part of it as its whole name, or the reverse.",
    "Rename one of the two branches.",
  ],
  [
    /is at [0-9a-f]+ but expected|reference already exists|unable to resolve reference/,
    "ref-moved",
    "The ref has moved.",
    "Check where it is now, and try again from there.",
    "later",
  ],
  [
    /refusing to fetch into|already checked out at/,
    "checked-out-elsewhere",
    "The branch is checked out.",
    "See where: git worktree list",
    "later",
  ],
  [
    /dubious ownership/,
    "foreign-owner",
    "% belongs to another user, and git does not trust it.",
    "Change the owner of the folder to the user that the daemon runs as.",
  ],
  [
    /not a git repository|does not appear to be a git repository/i,
    "not-a-repository",
    "% is not a git repository, and does not lead to one.",
    "Find out where the repository is now, and update the project.",
  ],
  [
    /empty ident|tell me who you are|auto-detect email|no (name|email) was given|ident name .*not allowed/i,
    "no-identity",
    "git has no name and email to commit with.",
    'Set them: git config --global user.name "Your Name", then git config --global user.email you@example.org',
  ],
  [
    /shallow roots are not allowed|shallow update not allowed/,
    "shallow",
    "The repository is a shallow clone: it has only a part of its history.",
    "Fetch the rest: git fetch --unshallow",
  ],
  [
    /lazy fetching disabled|promisor remote/,
    "incomplete",
    "The repository is a partial clone: some of its objects are missing.",
    "Fetch the rest: git fetch --refetch --no-filter",
  ],
  [
    /Not possible to fast-forward|unrelated histories|\(non-fast-forward\)/,
    "diverged",
    "The two branches have diverged.",
    "Merge one into the other first.",
  ],
  [
    /couldn't find remote ref|not our ref|bad revision|valid (object|commit) name|unknown revision|Needed a single revision|bad object|invalid ref|not a commit|ambiguous argument/i,
    "bad-ref",
    "There is no such branch or commit in %.",
    "List the branches: git branch --all",
  ],
];

/** A lock file that stopped git. The file does not say which process created it. */
export interface LeftLock {
  readonly path: string;
  /** Milliseconds since 1970; undefined if the file is gone again. */
  readonly since: number | undefined;
  /** Git processes that run in one of the folders; undefined if the system does not list processes. */
  readonly holders: readonly number[] | undefined;
}

/** The lock file that git's message names; undefined if the message is about something else. */
function findLock(stderr: string, cwd: string): LeftLock | undefined {
  const [, named] = /Unable to create '(.+\.lock)': File exists/.exec(stderr) ?? [];
  if (named === undefined) return undefined;
  return lookAtLock(resolve(cwd, named), cwd);
}

export function lookAtLock(path: string, cwd: string): LeftLock {
  return { path, since: entryIfSeen(path)?.mtimeMs, holders: gitProcessesIn([cwd, workTreeOf(path)]) };
}

export function describeLock({ path, since, holders }: LeftLock): string {
  // Anybody can set the time of a file, also to one that no Date can hold.
  const time = timeOf(since);
  const age = time === undefined ? "" : ` since ${new Date(time).toISOString()}`;
  if (holders === undefined) return `"${path}" has been there${age}.`;
  if (holders.length === 0) return `"${path}" has been there${age}, and no git process is running there.`;
  return `"${path}" has been there${age}; git is running there (process ${holders.join(", ")}).`;
}

/** `…/.git/index.lock` belongs to the working tree `…`. */
function workTreeOf(lock: string): string {
  const [before] = lock.split(`${sep}.git${sep}`);
  return before === lock || before === undefined ? dirname(lock) : before;
}

function gitProcessesIn(folders: readonly string[]): readonly number[] | undefined {
  try {
    const real = folders.map((folder) => realpathSync(folder));
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && isGitIn(name, real))
      .map(Number);
  } catch {
    return undefined;
  }
}

function isGitIn(pid: string, folders: readonly string[]): boolean {
  try {
    if (!readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("git")) return false;
    const cwd = readlinkSync(`/proc/${pid}/cwd`);
    return folders.some((folder) => cwd === folder || cwd.startsWith(folder + sep));
  } catch {
    // The process has ended meanwhile, or belongs to another user.
    return false;
  }
}

/** Removes passwords from URLs. The user in ssh://git@host is no secret; anything else before an @ may be one. */
export function masked(text: string): string {
  return text
    .replace(/(https?:\/\/)[^\s/?#"'<>]*@/gi, "$1…@")
    .replace(/(:\/\/[^\s/?#"'<>:@]*:)[^\s/?#"'<>]*@/g, "$1…@");
}
