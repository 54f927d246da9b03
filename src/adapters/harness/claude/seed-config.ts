import { randomBytes } from "node:crypto";
import { mkdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault } from "../../../fault.ts";
import { type Json, objectOf } from "../read-json.ts";
import { withConfigLock } from "./config-lock.ts";
import { repositoryOf } from "./repository-of.ts";

export interface Seeds {
  /** The program's own file: `~/.claude.json`. */
  readonly file: string;
  /** Where the run works. */
  readonly folder: string;
  /** The key that it is given; empty where it uses an account. */
  readonly apiKey: string;
}

/**
 * Says in the program's configuration what it would ask before its first prompt: whether the folder is trusted, whether
 * the key is meant. Only what is missing is added.
 */
export async function seedConfig({ file, folder, apiKey }: Seeds): Promise<void> {
  const folders = [...new Set([folder, await realpath(folder).catch(() => folder)])];
  const target = await realpath(file).catch(() => file);
  const repository = await repositoryOf(folder);
  const seeded = (config: Json) => {
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

function isSame(config: Json, change: (config: Json) => Json): boolean {
  return JSON.stringify(change(config)) === JSON.stringify(config);
}

const isTrusted: Json = { hasTrustDialogAccepted: true };
/** Files outside of it stay outside, whatever its CLAUDE.md wants to have read; unless a person has said otherwise. */
const keepsOutside: Json = { hasClaudeMdExternalIncludesWarningShown: true };

function withProject(config: Json, folder: string, said: Json): Json {
  const projects = objectOf(config.projects);
  const project = Object.hasOwn(projects, folder) ? objectOf(projects[folder]) : {};
  if (Object.entries(said).every(([name, value]) => project[name] === value)) return config;
  const others = Object.entries(projects).filter(([name]) => name !== folder);
  // Never by assignment: a folder may be called `__proto__`.
  return { ...config, projects: Object.fromEntries([...others, [folder, { ...project, ...said }]]) };
}

/** It remembers keys by their last 20 characters. A key that a person has refused stays refused. */
function withKey(config: Json, apiKey: string): Json {
  const end = apiKey.slice(-20);
  const responses = objectOf(config.customApiKeyResponses);
  const approved = Array.isArray(responses.approved) ? responses.approved : [];
  const rejected = Array.isArray(responses.rejected) ? responses.rejected : [];
  if (end === "" || approved.includes(end) || rejected.includes(end)) return config;
  return { ...config, customApiKeyResponses: { ...responses, approved: [...approved, end], rejected } };
}

async function readConfig(file: string): Promise<Json> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw unreadable(file, error);
  });
  if (text.trim() === "") return {};
  try {
    return objectOf(JSON.parse(text));
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

/** Whole or not at all: whoever reads meanwhile sees the old file or the new one. */
async function publish(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}-${randomBytes(4).toString("hex")}.draft`;
  const mode = (await stat(file).catch(() => undefined))?.mode ?? 0o600;
  try {
    await writeFile(draft, text, { flag: "wx", mode: mode & 0o777, flush: true });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw new Fault("harness.configuration", `Claude Code's configuration ${file} cannot be written.`, {
      hint: "Check the folder's permissions and the free space.",
      cause: error,
    });
  }
}
