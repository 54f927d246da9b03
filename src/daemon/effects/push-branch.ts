import { type PushPorts, pushWork, workOf } from "../forge/push-task.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project-of.ts";
import type { Turns } from "../turns.ts";

/** Brings the task's work to the remote. Nothing where the project has none. */
export function pushBranch(ports: PushPorts & { readonly inTurn: Turns }): Perform {
  return async (_, { task }) => {
    const project = await projectOf(ports.store, task.project);
    const { remote } = await ports.forgeOf(project);
    if (remote === undefined) return;
    await ports.inTurn(`forge ${task.id}`, async () =>
      pushWork(ports, project, task, await workOf(ports, project, task)),
    );
  };
}
