import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { Fault } from "../../../fault.ts";
import { checkRef, isObjectId } from "../check-names.ts";
import type { ControlGit } from "../control/control-git.ts";
import { fetchFlags } from "../control/fetch-into.ts";
import { draftsFolder } from "../control/open-control.ts";
import { treeOf } from "../control/read-history.ts";
import type { RunOptions } from "../git-runner.ts";
import { repositoriesIn } from "./list-salvaged.ts";

/** A folder that could not be filled is taken away again, so that the same can be asked once more. */
export async function restoreFiles(control: ControlGit, commit: string, folder: string): Promise<void> {
  await makeFolder(folder);
  try {
    await checkOut(control, commit, folder);
    await restoreInside(control, commit, folder);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function checkOut(control: ControlGit, commit: string, folder: string): Promise<void> {
  const tree = await treeOf(control, commit);
  const drafts = join(control.folder, draftsFolder);
  await mkdir(drafts, { recursive: true });
  const draft = await mkdtemp(join(drafts, "restore-"));
  try {
    const place = { folder, gitDir: control.folder, workTree: folder, configuration: "ours" } as const;
    const options = { env: { GIT_INDEX_FILE: join(draft, "index") }, writes: true, isLong: true };
    await control.run(place, ["read-tree", "--end-of-options", tree], options);
    await control.run(place, ["checkout-index", "--quiet", "--all"], options);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Makes repositories again of those that were inside: on their branches, with their files as they were. */
async function restoreInside(control: ControlGit, commit: string, folder: string): Promise<void> {
  for (const { path, commit: inside } of await repositoriesIn(control, commit)) {
    const place = join(folder, path.toString("utf8"));
    await checkOut(control, inside, place);
    await makeRepository(control, inside, place);
    await restoreInside(control, inside, place);
  }
}

async function makeRepository(control: ControlGit, commit: string, folder: string): Promise<void> {
  const format = commit.length === 64 ? "sha256" : "sha1";
  const git = (args: readonly string[], options: RunOptions = {}) =>
    control.run({ folder, configuration: "ours" }, args, { writes: true, isLong: true, ...options });
  await git(["init", "--quiet", "--template=", `--object-format=${format}`, "--initial-branch=main"]);
  const refspec = `${commit}:refs/signalbox/salvaged`;
  await git(["fetch", ...fetchFlags, "--end-of-options", control.folder, refspec], { protocols: ["file"] });
  const { head, branch, refs } = await readMessage(control, commit);
  const found = await git(["cat-file", "--batch-check=%(objectname)"], {
    input: Buffer.from(refs.map(([, id]) => `${id}\n`).join("")),
  });
  const isThere = new Set(found.stdout.toString("latin1").split("\n"));
  const lines = refs.filter(([, id]) => isThere.has(id)).map(([name, id]) => `create ${name} ${id}\n`);
  await git(["update-ref", "--no-deref", "--stdin"], { input: Buffer.from(lines.join("")) });
  if (branch !== undefined) await git(["symbolic-ref", "HEAD", branch]);
  else if (head !== undefined) await git(["update-ref", "--no-deref", "HEAD", head]);
  if (head !== undefined) await git(["read-tree", "--end-of-options", head]);
}

interface Noted {
  readonly head: string | undefined;
  readonly branch: string | undefined;
  readonly refs: readonly (readonly [name: string, commit: string])[];
}

/** What the salvaging of a repository has written down about it. */
async function readMessage(control: ControlGit, commit: string): Promise<Noted> {
  const { stdout } = await control.git(["log", "-1", "--format=%B", "--end-of-options", commit]);
  const lines = stdout.toString("utf8").split("\n");
  const pairs = lines.map((line): [string, string] => [line.slice(line.indexOf(" ") + 1), line.split(" ", 1)[0] ?? ""]);
  const refs = pairs.filter(([name, id]) => isObjectId(id) && /^refs\/(heads|tags)\//.test(name));
  for (const [name] of refs) checkRef(name);
  const branch = pairs.find(([name, word]) => word === "HEAD" && name.startsWith("refs/heads/"))?.[0];
  return {
    head: pairs.find(([name, id]) => name === "HEAD" && isObjectId(id))?.[1],
    branch: branch && checkRef(branch),
    refs,
  };
}

async function makeFolder(folder: string): Promise<void> {
  try {
    if (!isAbsolute(folder)) throw Object.assign(new Error("It is no whole path."), { code: "no whole path" });
    await mkdir(dirname(folder), { recursive: true });
    await mkdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") {
      throw new Fault("restore.exists", `${folder} is there already, and nothing is ever overwritten.`, {
        hint: "Name a folder that is not there yet.",
      });
    }
    throw new Fault("restore.unwritable", `${folder} cannot be made (${code}).`, {
      hint: "Name a folder that you may write to.",
      cause: error,
    });
  }
}
