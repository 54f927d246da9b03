import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import type { Repository } from "../stage.ts";

/** A commit to merge. */
export interface Work {
  readonly number: number;
  readonly commit: string;
  readonly base: string;
  /** Content that only this commit adds. */
  readonly blobs: readonly string[];
}

const filesEach = 60;

/** Many commits on main, each of which changes one file and adds others; all in one fast-import, to save processes. */
export function importWork(user: Repository, count: number): readonly Work[] {
  const numbers = Array.from({ length: count }, (_, number) => number);
  user.commit(Object.fromEntries(numbers.map((number) => [`own/${number}.txt`, `${number}\n`])), "base");
  const base = user.at("HEAD");
  const works = numbers.map((number) => ({ number, files: filesOf(number) }));
  const stream = works.map(({ number, files }) => {
    const changes = files.map(([path, text]) => `M 100644 inline ${path}\ndata ${text.length}\n${text}`);
    const head = `commit refs/work/${number}\nmark :${number + 1}\ncommitter A <a@b> 0 +0000\ndata 4\nwork\nfrom ${base}\n`;
    return head + changes.join("\n");
  });
  execFileSync("git", ["fast-import", "--quiet"], { cwd: user.folder, input: `${stream.join("\n")}\n` });
  const tips = user.git("for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/work").split("\n");
  const commits = new Map(tips.map((line) => line.split(" ") as [string, string]));
  // Branches, so that the sync fetches them.
  user.git("fetch", "--quiet", ".", "refs/work/*:refs/heads/work/*");
  return works.map(({ number, files }) => ({
    ...{ number, base, commit: commits.get(String(number)) ?? "" },
    blobs: files.map(([, text]) => createHash("sha1").update(`blob ${text.length}\0${text}`).digest("hex")),
  }));
}

function filesOf(number: number): readonly (readonly [path: string, text: string])[] {
  const text = (file: number) => `${number} ${file}\n`.repeat(500);
  const added = Array.from({ length: filesEach }, (_, file) => [`new/${number}/${file}.txt`, text(file)] as const);
  return [[`own/${number}.txt`, `${number} changed\n`], ...added];
}
