import { basename, join } from "node:path";
import { entryAt } from "../entry-at.ts";
import { publish } from "../publish.ts";
import { readSmall } from "../read-git-folder.ts";
import type { WorkspaceRecord } from "../records.ts";
import type { UserRepository } from "../user-repository.ts";
import { readEntry } from "./find-entry.ts";

/**
 * Lets a worktree and git's record of it name each other again. Which record that is we know; where we do not, the folder
 * says so, and is believed only if the record leads nowhere else.
 */
export async function reconnectWorktree(
  { commonFolder }: Pick<UserRepository, "commonFolder">,
  folder: string,
  record: WorkspaceRecord | undefined,
): Promise<void> {
  const dotGit = join(folder, ".git");
  const [, named] = /^gitdir: ([\s\S]+?)\n*$/.exec((await readSmall(dotGit)) ?? "") ?? [];
  const name = record?.entry ?? (named && basename(named));
  const entry = name === undefined ? undefined : await readEntry(commonFolder, name);
  if (entry === undefined) return;
  if (entry.folder !== folder) {
    if ((await entryAt(entry.folder)) !== undefined) return;
    await publish(join(entry.path, "gitdir"), `${dotGit}\n`);
  }
  const wanted = `gitdir: ${entry.path}\n`;
  // Without the file only its making anew helps: whoever deleted it may have begun a repository of its own there.
  if (named !== undefined && (await readSmall(dotGit)) !== wanted) await publish(dotGit, wanted);
}
