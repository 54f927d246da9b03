import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { mapCommand } from "./agents/models.ts";
import { continueHeld } from "./choose-workflow.ts";
import type { Core } from "./core.ts";
import { configFor } from "./make-task.ts";
import { type Choice, withPreset } from "./presets.ts";
import { projectOf } from "./project.ts";

/** The current models of a project: which model each tier means, and which models may replace others. */
export function modelsIn(ports: Pick<Core, "home" | "places" | "config" | "store">) {
  const modelsOf = async (project: string) => {
    const { modelTiers, modelFallback } = configFor(ports, await projectOf(ports.store, project));
    return { tiers: modelTiers.value, fallback: modelFallback.value };
  };
  return { modelsOf, tiersOf: async (project: string) => (await modelsOf(project)).tiers };
}

/** Adds the settings of a preset to a change of a task, if the change names one. */
export async function withConfiguredPreset<Change extends Choice>(
  core: Pick<Core, "home" | "places" | "config" | "store">,
  { project, workflow }: Pick<Task, "project" | "workflow">,
  loaded: Workflow,
  change: Change,
): Promise<Change> {
  if (change.preset === undefined) return change;
  const { presets } = configFor(core, await projectOf(core.store, project));
  return { ...change, ...withPreset(loaded, workflow, presets.value, change) };
}

/** Continues the tasks that were held because a tier had no model, and that tier has one now. */
export async function continueMapped(core: Core): Promise<void> {
  for (const project of await core.store.listProjects()) {
    const tiers = configFor(core, project).modelTiers.value;
    const mapped = Object.entries(tiers).flatMap(([tier, models]) =>
      Object.keys(models).map((harness) => `${mapCommand}${tier}.${harness} `),
    );
    await continueHeld(core, project.name, ...mapped);
  }
}
