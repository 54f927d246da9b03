import type { ProjectView } from "../api/routes.ts";
import type { Settings } from "../engine/workflow.ts";
import { resolveConfig } from "../home/resolve-config.ts";
import { findWorkflow } from "../home/workflows.ts";
import { configLayers } from "./config-layers.ts";
import type { Context } from "./context.ts";
import { loadSound } from "./load-found.ts";
import { readSettingFlags } from "./setting-flag.ts";

/** Reads `--set` against the workflow that a new task will have: what a value means is said there. */
export function readTaskSettings(
  context: Context,
  project: ProjectView,
  workflow: string | undefined,
  flags: readonly string[],
): Settings {
  const resolved = resolveConfig({ ...configLayers(context, project.path, project), flag: { workflow } });
  const found = findWorkflow({ home: context.home, repository: project.path }, resolved.workflow.value);
  return readSettingFlags(loadSound(found), flags);
}
