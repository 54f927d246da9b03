import { mapCommand } from "./agents/models.ts";
import { continueHeld } from "./choose-workflow.ts";
import type { Core } from "./core.ts";
import { configFor } from "./make-task.ts";
import { projectOf } from "./project.ts";

/** The models that tiers stand for in a project, as its configuration is now. */
export function tiersIn(ports: Pick<Core, "home" | "places" | "config" | "store">) {
  return async (project: string) => configFor(ports, await projectOf(ports.store, project)).modelTiers.value;
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
