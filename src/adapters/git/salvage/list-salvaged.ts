import { Fault } from "../../../fault.ts";
import type { Salvaged } from "../../../ports/control-repository.ts";
import type { ControlGit } from "../control/control-git.ts";
import { fileName, splitNul } from "../file-name.ts";
import { listRefs } from "../list-refs.ts";
import { salvageFolder } from "./salvage.ts";
import { emptyTree } from "./take-tree.ts";

/** One that git cannot read is listed as that, and keeps no other from being read. */
export async function listSalvaged(control: ControlGit): Promise<readonly Salvaged[]> {
  const found: Salvaged[] = [];
  for (const [ref, commit] of await salvageRefs(control)) found.push(await readSalvaged(control, ref, commit));
  return found.sort((a, b) => b.at - a.at);
}

/** Read from the files: git leaves out refs whose commit is missing. Git is asked where the files do not say it plainly. */
async function salvageRefs(control: ControlGit): Promise<readonly (readonly [string, string])[]> {
  const listed = await listRefs(control.folder, salvageFolder);
  if (listed !== undefined)
    return [...listed].map(([name, id]) => [salvageFolder + Buffer.from(name, "latin1").toString("utf8"), id]);
  // No more is asked for than this: git gives up at the first commit that it cannot read.
  const args = ["for-each-ref", "--format=%(objectname) %(refname)", "--end-of-options", salvageFolder];
  const lines = (await control.git(args)).stdout.toString("utf8").split("\n");
  return lines
    .filter((line) => line !== "")
    .map((line) => [line.slice(line.indexOf(" ") + 1), line.split(" ")[0] ?? ""]);
}

async function readSalvaged(control: ControlGit, ref: string, commit: string): Promise<Salvaged> {
  const [task = ""] = ref.slice(salvageFolder.length).split("/");
  try {
    const { stdout } = await control.git(["log", "-1", "--format=%ct %P", "--end-of-options", commit]);
    const [seconds = "", ...parents] = stdout.toString("latin1").trimEnd().split(" ");
    const [parent = ""] = parents;
    if (seconds === "") throw new Fault("git.no-commit", `${commit} is no commit.`);
    // What was salvaged from a branch without a commit, or from files without a repository, lies on nothing.
    const first = parent === "" ? undefined : parent;
    const inside = await repositoriesIn(control, commit);
    const isInside = new Set(inside.map((each) => each.commit));
    const changed = (await changedBlobs(control, first, commit)).filter((id) => !isInside.has(id));
    const size = await sizeOf(control, changed);
    const on = first === undefined || isInside.has(first) ? "" : await subjectOf(control, first);
    const repositories = inside.map(({ path }) => fileName(path).text);
    return { ref, commit, task, at: Number(seconds) * 1000, files: changed.length, size, on, repositories };
  } catch (error) {
    if (!(error instanceof Fault) || error.retry === "later") throw error;
    return { ref, commit, task, at: 0, files: 0, size: 0, on: "", repositories: [], problem: error.message };
  }
}

/** The repositories that were saved with a commit: they stand in its tree, and are parents of it. */
export async function repositoriesIn(
  control: ControlGit,
  commit: string,
): Promise<readonly { readonly path: Buffer; readonly commit: string }[]> {
  const { stdout } = await control.git(["log", "-1", "--format=%P", "--end-of-options", commit]);
  const parents = new Set(stdout.toString("latin1").trim().split(" "));
  const listed = await control.git(["ls-tree", "-r", "-z", "--end-of-options", commit], { isLong: true });
  return splitNul(listed.stdout).flatMap((line) => {
    const [mode, , id = ""] = line.toString("latin1", 0, line.indexOf("\t")).split(" ");
    return mode === "160000" && parents.has(id) ? [{ path: line.subarray(line.indexOf("\t") + 1), commit: id }] : [];
  });
}

/** Of every file that is different, what it is now; of one that is gone, an id of zeros. */
async function changedBlobs(control: ControlGit, from: string | undefined, to: string): Promise<readonly string[]> {
  const base = from ?? (await emptyTree(control));
  const { stdout } = await control.git(["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", base, to], {
    isLong: true,
  });
  // Each file has two parts: `:<mode> <mode> <id> <id> <letter>`, and its name.
  return splitNul(stdout).flatMap((part, i) => (i % 2 === 0 ? [part.toString("latin1").split(" ")[3] ?? ""] : []));
}

async function sizeOf(control: ControlGit, blobs: readonly string[]): Promise<number> {
  const { stdout } = await control.git(["cat-file", "--batch-check=%(objectsize)"], {
    input: Buffer.from(blobs.map((id) => `${id}\n`).join("")),
  });
  const sizes = stdout.toString("latin1").split("\n");
  return sizes.reduce((sum, size) => sum + (/^\d+$/.test(size) ? Number(size) : 0), 0);
}

async function subjectOf(control: ControlGit, commit: string): Promise<string> {
  const { stdout } = await control.git(["log", "-1", "--format=%s", "--end-of-options", commit]);
  return stdout.toString("utf8").trim();
}
