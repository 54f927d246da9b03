import type { Routes } from "../../api/routes.ts";
import { areAllowed, fullPermissionRuns } from "../agents/check-permissions.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { agentsOf } from "./agents-of.ts";
import { chooseWorkflow } from "./choose-workflow.ts";
import { configFor } from "./create-task.ts";
import { mustHave } from "./projects.ts";

export function projectPermissions(core: Core): Handler<Routes["projectPermissions"]> {
  return async ({ params, query }) => {
    const { ports } = agentsOf(core);
    const project = await mustHave(core, params.project ?? "");
    const config = configFor(core, project, query);
    const { workflow } = await chooseWorkflow(core, project, config.workflow.value);
    const harness = config.harness.value;
    const task = { harness, reviewHarness: config.reviewHarness.value || harness };
    return {
      allowed: areAllowed(ports.config(), project),
      needed: fullPermissionRuns(ports.harnesses, workflow, task).map((each) => ({ ...each, roles: [...each.roles] })),
      workspaces: project.workspaces ?? "worktree",
    };
  };
}
