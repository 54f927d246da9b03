import { loadWorkflow } from "../engine/language/load.ts";
import type { Task } from "../engine/task.ts";
import { Fault } from "../fault.ts";
import { taskRef } from "../ports/control-repository.ts";
import { isCheckout } from "../ports/records.ts";
import type { Project, Store } from "../ports/store.ts";
import type { LandingPlace, Tips } from "./landing-place.ts";
import type { Waiting } from "./merging/merge-queue.ts";
import { remoteName } from "./project.ts";
import type { ProjectWorkspaces } from "./workspaces/project-workspaces.ts";

interface TaskBranchOrder {
  readonly branch: string;
  readonly parent: string;
  /** The commit that a task starts from where it has none of its own yet. */
  startOf(task: Task): Promise<string | undefined>;
}

/** The mutex key that merging into a task's branch and binding a workspace to the task share. */
export function branchOfTask(task: string): string {
  return `branch of ${task}`;
}

/** Whether a task is in a terminal state, also where it still owes effects there. */
async function hasEnded(store: Pick<Store, "getWorkflow">, { phase, workflowHash, status }: Task): Promise<boolean> {
  if (phase !== "entering") return phase === "over";
  const stored = await store.getWorkflow(workflowHash);
  const workflow = stored && loadWorkflow(stored.text, stored.name).workflow;
  return workflow?.states[status]?.terminal === true;
}

/**
 * The branch of a parent task, into which its parts are merged. It is the ref of the parent's collected work in the control
 * repository: neither the user's repository nor a remote is touched. While the parent has a workspace, its branch belongs to
 * that, and merges wait.
 */
export function taskBranch(
  store: Pick<Store, "getTask" | "getWorkflow" | "workspaces">,
  { control, kind }: ProjectWorkspaces,
  project: Project,
  { branch, parent, startOf }: TaskBranchOrder,
): LandingPlace {
  const ref = taskRef(parent);
  const collected = () => control.commitAt(ref);
  /** A parent that never had a workspace has no work yet: its branch begins where its work would. */
  const tip = async () => {
    const known = await collected();
    if (known !== undefined) return known;
    const task = (await store.getTask(parent))?.task;
    return task && startOf(task);
  };
  const find = async (): Promise<Tips> => {
    const at = await tip();
    if (at === undefined)
      throw new Fault("merge.no-target", `The branch "${branch}" of the parent task ${parent} has no commit yet.`, {
        hint: `See where the parent is: signalbox task explain ${parent}`,
      });
    return { user: at, remote: undefined, base: at, apart: false };
  };
  const heldBy = async (): Promise<Waiting | undefined> => {
    const own = (await store.workspaces.list({ task: parent })).find((each) => !isCheckout(each));
    if (own === undefined) return undefined;
    const reason = `The parent task ${parent} has the branch "${branch}" in its workspace ${own.path}. The merge continues when that is released.`;
    return { kind: "waits", reason, files: [] };
  };
  const whyNot = async () => {
    const stored = await store.getTask(parent);
    if (stored === undefined) return `The parent task ${parent} was deleted.`;
    const { project: name, number } = stored.task;
    return (await hasEnded(store, stored.task))
      ? `The parent task ${name}#${number} (${parent}) has ended, so its branch "${branch}" stays as it is.`
      : undefined;
  };
  return {
    branch,
    parent,
    lastSeen: tip,
    start: tip,
    find,
    async trouble({ id }) {
      const reason = await whyNot();
      const fix = `To continue the work alone, cancel the task, then: signalbox task create --from ${id}`;
      return reason === undefined ? undefined : { reason, fix };
    },
    isOnRemote: async () => false,
    isOnlyByMove: async () => false,
    inTheWay: heldBy,
    async publish({ inTurn }, { user }, commit) {
      return inTurn(branchOfTask(parent), async () => {
        const reason = await whyNot();
        if (reason !== undefined) return { kind: "refused", reason, files: [] };
        const waits = await heldBy();
        if (waits !== undefined) return waits;
        const now = await collected();
        if (now === commit) return { kind: "published" };
        if (now !== undefined && now !== user) return { kind: "moved" };
        try {
          await control.moveRef(ref, commit, now);
        } catch (error) {
          if (error instanceof Fault && error.code === "git.ref-moved") return { kind: "moved" };
          throw error;
        }
        return { kind: (await collected()) === commit ? "published" : "moved" };
      });
    },
    expectedPush: async () => undefined,
    undoBegun: async () => "",
    async bringTo({ id, workspace }) {
      const { base } = await find();
      const bound = (await store.workspaces.list({ task: id })).find(({ path }) => path === workspace);
      if (bound?.kind !== "clone") {
        // The user's repository does not have the parent's branch as it is now.
        await control.giveCommit({ repository: project.path, commit: base });
        return `git merge ${base}`;
      }
      await kind.learnBranch(workspace, branch, base);
      // An agent may have moved its own branch of that name.
      return `git merge ${remoteName}/${branch}`;
    },
  };
}
