import { Fault, type Retry } from "../../fault.ts";
import { describeLock, findLock } from "./left-lock.ts";
import { masked } from "./masked.ts";

export interface Refusal {
  /** What was asked of git, as its command says. */
  readonly command: string;
  readonly cwd: string;
  /** The repository that it is about, where that is another one. */
  readonly about?: string;
  readonly code: number | undefined;
  readonly stderr: string;
  /** Whether somebody else's machine may have had a say. */
  readonly isRemote: boolean;
}

/** What git's refusal means. It is asked to speak English (LC_ALL=C). */
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
    // Of who commits git has only advice to give, and ours is shorter.
    const quote = said === "" || name === "no-identity" ? "" : ` git says:\n${said}`;
    return new Fault(`git.${name}`, `${what.replace("%", () => masked(about))}${quote}`, { hint, retry });
  }
  const how = code === undefined ? "was killed" : `ended with ${code}`;
  return new Fault("git.failed", `"git ${command}" ${how} in ${masked(about)}.${said === "" ? "" : `\n${said}`}`, {
    retry: code === undefined ? "later" : "never",
    hint: "Look at what git says, and at the folder.",
  });
}

export const lockHint = "If no git is at work there, nor on another machine that has the folder, remove that file.";

/** The end of what git said, fit for a log: no control characters, no passwords, no advice about commands. */
export function lastLines(stderr: string): string {
  const lines = stderr
    .split(/[\r\n]+/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
    .map((line) => line.replace(/\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "").trimEnd())
    .filter((line) => line !== "" && !line.startsWith("hint:"));
  return masked(lines.slice(-6).join("\n"));
}

type Known = readonly [form: RegExp, name: string, what: string, hint: string, retry?: Retry];

const ofRemotes: readonly Known[] = [
  [
    /\(stale info\)/,
    "ref-moved",
    "The remote's branch is not where it was believed to be.",
    "Sync the repository, and look who moved the branch.",
    "later",
  ],
  [
    /\[(remote )?rejected\]|hook declined|remote: error: GH\d+/,
    "remote-refused",
    "The remote refused.",
    "Read what the remote says; it decides.",
  ],
  [
    /Authentication failed|Permission denied|could not read (Username|Password)|terminal prompts disabled|Repository not found|repository '.*' not found|returned error: 40[134]|Permission to .* denied|Host key verification failed|does not appear to be a git repository/i,
    "remote-refused",
    "The remote let nobody in.",
    "Try it by hand in the repository, without being asked for a password: git ls-remote",
  ],
  [
    /Could not resolve|unable to access|Connection (refused|timed out|reset|closed)|Network is unreachable|No route to host|Failed to connect|Couldn't connect|timed out|Temporary failure|returned error: 5\d\d|early EOF|hung up unexpectedly|Could not read from remote repository|unexpected disconnect|SSL_/i,
    "remote-unreachable",
    "The remote cannot be reached.",
    "Look at the network and at the remote's address.",
    "later",
  ],
];

const ofRepositories: readonly Known[] = [
  [
    /exists; cannot create|cannot lock ref .*(there are still|non-empty directory)/,
    "bad-ref",
    "A ref cannot have this name, because another one lies above or below it.",
    "Rename one of the two branches.",
  ],
  [
    /is at [0-9a-f]+ but expected|reference already exists|unable to resolve reference/,
    "ref-moved",
    "The ref is not where it was believed to be.",
    "Look where it is now, and do it again from there.",
    "later",
  ],
  [
    /refusing to fetch into|already checked out at/,
    "checked-out-elsewhere",
    "The branch is checked out.",
    "Look where: git worktree list",
    "later",
  ],
  [
    /dubious ownership/,
    "foreign-owner",
    "% belongs to somebody else, and git does not trust it.",
    "Give the folder to the user that the daemon runs as.",
  ],
  [
    /not a git repository|does not appear to be a git repository/i,
    "not-a-repository",
    "% is no git repository, or refers to none.",
    "Look where the repository is now, and update the project.",
  ],
  [
    /empty ident|tell me who you are|auto-detect email|no (name|email) was given|ident name .*not allowed/i,
    "no-identity",
    "git does not know who commits.",
    'Tell it: git config --global user.name "Your Name", then git config --global user.email you@example.org',
  ],
  [
    /shallow roots are not allowed|shallow update not allowed/,
    "shallow",
    "The repository has only a part of its history.",
    "Bring in the rest: git fetch --unshallow",
  ],
  [
    /lazy fetching disabled|promisor remote/,
    "incomplete",
    "The repository is a partial clone: some of its objects are elsewhere.",
    "Bring in the rest: git fetch --refetch --no-filter",
  ],
  [
    /Not possible to fast-forward|unrelated histories|\(non-fast-forward\)/,
    "diverged",
    "The two histories have gone apart.",
    "Merge the one into the other first.",
  ],
  [
    /couldn't find remote ref|not our ref|bad revision|valid (object|commit) name|unknown revision|Needed a single revision|bad object|invalid ref|not a commit|ambiguous argument/i,
    "bad-ref",
    "There is no such branch or commit in %.",
    "Look what is there: git branch --all",
  ],
];
