import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { targetAt } from "../entry-at.ts";
import { splitNul } from "../file-name.ts";
import type { GitPlace, RunGit } from "../git-runner.ts";

/** Reading the configuration runs nothing; `--includes` brings in the files that it names. */
export async function fingerprint(run: RunGit, repository: string): Promise<string> {
  const place: GitPlace = { folder: repository, configuration: "user" };
  const common = await ask(run, place, ["rev-parse", "--git-common-dir"]);
  const folder = resolve(repository, common.toString("utf8").replace(/\n$/, ""));
  const hash = createHash("sha256");
  const settings = splitNul(await ask(run, place, ["config", "--list", "--show-scope", "--includes", "-z"]));
  for (let at = 0; at < settings.length; at += 2) {
    // The rest is the user's own, and out of reach for whoever writes to the repository.
    if (!["local", "worktree"].includes(String(settings[at]))) continue;
    for (const part of settings.slice(at, at + 2)) hash.update(part).update("\0");
  }
  for (const path of [join(folder, "info", "attributes"), ...filesIn(join(folder, "hooks"))]) {
    hash.update(`${path}\0`).update(contentOf(path)).update("\0");
  }
  return hash.digest("hex");
}

async function ask(run: RunGit, place: GitPlace, args: readonly string[]): Promise<Buffer> {
  return (await run(place, args)).stdout;
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .sort()
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Only files: reading from something else may never end. */
function contentOf(path: string): Buffer {
  const found = targetAt(path);
  if (!found?.isFile()) return Buffer.from(found === undefined ? "missing" : "no file");
  return Buffer.concat([Buffer.from(`${(found.mode & 0o777).toString(8)} `), readFileSync(path)]);
}
