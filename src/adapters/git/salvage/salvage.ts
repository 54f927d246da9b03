import { Fault } from "../../../fault.ts";
import type { Salvage, SalvageOrder } from "../../../ports/control-repository.ts";
import { checkPart, noCommit } from "../check-names.ts";
import type { ControlGit } from "../control/control-git.ts";
import { checkWhole } from "../control/fetch-into.ts";
import { commitAt } from "../control/read-history.ts";
import { entryAt } from "../entry-at.ts";
import { syncRef } from "../lasting.ts";
import { fetchTips, forgetTips } from "./fetch-tips.ts";
import { ignoredFiles } from "./ignored-files.ts";
import { isAsCommitted } from "./is-as-committed.ts";
import { beginSession, modulesIn, namesOf, salvageInside, trackedRepositories } from "./salvage-inside.ts";
import { savedBefore } from "./saved-before.ts";
import { commitTaken, draftOf, type Taken, takeTree, withDraft } from "./take-tree.ts";
import { findWorkspace } from "./workspace.ts";

export const salvageFolder = "refs/signalbox/salvage/";

/** Nothing in the workspace changes, and nothing of it runs. */
export async function salvage(control: ControlGit, order: SalvageOrder): Promise<Salvage> {
  const { folder, task, at, anybodys = false, signal, repository } = order;
  checkPart(task);
  if (entryAt(folder)?.isSymbolicLink()) throw link(folder);
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

/** As `refs/signalbox/salvage/<task>/<time>`. What has that name already stays. */
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
    hint: "If it was a workspace, it is gone; what was collected from it is not.",
  });
}

function link(folder: string): Fault {
  return new Fault("git.not-a-repository", `${folder} is a link to another folder.`, {
    hint: "Somebody has put it in the place of the workspace: look at where it leads.",
  });
}
