import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Person } from "../../../../ports/git-names.ts";
import { branchRef } from "../../check-names.ts";
import { excludeBlock, excludeFile } from "../exclude-block.ts";
import { copyIndex } from "../list-changes.ts";
import type { Seating } from "../mechanics.ts";
import { headText } from "../write-head.ts";
import type { PlainRepository } from "./open-plain.ts";

/** Gives a clone a new repository that knows one branch. The one before goes to the trash, with whatever it knew. */
export async function seatClone(plain: PlainRepository, seating: Seating): Promise<void> {
  const { folder, index, heap } = seating;
  // Inside of the folder, so that it is on the same disk. Git looks into nothing that is called so.
  const draft = join(folder, ".git.new");
  const dotGit = join(folder, ".git");
  await rm(draft, { recursive: true, force: true });
  const folders = ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"];
  await Promise.all(folders.map((name) => mkdir(join(draft, name), { recursive: true })));
  const ids = Object.entries(refsOf(seating)).sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = ids.map(([ref, id]) => `${id} ${ref}\n`);
  await Promise.all([
    writeFile(join(draft, "config"), plain.config + origin + identity(plain.person)),
    writeFile(join(draft, "objects/info/alternates"), plain.alternates),
    writeFile(excludeFile(draft), excludeBlock),
    writeFile(join(draft, "packed-refs"), `# pack-refs with: peeled fully-peeled sorted \n${lines.join("")}`),
    writeFile(join(draft, "HEAD"), headText(seating)),
    copyIndex(index, join(draft, "index")),
  ]);
  await heap.take(dotGit, ".git");
  await rename(draft, dotGit);
}

function refsOf({ branch, commit, base, baseBranch }: Seating): Readonly<Record<string, string>> {
  const own: Record<string, string> = branch === undefined ? {} : { [branchRef(branch)]: commit };
  if (baseBranch === undefined) return own;
  // Of two names one of which lies below the other, a repository can have only one.
  const isAlone =
    branch === undefined || (!`${branch}/`.startsWith(`${baseBranch}/`) && !`${baseBranch}/`.startsWith(`${branch}/`));
  return { ...own, [`refs/remotes/origin/${baseBranch}`]: base, ...(isAlone ? { [branchRef(baseBranch)]: base } : {}) };
}

/** Agents believe that there is one. It leads nowhere, so that nothing is fetched or pushed past us. */
const origin = `[remote "origin"]
\turl = signalbox-has-no-remote://ask-for-a-push
\tfetch = +refs/heads/*:refs/remotes/origin/*
`;

function identity(person: Person | undefined): string {
  if (person === undefined) return "";
  const value = (text: string) => `"${text.replaceAll(/\p{Cc}/gu, " ").replaceAll(/["\\]/g, "\\$&")}"`;
  return `[user]\n\tname = ${value(person.name)}\n\temail = ${value(person.email)}\n`;
}
