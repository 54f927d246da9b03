import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { mapCommand } from "./agents/models.ts";
import { continueHeld } from "./choose-workflow.ts";
import type { Core } from "./core.ts";
import { configFor } from "./make-task.ts";
import { type Choice, withPreset } from "./presets.ts";
import { projectOf } from "./project.ts";

/** The models of a project as its configuration is now: what tiers stand for, and which may take the place of which. */
export function modelsIn(ports: Pick<Core, "home" | "places" | "config" | "store">) {
  const modelsOf = async (project: string) => {
    const { modelTiers, modelFallback } = configFor(ports, await projectOf(ports.store, project));
    return { tiers: modelTiers.value, fallback: modelFallback.value };
  };
  return { modelsOf, tiersOf: async (project: string) => (await modelsOf(project)).tiers };
}

/** A change of a task: a preset of the configuration that it names gives it settings. */
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

/** Continues the tasks that are held for want of a model that a tier has now. */
export async function continueMapped(core: Core): Promise<void> {
  for (const project of await core.store.listProjects()) {
    const tiers = configFor(core, project).modelTiers.value;
    const mapped = Object.entries(tiers).flatMap(([tier, models]) =>
      Object.keys(models).map((harness) => `${mapCommand}${tier}.${harness} `),
    );
    await continueHeld(core, project.name, ...mapped);
  }
}
