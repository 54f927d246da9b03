import { existsSync } from "node:fs";
import { mkdir, readFile, realpath, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { writeWhole } from "../../../durable-file.ts";
import { Fault } from "../../../fault.ts";
import { gitFoldersOf } from "../../../git-folder.ts";
import { type JsonObject, objectOf, parseJson } from "../../../json.ts";

/** The age at which an untouched lock counts as left behind by a dead process. Claude Code uses the same value. */
const stale = 10_000;
const lockTimeout = 60_000;

/** Calls `act` while holding the lock of a file: a folder beside it, in the way that Claude Code itself locks it. */
async function withConfigLock<Result>(file: string, act: () => Promise<Result>): Promise<Result> {
  const lock = `${file}.lock`;
  const until = Date.now() + lockTimeout;
  while (!(await take(lock))) {
    if (Date.now() > until)
      throw new Fault("harness.locked", `${file} is locked by another program.`, {
        retry: "later",
        hint: `If Claude Code is not running, delete ${lock}.`,
      });
    await sleep(20 + Math.random() * 30);
  }
  try {
    return await act();
  } finally {
    await rmdir(lock).catch(() => undefined);
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const found = await stat(lock).catch(() => undefined);
  if (found !== undefined && Date.now() - found.mtimeMs > stale) await rm(lock, { recursive: true, force: true });
  return false;
}

/**
 * The repository of a worktree: the folder above its `.git`, or the repository itself if it is bare. Empty if the
 * folder is not a worktree. Claude Code stores some settings of a worktree under this name.
 */
async function repositoryOf(folder: string): Promise<string> {
  const found = gitFoldersOf(folder);
  if (!found?.isLinked) return "";
  const repository = await realpath(found.commonFolder).catch(() => "");
  return basename(repository) === ".git" ? dirname(repository) : repository;
}

interface Seeds {
  /** Claude Code's own file: `~/.claude.json`. */
  readonly file: string;
  /** Where the run works. */
  readonly folder: string;
  /** The API key of the run; empty if it uses an account. */
  readonly apiKey: string;
}

/**
 * Answers in Claude Code's configuration what it would ask before its first prompt: whether the folder is trusted and
 * whether to use the key. Adds missing entries only.
 */
export async function seedConfig({ file, folder, apiKey }: Seeds): Promise<void> {
  const folders = [...new Set([folder, await realpath(folder).catch(() => folder)])];
  const target = await realpath(file).catch(() => file);
  const repository = await repositoryOf(folder);
  const seeded = (config: JsonObject) => {
    const known = withKey({ ...config, hasCompletedOnboarding: true }, apiKey);
    const trusted = folders.reduce((so, each) => withProject(so, each, { ...isTrusted, ...keepsOutside }), known);
    return repository === "" ? trusted : withProject(trusted, repository, keepsOutside);
  };
  if (isSame(await readConfig(target), seeded)) return;
  await mkdir(dirname(target), { recursive: true });
  await withConfigLock(target, async () => {
    const config = await readConfig(target);
    if (!isSame(config, seeded)) await publish(target, `${JSON.stringify(seeded(config), undefined, 2)}\n`);
  });
}

function isSame(config: JsonObject, change: (config: JsonObject) => JsonObject): boolean {
  return JSON.stringify(change(config)) === JSON.stringify(config);
}

const isTrusted: JsonObject = { hasTrustDialogAccepted: true };
/** CLAUDE.md may not include files from outside the folder, unless the user has allowed it. */
const keepsOutside: JsonObject = { hasClaudeMdExternalIncludesWarningShown: true };

function withProject(config: JsonObject, folder: string, said: JsonObject): JsonObject {
  const projects = objectOf(config.projects);
  const project = Object.hasOwn(projects, folder) ? objectOf(projects[folder]) : {};
  if (Object.entries(said).every(([name, value]) => project[name] === value)) return config;
  const others = Object.entries(projects).filter(([name]) => name !== folder);
  // Not by assignment: a folder may be called `__proto__`.
  return { ...config, projects: Object.fromEntries([...others, [folder, { ...project, ...said }]]) };
}

/** Claude Code stores the last 20 characters of keys. A key that the user has rejected stays rejected. */
function withKey(config: JsonObject, apiKey: string): JsonObject {
  const end = apiKey.slice(-20);
  const responses = objectOf(config.customApiKeyResponses);
  const approved = Array.isArray(responses.approved) ? responses.approved : [];
  const rejected = Array.isArray(responses.rejected) ? responses.rejected : [];
  if (end === "" || approved.includes(end) || rejected.includes(end)) return config;
  return { ...config, customApiKeyResponses: { ...responses, approved: [...approved, end], rejected } };
}

async function readConfig(file: string): Promise<JsonObject> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw unreadable(file, error);
  });
  if (text.trim() === "") return {};
  try {
    return objectOf(parseJson(text));
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, cause: unknown): Fault {
  return new Fault("harness.configuration", `Claude Code's configuration ${file} cannot be read.`, {
    hint: "Start `claude` yourself once: it repairs the file, or restores it from ~/.claude/backups.",
    cause,
  });
}

async function publish(file: string, text: string): Promise<void> {
  try {
    // A new file is private: it may contain keys.
    await writeWhole(file, text, { mode: existsSync(file) ? "kept" : 0o600 });
  } catch (error) {
    throw new Fault("harness.configuration", `Claude Code's configuration ${file} cannot be written.`, {
      hint: "Check the folder's permissions and the free space.",
      cause: error,
    });
  }
}
