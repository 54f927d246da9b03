import { defaultNames } from "./default-names.ts";
import type { State, Way, Workflow } from "./workflow.ts";

/** Sections that people write, whatever gates ask for them. */
const humanSections = ["Context", "Answers", "Feedback"];

/**
 * Who owns each gated section: the roles that may ask for the ways it gates; where a way does not say, the role that is
 * started for the state it leaves.
 */
export function sectionOwners(
  states: Readonly<Record<string, State>>,
  ways: readonly Way[],
): Readonly<Record<string, readonly string[]>> {
  const owners: Record<string, string[]> = Object.create(null);
  for (const way of ways) {
    for (const gate of way.gates) {
      const found = owners[gate.section] ?? [];
      owners[gate.section] = found;
      for (const role of writersOf(states, ways, way)) if (!found.includes(role)) found.push(role);
    }
  }
  for (const section of humanSections) if (owners[section]) owners[section] = ["human"];
  return owners;
}

/** The sections a role's own task file is read for: what it owns; for the worker also everything nobody else owns. */
export function ownsSection(workflow: Workflow, role: string, section: string): boolean {
  if (humanSections.includes(section)) return role === "human";
  const owners = workflow.owners[section];
  if (owners === undefined) return role === defaultNames.roles.task;
  // A gate in front of a state in which nobody runs: whoever wrote the section, nobody else could have.
  return owners.length === 0 || owners.includes(role);
}

function writersOf(states: Readonly<Record<string, State>>, ways: readonly Way[], way: Way): readonly string[] {
  const named = way.by?.filter((role) => role !== "engine");
  if (named !== undefined && named.length > 0) return named;
  const wait = states[way.from]?.wait;
  if ((wait?.kind === "agent" || wait?.kind === "human") && wait.run !== undefined) return [wait.run.role];
  return ways
    .filter((each) => each.to === way.from)
    .flatMap((each) => each.hooks.flatMap((hook) => hook.run?.role ?? []));
}
