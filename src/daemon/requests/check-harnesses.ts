import { Refusal } from "../../api/error.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { Project } from "../../ports/store.ts";
import { checkNeeds, neededHarnesses } from "../agents/check-needs.ts";
import { areAllowed, fullPermissionRuns, notAllowed } from "../agents/check-permissions.ts";
import { warnMissing } from "../agents/warn-missing.ts";
import type { Core } from "../core.ts";

/** Refuses harnesses in which a task's agents could never be started; says what else is to be known about them. */
export async function checkHarnesses(
  { agents }: Core,
  project: Project,
  workflow: Workflow,
  task: { readonly harness: string; readonly reviewHarness: string },
): Promise<readonly string[]> {
  if (agents === undefined) return [];
  const { harnesses } = agents.ports;
  const reasons = checkNeeds(harnesses, workflow, task);
  if (reasons.length > 0) throw new Refusal(reasons);
  const missing = await warnMissing(harnesses, neededHarnesses(workflow, task));
  const isAllowed = areAllowed(agents.ports.config(), project);
  const unasked = isAllowed ? [] : fullPermissionRuns(harnesses, workflow, task);
  return [...missing, ...unasked.map(({ title }) => notAllowed(title, project.name))];
}
