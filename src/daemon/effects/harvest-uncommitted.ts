import type { Task } from "../../engine/task.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Store } from "../../ports/store.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project-of.ts";
import { identityOf } from "../workspaces/identity.ts";
import type { WorkspacesOf } from "../workspaces/project-workspaces.ts";

export interface HarvestPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly workspacesOf: WorkspacesOf;
}

/** Commits on the task's branch what its agent left uncommitted. Nothing where there is nothing. */
export function harvestUncommitted({ store, clock, log, workspacesOf }: HarvestPorts): Perform {
  return async (_, { task }) => {
    if (task.workspace === "") return;
    const project = await projectOf(store, task.project);
    const { git, kind } = await workspacesOf(project);
    const found = await kind.inspect(task.workspace);
    // Most agents commit what they do, and to find that out costs a quarter of committing nothing.
    if (found.kind === "there" && found.branch !== undefined && !found.dirty && found.operation === undefined) return;
    const commit = await kind.commitAll({
      folder: task.workspace,
      task: task.id,
      message: messageFor(task),
      author: await identityOf(git, project.path),
      date: clock.now(),
    });
    if (commit !== undefined) log.info("What was left uncommitted was committed", { task: task.id, commit });
  };
}

function messageFor({ id, project, number, summary }: Task): string {
  const title = summary.trim() === "" ? "What was left uncommitted" : summary.trim();
  return `${title}\n\nLeft uncommitted by the agent of task ${project}#${number} (${id}).\n`;
}
