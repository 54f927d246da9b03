import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { Salvage, Salvaged, SalvageOrder } from "../../../ports/control-repository.ts";
import { draftsFolder } from "../control/control.ts";
import type { ControlGit } from "../control/control-git.ts";
import { checkWhole, fetchFlags } from "../control/fetch-into.ts";
import { commitAt, knownCommits, treeOf } from "../control/history.ts";
import { entryIfSeen } from "../file-entries.ts";
import { listRefs } from "../git-folder.ts";
import { syncRef } from "../lasting.ts";
import { checkCommit, checkPart, checkRef, fileName, isObjectId, noCommit, splitNul } from "../names.ts";
import type { RunOptions } from "../runner.ts";
import { findWorkspace } from "../untrusted-folder.ts";
import { fetchTips, forgetTips } from "./fetch-tips.ts";
import { beginSession, modulesIn, namesOf, salvageInside, trackedRepositories } from "./inside.ts";
import {
  commitTaken,
  draftOf,
  emptyTree,
  ignoredFiles,
  isAsCommitted,
  type Taken,
  takeTree,
  withDraft,
} from "./take-files.ts";

export async function dropSalvaged(control: ControlGit, ref: string, commit: string): Promise<void> {
  checkCommit(commit);
  if (!checkRef(ref).startsWith(salvageFolder)) {
    throw new Fault("git.bad-ref", `Nothing was salvaged under ${JSON.stringify(ref)}.`, {
      hint: "List the salvage: signalbox salvage list",
    });
  }
  if ((await commitAt(control, ref)) === undefined) return;
  try {
    await control.git(["update-ref", "--no-deref", "-d", "--end-of-options", ref, commit], { writes: true });
  } finally {
    knownCommits(control).reached.clear();
  }
}

/** A salvage that git cannot read is listed with its problem, and does not stop the others from being listed. */
export async function listSalvaged(control: ControlGit): Promise<readonly Salvaged[]> {
  const found: Salvaged[] = [];
  for (const [ref, commit] of await salvageRefs(control)) found.push(await readSalvaged(control, ref, commit));
  return found.sort((a, b) => b.at - a.at);
}

/** Reads the files, because git omits refs whose commit is missing. Asks git if the files are not conclusive. */
async function salvageRefs(control: ControlGit): Promise<readonly (readonly [string, string])[]> {
  const listed = await listRefs(control.folder, salvageFolder);
  if (listed !== undefined)
    return [...listed].map(([name, id]) => [salvageFolder + Buffer.from(name, "latin1").toString("utf8"), id]);
  // Ask for nothing that needs the commit itself: git stops at the first one that it cannot read.
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
    if (seconds === "") throw new Fault("git.no-commit", `${commit} is not a commit.`);
    // A salvage from a branch without a commit, or from files without a repository, has no parent.
    const first = parent === "" ? undefined : parent;
    const inside = await repositoriesIn(control, commit);
    const isInside = new Set(inside.map((each) => each.commit));
    const changed = (await changedBlobs(control, first, commit)).filter((id) => !isInside.has(id));
    const size = await sizeOf(control, changed);
    const on = first === undefined || isInside.has(first) ? "" : await commitText(control, first);
    const repositories = inside.map(({ path }) => fileName(path).text);
    return { ref, commit, task, at: Number(seconds) * 1000, files: changed.length, size, on, repositories };
  } catch (error) {
    if (!(error instanceof Fault) || error.retry === "later") throw error;
    return { ref, commit, task, at: 0, files: 0, size: 0, on: "", repositories: [], problem: error.message };
  }
}

/** The nested repositories that were saved with a commit: submodule entries in its tree that are also its parents. */
async function repositoriesIn(
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

/** The new blob of every changed file; an id of zeros for a deleted file. */
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

/** `1a2b3c4d5e Add a cup` */
async function commitText(control: ControlGit, commit: string): Promise<string> {
  const { stdout } = await control.git(["log", "-1", "--abbrev=10", "--format=%h %s", "--end-of-options", commit]);
  return stdout.toString("utf8").trim();
}

/** Removes the folder again if it could not be filled, so that the caller can retry. */
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

/** Restores the nested repositories: on their branches, with their files as they were. */
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

/** Reads the message that `salvageInside` wrote for a nested repository. */
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
    if (!isAbsolute(folder))
      throw Object.assign(new Error("It is not an absolute path."), { code: "not an absolute path" });
    await mkdir(dirname(folder), { recursive: true });
    await mkdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") {
      throw new Fault("restore.exists", `${folder} exists already, and nothing is ever overwritten.`, {
        hint: "Name a folder that does not exist yet.",
      });
    }
    throw new Fault("restore.unwritable", `${folder} cannot be created (${code}).`, {
      hint: "Name a folder that you may write to.",
      cause: error,
    });
  }
}

const salvageFolder = "refs/signalbox/salvage/";

/** Changes nothing in the workspace, and runs nothing from it. */
export async function salvage(control: ControlGit, order: SalvageOrder): Promise<Salvage> {
  const { folder, task, at, anybodys = false, signal, repository } = order;
  checkPart(task);
  if (entryIfSeen(folder)?.isSymbolicLink()) throw link(folder);
  const workspace = await findWorkspace(control.run, folder, repository);
  if (workspace === undefined) return repository === undefined ? missing(folder) : nothing;
  return withDraft(control, workspace, async (draft) => {
    const { head, unsaved } = await fetchTips(control, workspace, task, signal);
    const drafted = await draftOf(control, workspace, draft, head);
    const { settings, entries } = drafted;
    const ignored = () => (workspace.hasFiles ? ignoredFiles(control, draft, settings) : []);
    const isPlain =
      modulesIn(workspace.gitFolder).length + trackedRepositories(workspace, namesOf(entries)).length === 0;
    const isSaved = workspace.hasFiles && head !== undefined && unsaved.length === 0 && isPlain;
    if (isSaved && (await isAsCommitted(control, draft, settings, entries, head))) {
      await forgetTips(control, task);
      return { ...nothing, ignored: await ignored() };
    }
    const session = beginSession(workspace, { task, signal });
    const taken = await takeTree(control, workspace, drafted, { head, signal }, (repositories, files) =>
      salvageInside(control, workspace, repositories, files, session),
    );
    const saved = await save(control, { task, at, anybodys, head, unsaved, taken });
    await forgetTips(control, task);
    return { saved, ignored: await ignored(), repositories: taken.repositories, refused: taken.refused };
  });
}

interface Found {
  readonly task: string;
  readonly at: number;
  readonly anybodys: boolean;
  readonly head: string | undefined;
  readonly unsaved: readonly string[];
  readonly taken: Taken;
}

const nothing: Salvage = { saved: undefined, ignored: [], repositories: [], refused: [] };

async function save(control: ControlGit, found: Found): Promise<Salvage["saved"]> {
  const { task, at, anybodys, head, unsaved, taken } = found;
  if (!taken.isChanged && unsaved.length === 0) return undefined;
  const sought = { task: anybodys ? undefined : task, head, tree: taken.tree, staged: taken.staged };
  const earlier = unsaved.length > 0 ? undefined : await savedBefore(control, sought);
  if (earlier !== undefined) return earlier;
  const message = `Salvaged work of task ${task}\n`;
  const staged = `Staged files of task ${task}\n`;
  const commit = await commitTaken(control, taken, { head, unsaved, message, staged, date: at });
  await checkWhole(control, [commit]);
  return { ref: await file(control, task, at, commit), commit };
}

/** Creates `refs/signalbox/salvage/<task>/<time>`, with a number at the end if another commit has that name. */
async function file(control: ControlGit, task: string, at: number, commit: string): Promise<string> {
  const time = new Date(at).toISOString().replaceAll(/[:.]/g, "-");
  for (let number = 1; ; number += 1) {
    const ref = `${salvageFolder}${task}/${time}${number === 1 ? "" : `-${number}`}`;
    try {
      const created = [ref, commit, noCommit(commit)];
      await control.git(["update-ref", "--no-deref", "-m", "salvaged", "--end-of-options", ...created], {
        writes: true,
      });
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "git.ref-moved") throw error;
      if ((await commitAt(control, ref)) !== commit) continue;
    }
    await syncRef(control.folder, ref);
    return ref;
  }
}

function missing(folder: string): never {
  throw new Fault("git.not-a-repository", `There is no folder ${folder}.`, {
    hint: "If it was a workspace, it is gone; its collected commits are not.",
  });
}

function link(folder: string): Fault {
  return new Fault("git.not-a-repository", `${folder} is a link to another folder.`, {
    hint: `The link is in the place of the workspace. See where it leads: ls -ld "${folder}"`,
  });
}

interface Sought {
  /** Undefined if a salvage of any task will do. */
  readonly task: string | undefined;
  readonly head: string | undefined;
  readonly tree: string;
  /** The tree of the staged files, if they must have been saved separately. */
  readonly staged: string | undefined;
}

/** An earlier salvage of the same files on the same commit: a retry must not save them twice. */
async function savedBefore(control: ControlGit, sought: Sought): Promise<Salvage["saved"]> {
  const { stdout } = await control.git([
    "for-each-ref",
    "--format=%(objectname) %(refname) %(tree) %(parent)",
    "--end-of-options",
    `refs/signalbox/salvage/${sought.task ?? ""}`,
  ]);
  for (const line of stdout.toString("latin1").split("\n")) {
    const [commit = "", ref = "", tree, ...parents] = line.split(" ").filter((word) => word !== "");
    if (tree !== sought.tree || parents[0] !== sought.head) continue;
    const trees = sought.staged === undefined ? [] : await Promise.all(parents.map((each) => treeOf(control, each)));
    if (sought.staged === undefined || trees.includes(sought.staged)) return { ref, commit };
  }
  return undefined;
}
