import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Fault } from "../../../fault.ts";
import type { RunGit } from "../git-runner.ts";
import { isFolder } from "./entry-at.ts";
import { readSmall } from "./read-git-folder.ts";

/** The repository that the user works in. */
export interface UserRepository {
  readonly folder: string;
  /** Where git keeps what belongs to the files in `folder`; undefined where there are none, because it is bare. */
  readonly gitFolder: string | undefined;
  /** What all of its worktrees share. */
  readonly commonFolder: string;
  /** The worktree that was there first; undefined where the repository is bare. */
  readonly mainFolder: string | undefined;
}

/** Found by reading, so that nothing of its configuration counts. */
export async function findUserRepository(run: RunGit, repository: string): Promise<UserRepository> {
  const folder = await realpath(repository).catch(() => repository);
  const found = await findFolders(folder);
  if (found === undefined) throw none(folder);
  const { gitFolder, commonFolder } = found;
  if (await isFolder(join(commonFolder, "reftable"))) throw otherForm(folder);
  const { stdout } = await run(
    { folder: commonFolder, gitDir: commonFolder, configuration: "ours" },
    ["config", "--file", join(commonFolder, "config"), "--no-includes", "--type=bool", "--get", "core.bare"],
    { accepts: [0, 1, 128] },
  );
  const isBare = stdout.toString("latin1").trim() === "true";
  const mainFolder = basename(commonFolder) === ".git" ? dirname(commonFolder) : folder;
  return { folder, gitFolder, commonFolder, mainFolder: isBare ? undefined : mainFolder };
}

/** Undefined where there is no repository. */
export async function findFolders(
  folder: string,
): Promise<Pick<UserRepository, "gitFolder" | "commonFolder"> | undefined> {
  const dotGit = join(folder, ".git");
  // It may be a link, which git follows too.
  const real = await realpath(dotGit).catch(() => dotGit);
  const [, named] = /^gitdir: ([\s\S]+?)\n*$/.exec((await readSmall(real)) ?? "") ?? [];
  const gitFolder = named === undefined ? real : await realpath(resolve(folder, named)).catch(() => real);
  if (await isFolder(gitFolder)) {
    const common = (await readSmall(join(gitFolder, "commondir")))?.trim();
    if (common === undefined) return { gitFolder, commonFolder: gitFolder };
    const commonFolder = await realpath(resolve(gitFolder, common)).catch(() => undefined);
    return commonFolder === undefined ? undefined : { gitFolder, commonFolder };
  }
  const isBare = (await isFolder(join(folder, "objects"))) && (await isFolder(join(folder, "refs")));
  return isBare ? { gitFolder: undefined, commonFolder: folder } : undefined;
}

function none(folder: string): Fault {
  return new Fault("git.not-a-repository", `${folder} is no git repository, or refers to none.`, {
    hint: "Look where the repository is now, and update the project.",
  });
}

function otherForm(folder: string): Fault {
  return new Fault("git.reftable", `${folder} keeps its refs in the form "reftable", which is not supported.`, {
    hint: "Give it the usual form: git refs migrate --ref-format=files",
  });
}
