import type { Reason } from "../../engine/decision.ts";
import type { RunSpec, State, Workflow } from "../../engine/workflow.ts";
import { type Harnesses, harnessOf, lacks } from "./harnesses.ts";

interface Chosen {
  readonly harness: string;
  readonly reviewHarness: string;
}

/** Why agents of such a task could not be started: a harness that nobody knows, or one that lacks what its workflow needs. */
export function checkNeeds(harnesses: Harnesses, workflow: Workflow, task: Chosen): readonly Reason[] {
  const known = harnesses();
  const unknown = [...new Set([task.harness, task.reviewHarness, ...neededHarnesses(workflow, task)])].filter(
    (name) => name !== "" && !known.has(name),
  );
  const reasons = unknown.map((name) => ({
    code: "bad-value" as const,
    text: `There is no harness "${name}".`,
    fix: `There are ${[...known.keys()].join(", ")}. See what is installed: signalbox harness list`,
  }));
  const lacking = runsOf(workflow).flatMap((spec) => {
    const harness = known.get(harnessOf(spec, task));
    const lack = harness && lacks(harness, spec);
    return lack === undefined ? [] : [`The workflow "${workflow.name}" needs more for its ${spec.role}: ${lack}`];
  });
  const fix = "Choose another harness or workflow. See what each can do: signalbox harness check";
  return [...reasons, ...[...new Set(lacking)].map((text) => ({ code: "bad-value" as const, text, fix }))];
}

/** The harnesses that runs of such a task are made in. */
export function neededHarnesses(workflow: Workflow, task: Chosen): readonly string[] {
  return [...new Set(runsOf(workflow).map((spec) => harnessOf(spec, task)))];
}

/** Every run that a workflow can make. A role is counted where something is made of it, as it is made there. */
export function runsOf({ states, ways }: Workflow): readonly RunSpec[] {
  const all = [...Object.values(states).flatMap(runsIn), ...ways.flatMap(({ hooks }) => hooks.map(({ run }) => run))];
  return all.filter((run) => run !== undefined);
}

function runsIn({ wait, respawn, do: work }: State): readonly (RunSpec | undefined)[] {
  const waiting =
    wait.kind === "panel"
      ? [wait.member, wait.judge]
      : wait.kind === "agent" || wait.kind === "human"
        ? [wait.run]
        : [];
  return [...waiting, respawn, ...work.map(({ run }) => run)];
}
