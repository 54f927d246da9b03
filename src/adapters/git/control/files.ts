import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { createMemo } from "../../../keyed.ts";
import type { ReplaceOrder, TreeFile } from "../../../ports/control-repository.ts";
import { checkCommit, fileName, splitNul } from "../names.ts";
import { draftsFolder } from "./control.ts";
import type { ControlGit } from "./control-git.ts";
import { commitTree } from "./merge.ts";

/** A cache of listings. They never become outdated, because a commit never changes. Long ones are not kept. */
const listings = createMemo<readonly TreeFile[]>({ max: 1_000, keeps: ({ length }) => length <= 1_000 });

/** The entries of one folder of a commit; the root is "". */
export async function listFiles(control: ControlGit, commit: string, folder: string): Promise<readonly TreeFile[]> {
  return listings.get(`${control.folder} ${checkCommit(commit)} ${folder}`, async () => {
    const paths = folder === "" ? [] : ["--", `${folder}/`];
    const { stdout } = await control.git(["ls-tree", "-z", "--full-tree", commit, ...paths]);
    return splitNul(stdout).map((entry) => {
      const tab = entry.indexOf("\t");
      const [mode = "", , id = ""] = entry.toString("latin1", 0, tab).split(" ");
      const path = fileName(entry.subarray(tab + 1));
      return { name: path.text.slice(folder === "" ? 0 : folder.length + 1), mode, id };
    });
  });
}

const author = { name: "Signalbox", email: "signalbox@localhost" };

/** A commit on top of another one, with some files replaced. It is on no branch, and the same order gives the same commit. */
export async function replaceFiles(control: ControlGit, { commit, from, files }: ReplaceOrder): Promise<string> {
  const drafts = join(control.folder, draftsFolder);
  await mkdir(drafts, { recursive: true });
  const folder = await mkdtemp(join(drafts, "files-"));
  try {
    const env = { GIT_INDEX_FILE: join(folder, "index") };
    await control.git(["read-tree", "--end-of-options", checkCommit(commit)], { env, writes: true });
    const lines: Buffer[] = [];
    for (const { path, text } of files) lines.push(await entryOf(control, from, path, text));
    await control.git(["update-index", "--replace", "-z", "--index-info"], {
      env,
      input: Buffer.concat(lines),
      writes: true,
    });
    const { stdout } = await control.git(["write-tree"], { env, writes: true });
    const tree = stdout.toString("latin1").trim();
    const message = "The work with the base's protected files\n";
    return await commitTree(control, { tree, parents: [commit], message, author, date: 0 });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A line for `update-index --index-info`; the mode 0 removes the file. */
async function entryOf(control: ControlGit, from: string, path: string, text: string | undefined): Promise<Buffer> {
  const { stdout } = await control.git(["ls-tree", "-z", "--full-tree", checkCommit(from), "--", path]);
  const [found] = splitNul(stdout).map((entry) => entry.toString("latin1", 0, entry.indexOf("\t")).split(" "));
  const [mode = "", kind = "", known = ""] = found ?? [];
  const isFile = kind === "blob";
  const id = text === undefined ? (isFile ? known : "") : await blobOf(control, text);
  // Git reads the id of a removed file, and ignores it.
  return Buffer.from(
    id === "" ? `0 ${"0".repeat(from.length)}\t${path}\0` : `${isFile ? mode : "100644"} ${id}\t${path}\0`,
  );
}

async function blobOf(control: ControlGit, text: string): Promise<string> {
  const args = ["hash-object", "-w", "--stdin", "--no-filters"];
  const { stdout } = await control.git(args, { input: Buffer.from(text), writes: true });
  return stdout.toString("latin1").trim();
}
