import type { ProjectView } from "../api/routes.ts";
import { resolveConfig } from "../home/resolve-config.ts";
import { findWorkflow } from "../home/workflows.ts";
import { configLayers } from "./config-layers.ts";
import type { Context } from "./context.ts";
import { loadSound } from "./load-found.ts";

/** The states of the workflow that new tasks of a project get. */
export function statesHere(context: Context, project: ProjectView | undefined): readonly string[] {
  const repository = project?.path ?? context.repository;
  const { workflow } = resolveConfig(configLayers(context, repository, project));
  return Object.keys(loadSound(findWorkflow({ home: context.home, repository }, workflow.value)).states);
}
