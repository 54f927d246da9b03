import { join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { Person } from "../../../ports/git.ts";
import { findFolders, readFileAt } from "../git-folder.ts";
import type { RunGit } from "../runner.ts";
import { ignoreFileOf } from "../settings.ts";
import { withoutBlocks } from "./git-files.ts";

/** What a clone takes over from the user's repository, so that an agent commits there as it would in a worktree. */
export interface UserSettings {
  /** The author, how commits are signed, and the addresses of submodules: `user.name`, `submodule.lib.url`. */
  readonly config: readonly (readonly [key: string, value: string])[];
  /** The lines of the repository's own exclude file, one character for each byte. */
  readonly excluded: string;
  /** The user's global ignore file, which need not exist. */
  readonly ignoreFile: string | undefined;
}

export const noSettings: UserSettings = { config: [], excluded: "", ignoreFile: undefined };

type Environment = Readonly<Record<string, string | undefined>>;

interface SettingsPorts {
  readonly run: RunGit;
  readonly env: Environment;
  identityOf(repository: string): Promise<Person>;
}

/** How long settings are used before they are read again, in milliseconds. */
const maxAge = 10_000;

/**
 * Reads the settings of a repository, and reads them again when they are older than `maxAge`. Runs no command of the
 * repository's. While the settings cannot be read, the last known ones apply.
 */
export function createUserSettings(ports: SettingsPorts, repository: string): () => Promise<UserSettings> {
  let known = noSettings;
  let readAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = performance.now();
    if (now - readAt < maxAge) return known;
    try {
      known = await readSettings(ports, repository);
      // A person who is told that git has no identity sets it, and tries again at once.
      if (known.config.some(([key]) => key === "user.email")) readAt = now;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
    return known;
  };
}

async function readSettings({ run, env, identityOf }: SettingsPorts, repository: string): Promise<UserSettings> {
  const [person, config, ignoreFile, excluded] = await Promise.all([
    identityOf(repository).catch(noIdentity),
    readConfig(run, repository),
    readIgnoreFile(run, repository, env),
    readExcluded(repository),
  ]);
  const own = person === undefined ? [] : [["user.name", person.name] as const, ["user.email", person.email] as const];
  return { config: [...own, ...config], excluded, ignoreFile };
}

/** A missing identity is not an error here: the agent's own commit fails, as it would in the user's repository. */
function noIdentity(error: unknown): undefined {
  if (error instanceof Fault) return undefined;
  throw error;
}

async function readExcluded(repository: string): Promise<string> {
  const folders = await findFolders(repository);
  const bytes = folders && (await readFileAt(join(folders.commonFolder, "info", "exclude"), maxExcludeSize));
  return bytes === undefined || typeof bytes === "string" ? "" : withoutBlocks(bytes.toString("latin1"));
}

const maxExcludeSize = 1024 * 1024;

const carried = /^(user\.signingkey|commit\.gpgsign|tag\.gpgsign|gpg\.format|submodule\.[^\n]+\.url)$/;

/** An address with a password stays out of agents' reach. */
const hasPassword = /:\/\/[^/@]*:[^/@]*@/;

async function readConfig(run: RunGit, repository: string): Promise<UserSettings["config"]> {
  const asked = "^(user\\.signingkey|commit\\.gpgsign|tag\\.gpgsign|gpg\\.format|submodule\\..*\\.url)$";
  const { stdout } = await run(
    { folder: repository, configuration: "user" },
    ["config", "--null", "--show-scope", "--get-regexp", asked],
    { accepts: [0, 1] },
  );
  const parts = stdout.toString("utf8").split("\0");
  const found = new Map<string, string>();
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const [scope, entry = ""] = [parts[i], parts[i + 1]];
    const end = entry.indexOf("\n");
    const key = end === -1 ? entry : entry.slice(0, end);
    // Without a value the setting is true.
    const value = end === -1 ? "true" : entry.slice(end + 1);
    // Our own flags have the scope `command`.
    if (scope !== "command" && carried.test(key) && !hasPassword.test(value)) found.set(key, value);
  }
  return [...found];
}

async function readIgnoreFile(run: RunGit, repository: string, env: Environment): Promise<string | undefined> {
  const { code, stdout } = await run(
    { folder: repository, configuration: "user" },
    ["config", "--null", "--type=path", "--get", "core.excludesFile"],
    { accepts: [0, 1] },
  );
  const set = stdout.toString("utf8").replace(/\0$/, "");
  if (code === 0) return set === "" ? undefined : set;
  return ignoreFileOf(env);
}
