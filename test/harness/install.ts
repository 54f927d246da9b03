import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Pinned, pinned } from "./pinned.ts";

/** Installs a program into a separate folder unless it is there already; returns its path. */
export function install(name: Pinned): string {
  const { package: from, version, program } = pinned[name];
  const folder = join(cacheFolder(), name);
  const path = join(folder, "node_modules", ".bin", program);
  if (existsSync(path) && installedVersion(folder, from) === version) return path;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ name: `harness-${name}`, private: true })}\n`);
  process.stderr.write(`installing ${from}@${version}\n`);
  const { status, stderr } = spawnSync(
    "npm",
    ["install", "--no-audit", "--no-fund", "--save-exact", "--prefix", folder, `${from}@${version}`],
    { cwd: folder, encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] },
  );
  if (status !== 0 || !existsSync(path)) throw new Error(`${from}@${version} could not be installed:\n${stderr}`);
  return path;
}

/** The folder with all downloads, shared by all test runs. */
export function cacheFolder(): string {
  return resolve(process.env.SIGNALBOX_HARNESS_CACHE ?? join(import.meta.dirname, "..", "..", ".harness"));
}

function installedVersion(folder: string, name: string): string {
  try {
    return JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version;
  } catch {
    return "";
  }
}
