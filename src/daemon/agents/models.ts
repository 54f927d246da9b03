import { Refusal } from "../../api/client.ts";
import type { Reason } from "../../engine/decision.ts";
import { askedModels, type ModelTiers, ownModels, type ResolvedModel, resolveModel } from "../../engine/model-tiers.ts";
import { placedRuns } from "../../engine/run-spec.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Harness } from "../../ports/harness.ts";
import { type Harnesses, harnessOf } from "./harnesses.ts";

type Chosen = Pick<Task, "harness" | "reviewHarness" | "model" | "preset" | "settings">;

/** Refuses a task whose runs ask for a tier that has no model in their harness. */
export function refuseModels(
  ports: { readonly harnesses: Harnesses } | undefined,
  tiers: ModelTiers,
  workflows: readonly Workflow[],
  task: Chosen,
): void {
  if (ports === undefined) return;
  const reasons = workflows.flatMap((workflow) => checkModels(ports.harnesses, tiers, workflow, task));
  if (reasons.length > 0) throw new Refusal(reasons);
}

/** Why runs of such a task could not be started: a tier without a model in the harness of the run. */
export function checkModels(
  harnesses: Harnesses,
  tiers: ModelTiers,
  workflow: Workflow,
  task: Chosen,
): readonly Reason[] {
  const missing = new Map<string, Reason>();
  for (const { spec, status } of placedRuns(workflow)) {
    const harness = harnesses().get(harnessOf(spec, task));
    // An unknown harness is refused elsewhere.
    if (harness === undefined) continue;
    for (const model of askedModels(workflow, task, spec, status)) {
      const { unmapped } = resolveIn(tiers, harness, model);
      if (unmapped === undefined) continue;
      const { text, fix } = unmappedTier(harness, unmapped);
      missing.set(text, { code: "bad-value", text, fix });
    }
  }
  return [...missing.values()];
}

/** Why a model of the task's own would be for none of its runs. A fan-out without the workflow of its parts leaves that open. */
export function unusedModel(workflows: readonly Workflow[]): readonly Reason[] {
  const [first] = workflows;
  const isWhole =
    workflows.length > 1 || Object.values(first?.states ?? {}).every(({ wait }) => wait.kind !== "fan_out");
  const fix = isWhole ? ownModels(workflows) : undefined;
  if (first === undefined || fix === undefined) return [];
  return [
    { code: "bad-value", text: `The roles of "${first.name}" have models of their own: --model changes nothing.`, fix },
  ];
}

/** The model that a run's program is asked for, and the tier that it stands for. A tier without a model is a Fault. */
export function chooseModel(tiers: ModelTiers, harness: Harness, name: string) {
  const resolved = resolveIn(tiers, harness, name);
  if (resolved.unmapped === undefined) return resolved;
  const { text, fix } = unmappedTier(harness, resolved.unmapped);
  throw new Fault("model.unmapped", `${text} ${fix}`);
}

function resolveIn(tiers: ModelTiers, { name, isScripted, can }: Harness, model: string): ResolvedModel {
  return resolveModel(tiers, { name, isScripted: isScripted === true, takesModel: can.model }, model);
}

/** The commands that map a tier begin so; tasks that are held for want of one name it. */
export const mapCommand = "signalbox config set model_tiers.";

function unmappedTier({ name, title }: Harness, tier: string) {
  return {
    text: `The model tier "${tier}" is not mapped to a model of ${title} (model_tiers.${tier}.${name}).`,
    fix: `To map it: ${mapCommand}${tier}.${name} MODEL`,
  };
}
