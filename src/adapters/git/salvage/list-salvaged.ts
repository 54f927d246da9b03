import type { Salvaged } from "../../../ports/control-repository.ts";
import type { ControlGit } from "../control/control-git.ts";
import { splitNul } from "../file-name.ts";
import { emptyTree, salvageFolder } from "./salvage.ts";

export async function listSalvaged(control: ControlGit): Promise<readonly Salvaged[]> {
  const { stdout } = await control.git([
    "for-each-ref",
    "--sort=-committerdate",
    "--format=%(objectname) %(refname) %(committerdate:unix) %(parent)",
    "--end-of-options",
    salvageFolder,
  ]);
  const lines = stdout.toString("latin1").split("\n");
  const found: Salvaged[] = [];
  for (const line of lines.filter((each) => each !== "")) {
    const [commit = "", ref = "", seconds = "", first] = line.split(" ");
    const [task = ""] = ref.slice(salvageFolder.length).split("/");
    const changed = await changedBlobs(control, first, commit);
    const size = await sizeOf(control, changed);
    const on = first === undefined ? "" : await subjectOf(control, first);
    found.push({ ref, commit, task, at: Number(seconds) * 1000, files: changed.length, size, on });
  }
  return found;
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
