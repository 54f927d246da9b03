import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { lstat, readdir, readFile, readlink, realpath, rm } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { ControlRepository } from "../../ports/control-repository.ts";

/** Where package managers put the programs that they install. */
const programFolders = ["node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin"];

/** The installed programs that test commands call, by their paths, with a hash of each program and its package. */
export type Runners = Readonly<Record<string, string>>;

/** Limits, because an agent can fill a folder with anything. */
const maxFiles = 5_000;
const maxBytes = 64 * 1024 * 1024;

/**
 * Finds the installed programs that the words of test commands name. Programs outside of the folder, and packages that a
 * runner loads, are not included.
 */
export async function findRunners(folder: string, wordsOf: () => Promise<Iterable<string>>): Promise<Runners> {
  // Most workspaces have none, and then the words need not be found.
  if (!programFolders.some((place) => existsSync(join(folder, place)))) return {};
  const names = [...new Set(await wordsOf())]
    .map((word) => word.replace(/^(?:\.\/)?(?:[\w.-]+\/)*/, ""))
    .filter(isPlain);
  const found: [string, string][] = [];
  for (const place of programFolders) {
    const programs = new Set(await namesIn(join(folder, place)));
    for (const name of new Set(names))
      if (programs.has(name)) found.push([`${place}/${name}`, await hashOf(folder, place, name)]);
  }
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The paths of runners that are new, changed or gone. */
export function changedRunners(before: Runners, now: Runners): readonly string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...paths].filter((path) => before[path] !== now[path]).sort();
}

/**
 * Removes the folders in which these programs are installed, so that the setup installs them again. Folders that the commit
 * contains stay: git has put them there.
 */
export async function removeInstalled(
  control: Pick<ControlRepository, "listFiles">,
  commit: string,
  folder: string,
  paths: readonly string[],
): Promise<void> {
  if (paths.length === 0) return;
  const tracked = new Set((await control.listFiles(commit, "")).map(({ name }) => name));
  for (const top of new Set(paths.map((path) => path.split("/")[0] ?? "")))
    if (top !== "" && !tracked.has(top)) await rm(join(folder, top), { recursive: true, force: true });
}

function isPlain(name: string): boolean {
  return /^[\w@.-]+$/.test(name) && !/^\.+$/.test(name);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}

async function hashOf(folder: string, place: string, name: string): Promise<string> {
  const hash = createHash("sha256");
  const budget = { files: maxFiles, bytes: maxBytes };
  const program = join(folder, place, name);
  await addTo(hash, program, name, budget);
  for (const each of await packagesOf(folder, place, name, program))
    await addTo(hash, each, relative(folder, each), budget);
  return hash.digest("hex");
}

/** The folders of the package that a program belongs to, as far as they are in this folder. */
async function packagesOf(folder: string, place: string, name: string, program: string): Promise<readonly string[]> {
  if (place.endsWith("node_modules/.bin")) {
    const [root, target] = await Promise.all([realpath(folder), realpath(program).catch(() => "")]);
    const path = relative(root, target).split(sep);
    const at = path.lastIndexOf("node_modules");
    if (at === -1 || path[0] === "..") return [];
    const length = path[at + 1]?.startsWith("@") ? 3 : 2;
    return [join(root, ...path.slice(0, at + length))];
  }
  const parent = join(folder, place, "..");
  if (place === "vendor/bin") return [join(parent, name)];
  const versions = (await namesIn(join(parent, "lib"))).map((version) => join(parent, "lib", version, "site-packages"));
  return versions.flatMap((each) => [join(each, name), join(each, `_${name}`), join(each, `${name}.py`)]);
}

type Budget = { files: number; bytes: number };

/** Adds names and contents, in order. Links are added as what they say, and not followed. */
async function addTo(hash: ReturnType<typeof createHash>, path: string, name: string, budget: Budget): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || budget.files-- <= 0) return;
  hash.update(`${name}\0${found.mode}\0`);
  if (found.isSymbolicLink()) hash.update(await readlink(path));
  else if (found.isFile()) {
    budget.bytes -= found.size;
    hash.update(budget.bytes < 0 ? `${found.size} ${found.mtimeMs}` : await readFile(path));
  } else if (found.isDirectory())
    for (const each of (await readdir(path)).sort()) await addTo(hash, join(path, each), each, budget);
}
