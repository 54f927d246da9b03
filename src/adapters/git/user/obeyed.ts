import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import type { Obeyed } from "../../../ports/git.ts";
import { targetAt } from "../entry-at.ts";
import { splitNul } from "../file-name.ts";
import type { GitPlace, RunGit } from "../git-runner.ts";
import { masked } from "../masked.ts";
import { commonFolderOf } from "./git-folders.ts";

/** What was found, and how the files looked in which it was found. */
interface Seen {
  readonly obeyed: Obeyed;
  readonly paths: readonly string[];
  readonly looks: string;
}

/** Every transition asks for it: where no file looks different from the last time, nothing is read. */
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
  /** False where what is obeyed depends on more than these files. */
  readonly isLasting: boolean;
}

/** Reading the configuration runs nothing; `--includes` brings in the files that it names. */
async function look(run: RunGit, repository: string): Promise<Look> {
  const place: GitPlace = { folder: repository, configuration: "user" };
  const folder = await commonFolderOf(run, place);
  const { stdout } = await run(place, ["config", "--list", "--show-scope", "--show-origin", "--includes", "-z"]);
  const settings = settingsIn(splitNul(stdout), repository);
  const parts: Record<string, string> = {};
  for (const { key, content } of settings) {
    if (!isBookkeeping(key)) parts[masked(key)] = hashOf(parts[masked(key)] ?? "", content);
  }
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
    // The file need not be there yet.
    if (/^include(if\..*)?\.path$/.test(key)) paths.add(includedPath(file, valueIn(content)));
  }
  return {
    obeyed: { fingerprint: hashOf("", Buffer.from(JSON.stringify(sorted))), parts: sorted },
    paths: [...paths],
    isLasting: !settings.some(({ key }) => key.startsWith("includeif.")),
  };
}

interface Setting {
  readonly file: string;
  readonly key: string;
  /** With its name, as git prints it. */
  readonly content: Buffer;
}

function settingsIn(parts: readonly Buffer[], repository: string): readonly Setting[] {
  const settings: Setting[] = [];
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const [scope, origin, content = Buffer.alloc(0)] = parts.slice(at, at + 3);
    // The rest is the user's own, and out of reach for whoever writes to the repository.
    if (!["local", "worktree"].includes(String(scope))) continue;
    const file = resolve(repository, String(origin).replace(/^file:/, ""));
    settings.push({ file, key: String(content).split("\n", 1)[0] ?? "", content });
  }
  return settings;
}

/** What git itself writes with every branch that is pushed or checked out. We never do what these say. */
function isBookkeeping(key: string): boolean {
  return /^branch\..*\.(remote|pushremote|merge|rebase|description|[\w-]+-merge-base)$/s.test(key);
}

function valueIn(content: Buffer): string {
  const text = String(content);
  return text.slice(text.indexOf("\n") + 1);
}

function includedPath(from: string, path: string): string {
  return resolve(dirname(from), path.replace(/^~(?=\/)/, homedir()));
}

/** Samples are never run. */
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

/** Only files: reading from something else may never end. */
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
 * A file that was changed a moment ago may change again without looking different, because clocks of file systems are
 * coarse; after `settledAt` (milliseconds since 1970) none of these can any more.
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

// How long two changes may look the same, in milliseconds: where only seconds are told, and where parts of them are.
const wholeSeconds = 2_000;
const parts = 50;
