import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import type { Obeyed } from "../../../ports/git.ts";
import { masked } from "../faults.ts";
import { targetAt } from "../file-entries.ts";
import { splitNul } from "../names.ts";
import type { GitPlace, RunGit } from "../runner.ts";
import { commonFolderOf } from "./repository.ts";

/** A cached answer, with the state of the files that it was read from. */
interface Seen {
  readonly obeyed: Obeyed;
  readonly paths: readonly string[];
  readonly looks: string;
}

/**
 * Reads the settings and hooks of a repository that git obeys when it runs there. The answer is cached, because every
 * transition asks for it: the files are read again only if the stat of one of them has changed.
 */
export function createObeyed(run: RunGit): (repository: string) => Promise<Obeyed> {
  const seen = new Map<string, Seen>();
  return async (repository) => {
    const before = seen.get(repository);
    if (before !== undefined && looksOf(before.paths).text === before.looks) return before.obeyed;
    const start = Date.now();
    const { obeyed, paths, isLasting } = await look(run, repository);
    const looks = looksOf(paths);
    if (isLasting && looks.settledAt < start) seen.set(repository, { obeyed, paths, looks: looks.text });
    else seen.delete(repository);
    return obeyed;
  };
}

interface Look {
  readonly obeyed: Obeyed;
  readonly paths: readonly string[];
  /** False if the answer depends on more than these files, and cannot be cached. */
  readonly isLasting: boolean;
}

/** `git config --list` runs no command of the repository's; `--includes` also lists the settings of included files. */
async function look(run: RunGit, repository: string): Promise<Look> {
  const place: GitPlace = { folder: repository, configuration: "user" };
  const folder = await commonFolderOf(run, place);
  const { stdout } = await run(place, ["config", "--list", "--show-scope", "--show-origin", "--includes", "-z"]);
  const settings = settingsIn(splitNul(stdout), repository);
  const parts: Record<string, string> = {};
  const others = new Set<string>();
  for (const { key, content } of settings) {
    if (isBookkeeping(key)) continue;
    parts[masked(key)] = hashOf(parts[masked(key)] ?? "", content);
    if (!isNetworkRemote(key, valueIn(content))) others.add(masked(key));
  }
  const remotes = Object.keys(parts).filter((name) => !others.has(name));
  const hooks = join(folder, "hooks");
  const files = [join(folder, "info", "attributes"), ...hooksIn(hooks)];
  for (const path of files) {
    const content = contentOf(path);
    if (content !== undefined) parts[relative(folder, path)] = hashOf("", content);
  }
  const sorted = Object.fromEntries(Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1)));
  const paths = new Set([join(folder, "config"), join(folder, "config.worktree"), hooks, ...files]);
  for (const { file, key, content } of settings) {
    paths.add(file);
    // The included file may not exist yet.
    if (/^include(if\..*)?\.path$/.test(key)) paths.add(includedPath(file, valueIn(content)));
  }
  return {
    obeyed: { fingerprint: hashOf("", Buffer.from(JSON.stringify(sorted))), parts: sorted, remotes },
    paths: [...paths],
    isLasting: !settings.some(({ key }) => key.startsWith("includeif.")),
  };
}

interface Setting {
  readonly file: string;
  readonly key: string;
  /** Key and value, as git prints them. */
  readonly content: Buffer;
}

function settingsIn(parts: readonly Buffer[], repository: string): readonly Setting[] {
  const settings: Setting[] = [];
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const [scope, origin, content = Buffer.alloc(0)] = parts.slice(at, at + 3);
    // Other scopes are the user's own: an agent that writes to the repository cannot change them.
    if (!["local", "worktree"].includes(String(scope))) continue;
    const file = resolve(repository, String(origin).replace(/^file:/, ""));
    settings.push({ file, key: String(content).split("\n", 1)[0] ?? "", content });
  }
  return settings;
}

/** Keys that git itself writes with every branch that is pushed or checked out. We never act on them. */
function isBookkeeping(key: string): boolean {
  return /^branch\..*\.(remote|pushremote|merge|rebase|description|[\w-]+-merge-base)$/s.test(key);
}

/**
 * Whether a setting only says where a remote on a network is, or which branches belong to it. Other settings of a remote
 * name programs (`uploadpack`, `receivepack`, `vcs`, `proxy`) or let git fetch by itself (`promisor`). An address may name a
 * program too (`ext::`), or a folder, whose hooks git runs at a push.
 */
export function isNetworkRemote(key: string, value: string): boolean {
  const [, name] = /^remote\..+\.(url|pushurl|fetch)$/s.exec(key) ?? [];
  if (name === undefined) return false;
  return name === "fetch" || networkAddress.test(value);
}

// `https://host/path`, `ssh://user@host/path`, `user@host:path`. Neither `helper::address` nor an option in place of a host.
const networkAddress = /^(?:(?:https?|ssh|git):\/\/(?:[^\s/@]*@)?[\w[]\S*|(?:[\w.-]+@)?\w[\w.-]*:(?!:|\/\/)\S+)$/i;

function valueIn(content: Buffer): string {
  const text = String(content);
  return text.slice(text.indexOf("\n") + 1);
}

function includedPath(from: string, path: string): string {
  return resolve(dirname(from), path.replace(/^~(?=\/)/, homedir()));
}

/** Git never runs the samples. */
function hooksIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => !name.endsWith(".sample"))
      .sort()
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Reads regular files only: reading anything else may never end. */
function contentOf(path: string): Buffer | undefined {
  const found = targetAt(path);
  if (found === undefined) return undefined;
  if (!found.isFile()) return Buffer.from("no file");
  return Buffer.concat([Buffer.from(`${(found.mode & 0o777).toString(8)} `), readFileSync(path)]);
}

function hashOf(before: string, content: Uint8Array): string {
  return createHash("sha256").update(before).update(content).digest("hex");
}

/**
 * A file that was changed a moment ago may change again with the same timestamp, because file systems have coarse
 * clocks. After `settledAt` (milliseconds since 1970) every further change shows.
 */
function looksOf(paths: readonly string[]): { readonly text: string; readonly settledAt: number } {
  let settledAt = 0;
  const looks = paths.map((path) => {
    try {
      const { ino, dev, size, mode, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
      const grain = ctimeNs % 1_000_000_000n === 0n ? wholeSeconds : parts;
      settledAt = Math.max(settledAt, Number(ctimeNs / 1_000_000n) + grain);
      return [dev, ino, size, mode, mtimeNs, ctimeNs].join(" ");
    } catch (error) {
      return String((error as NodeJS.ErrnoException).code);
    }
  });
  return { text: looks.join("\n"), settledAt };
}

// How long two changes may have the same timestamp, in milliseconds: with whole seconds, and with parts of them.
const wholeSeconds = 2_000;
const parts = 50;
