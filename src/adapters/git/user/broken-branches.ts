import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { BrokenBranch } from "../../../ports/git.ts";
import { shellQuote } from "../../../shell-quote.ts";
import { findFolders, readSmall } from "../git-folder.ts";
import { isObjectId } from "../names.ts";
import type { RunGit } from "../runner.ts";

const heads = "refs/heads/";

/** Finds branches of a repository that git cannot read: with a file that names no commit, or with a missing commit. */
export function createBrokenBranches(run: RunGit) {
  return async (repository: string): Promise<readonly BrokenBranch[]> => {
    const folder = await realpath(repository).catch(() => repository);
    const found = await findFolders(folder);
    if (found === undefined) return [];
    const { commonFolder } = found;
    const place = { folder: commonFolder, gitDir: commonFolder, configuration: "ours" } as const;
    const format = "--format=%(objectname) %(refname)";
    const { stdout, stderr } = await run(place, ["for-each-ref", format, heads], { env: { GIT_REF_PARANOIA: "1" } });
    const unreadable = [...stderr.matchAll(/^warning: ignoring broken ref refs\/heads\/(.+)$/gm)];
    const tips = stdout
      .toString("utf8")
      .split("\n")
      .flatMap((line) => {
        const [id = "", ref = ""] = line.split(" ");
        return isObjectId(id) ? [{ id, name: ref.slice(heads.length) }] : [];
      });
    const missing = await missingObjects(run, place, [...new Set(tips.map(({ id }) => id))]);
    return [
      ...(await Promise.all(unreadable.map(([, name = ""]) => garbled(folder, commonFolder, name)))),
      ...tips.filter(({ id }) => missing.has(id)).map(({ id, name }) => dangling(folder, name, id)),
    ];
  };
}

type Place = Parameters<RunGit>[0];

async function missingObjects(run: RunGit, place: Place, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const input = Buffer.from(ids.map((id) => `${id}\n`).join(""));
  const { stdout } = await run(place, ["cat-file", "--batch-check=%(objectname) %(objecttype)"], { input });
  const lines = stdout.toString("latin1").split("\n");
  return new Set(lines.flatMap((line) => (line.endsWith(" missing") ? [line.split(" ")[0] ?? ""] : [])));
}

/** Git itself cannot delete such a branch. */
async function garbled(folder: string, commonFolder: string, name: string): Promise<BrokenBranch> {
  const file = join(commonFolder, heads, name);
  const log = (await readSmall(join(commonFolder, "logs", heads, name), maxLogSize)) ?? "";
  const last = log.trimEnd().split("\n").at(-1)?.split(" ")[1] ?? "";
  const again = isObjectId(last) ? ` && ${shellQuote(["git", "-C", folder, "branch", name, last])}` : "";
  return { name, reason: "its file names no commit", fix: `${shellQuote(["rm", file])}${again}` };
}

const maxLogSize = 16 * 1024 * 1024;

function dangling(folder: string, name: string, id: string): BrokenBranch {
  const reason = `its commit ${id.slice(0, 12)} is missing`;
  return { name, reason, fix: shellQuote(["git", "-C", folder, "update-ref", "-d", `${heads}${name}`]) };
}
