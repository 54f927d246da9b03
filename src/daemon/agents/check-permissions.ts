import { toolKind } from "../../engine/tool-class.ts";
import type { RunSpec, Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { AgentConfig } from "../../home/agent-fields.ts";
import type { Harness } from "../../ports/harness.ts";
import type { Project, Store } from "../../ports/store.ts";
import { runsOf } from "./check-needs.ts";
import { type Harnesses, harnessOf } from "./harnesses.ts";

export interface FullPermissions {
  readonly harness: string;
  readonly title: string;
  readonly roles: readonly string[];
}

/** Refuses a run with full permissions in a project where nobody has allowed them. Its task is held until somebody does. */
export async function checkPermissions(
  { store, config }: { readonly store: Store; config(): AgentConfig },
  harness: Harness,
  spec: RunSpec,
  project: string,
): Promise<void> {
  if (!hasFullPermissions(harness, spec) || areAllowed(config(), await store.getProject(project))) return;
  throw new Fault("permissions.unasked", notAllowed(harness.title, project));
}

/** What a task is held with, and what its creator is warned of. */
export function notAllowed(title: string, project: string): string {
  return `${title} is to work with full permissions in ${project}: to run commands, write files and use the network as you, without asking. Nobody has allowed that yet. To allow it: ${allowCommand(project)}`;
}

export function allowCommand(project: string): string {
  return `signalbox project update ${project} --full-permissions allow`;
}

export function areAllowed(
  { agentsFullPermissions }: Pick<AgentConfig, "agentsFullPermissions">,
  project: Pick<Project, "fullPermissions"> | undefined,
): boolean {
  return agentsFullPermissions === "allow" || project?.fullPermissions === "allow";
}

/** The harnesses in which agents of such a task have full permissions, with their roles there. */
export function fullPermissionRuns(
  harnesses: Harnesses,
  workflow: Workflow,
  task: { readonly harness: string; readonly reviewHarness: string },
): readonly FullPermissions[] {
  const found = new Map<string, { harness: Harness; roles: Set<string> }>();
  for (const spec of runsOf(workflow)) {
    const harness = harnesses().get(harnessOf(spec, task));
    if (harness === undefined || !hasFullPermissions(harness, spec)) continue;
    const entry = found.get(harness.name) ?? { harness, roles: new Set() };
    found.set(harness.name, { harness, roles: entry.roles.add(spec.role) });
  }
  return [...found.values()].map(({ harness: { name, title }, roles }) => ({
    harness: name,
    title,
    roles: [...roles],
  }));
}

/** Whoever can neither write nor run anything does no harm here, whatever the permissions are called. */
function hasFullPermissions({ isScripted }: Harness, { permissions, tools }: RunSpec): boolean {
  if (permissions !== "full" || isScripted) return false;
  const kinds = tools?.map(toolKind);
  return kinds === undefined || kinds.includes("write") || kinds.includes("execute");
}
