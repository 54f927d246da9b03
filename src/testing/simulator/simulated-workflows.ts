import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadWorkflow } from "../../engine/language/load.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { packageRoot } from "../../home/package-root.ts";

export interface SimulatedWorkflow {
  readonly name: string;
  readonly workflow: Workflow;
  readonly text: string;
}

/** The workflows that come along and are simulated: seeds take turns with them. */
export const simulated: readonly string[] = ["default", "classic", "minimal", "crew"];

export function readSimulated(name: string): SimulatedWorkflow {
  const text = readFileSync(join(packageRoot(), "workflows", `${name}.yml`), "utf8");
  const { workflow, problems } = loadWorkflow(text, `${name}.yml`);
  if (workflow === undefined) throw new Error(`${name}.yml does not load: ${problems[0]?.message ?? ""}`);
  return { name, workflow, text };
}
