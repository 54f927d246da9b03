import { mapCommand } from "./agents/models.ts";
import { continueHeld } from "./choose-workflow.ts";
import type { Core } from "./core.ts";
import { configFor } from "./make-task.ts";
import { projectOf } from "./project.ts";

/** The models of a project as its configuration is now: what tiers stand for, and which may take the place of which. */
export function modelsIn(ports: Pick<Core, "home" | "places" | "config" | "store">) {
  const modelsOf = async (project: string) => {
    const { modelTiers, modelFallback } = configFor(ports, await projectOf(ports.store, project));
    return { tiers: modelTiers.value, fallback: modelFallback.value };
  };
  return { modelsOf, tiersOf: async (project: string) => (await modelsOf(project)).tiers };
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
