import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { deflate } from "node:zlib";
import type { MergeAllOrder, MergeAnswer } from "../../../ports/control-repository.ts";
import { syncFolder } from "../sync-folder.ts";
import { commitText, commitTree, type NewCommit } from "./commit-tree.ts";
import type { ControlGit } from "./control-git.ts";
import { mergeTree } from "./merge-tree.ts";
import { draftsFolder } from "./open-control.ts";
import { isAncestor, treeOf } from "./read-history.ts";

/**
 * What is made on the way is written beside the repository, where it need not last, and comes in as one pack in the end.
 * Most of the time of a merge goes into starting git and into making objects last: so git is started once for each, and
 * everything is made to last once.
 */
export async function mergeAll(control: ControlGit, order: MergeAllOrder): Promise<readonly MergeAnswer[]> {
  const drafts = join(control.folder, draftsFolder);
  await mkdir(drafts, { recursive: true });
  const objects = await mkdtemp(join(drafts, "merge-"));
  try {
    const draft = writingTo(control, objects);
    const { answers, top } = await stack(draft, objects, order);
    const isNew = answers.some(({ kind }) => kind === "merged");
    if (isNew) await keep(control, draft, top, [order.onto, ...order.entries.map(({ branch }) => branch)]);
    return answers;
  } finally {
    await rm(objects, { recursive: true, force: true });
  }
}

async function stack(
  draft: ControlGit,
  objects: string,
  { onto, author, entries }: MergeAllOrder,
): Promise<{ answers: readonly MergeAnswer[]; top: string }> {
  const answers: MergeAnswer[] = [];
  const write = createWriter(draft, objects);
  let top = { commit: onto, tree: await treeOf(draft, onto) };
  for (const { branch, strategy, message, date } of entries) {
    if (strategy === "ff") {
      const answer = await forward(draft, top.commit, branch);
      if (answer.kind === "fast-forward") top = { commit: branch, tree: await treeOf(draft, branch) };
      answers.push(answer);
      continue;
    }
    const merged = await mergeTree(draft, top.commit, branch);
    if (merged.kind === "conflict") answers.push(merged);
    else if (merged.tree === top.tree && (await isAncestor(draft, branch, top.commit)))
      answers.push({ kind: "up-to-date" });
    else {
      const { tree } = merged;
      const commit = await write({ tree, parents: [top.commit, branch], message, author, date });
      answers.push({ kind: "merged", commit, tree });
      top = { commit, tree };
    }
  }
  return { answers, top: top.commit };
}

async function forward(draft: ControlGit, onto: string, branch: string): Promise<MergeAnswer> {
  if (await isAncestor(draft, branch, onto)) return { kind: "up-to-date" };
  return (await isAncestor(draft, onto, branch)) ? { kind: "fast-forward", commit: branch } : { kind: "diverged" };
}

/** Git makes the first commit. If we would have made the same, we make the others: it takes git longer to start. */
function createWriter(draft: ControlGit, objects: string): (commit: NewCommit) => Promise<string> {
  let isTrusted: boolean | undefined;
  return async (commit) => {
    const bytes = Buffer.from(commitText(commit));
    const object = Buffer.concat([Buffer.from(`commit ${bytes.length}\0`), bytes]);
    const id = createHash(commit.tree.length === 64 ? "sha256" : "sha1")
      .update(object)
      .digest("hex");
    if (isTrusted) {
      await writeObject(objects, id, object);
      return id;
    }
    const made = await commitTree(draft, commit);
    isTrusted ??= made === id;
    return made;
  };
}

const deflated = promisify(deflate);

async function writeObject(objects: string, id: string, object: Buffer): Promise<void> {
  const path = join(objects, id.slice(0, 2), id.slice(2));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, await deflated(object as Buffer<ArrayBuffer>));
}

function writingTo(control: ControlGit, objects: string): ControlGit {
  const others = join(control.folder, "objects").replaceAll(/["\\]/g, "\\$&");
  const env = { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${others}"` };
  return {
    ...control,
    git: (args, options = {}) =>
      control.git(args, {
        ...options,
        env: { ...options.env, ...env },
        // What is asked for comes last, and wins.
        settings: ["core.fsync=none", ...(options.settings ?? [])],
      }),
  };
}

/** Brings in what `top` has and the others have not. */
async function keep(control: ControlGit, draft: ControlGit, top: string, others: readonly string[]): Promise<void> {
  const packs = join(control.folder, "objects", "pack");
  await mkdir(packs, { recursive: true });
  const wanted = [top, ...others.map((other) => `^${other}`)].map((line) => `${line}\n`).join("");
  await draft.git(["pack-objects", "--quiet", "--revs", "--window=0", join(packs, "pack")], {
    input: Buffer.from(wanted),
    writes: true,
    isLong: true,
    settings: ["core.fsync=all"],
  });
  await syncFolder(packs);
}
