import type { ProjectView } from "../api/routes.ts";
import { configFault, loadConfig } from "../home/config.ts";
import type { Level, PartialConfig } from "../home/config-fields.ts";
import { configFromEnvironment } from "../home/config-from-environment.ts";
import { homePlaces, repositoryPlaces } from "../home/places.ts";
import type { Layers } from "../home/resolve-config.ts";
import type { Context } from "./context.ts";

/** Everybody who says something about how things are done in a repository, but for flags. */
export function configLayers(
  { home, process: { env = {} } }: Context,
  repository: string | undefined,
  project: ProjectView | undefined,
): Layers {
  const places = repository === undefined ? undefined : repositoryPlaces(home, repository);
  return {
    environment: configFromEnvironment(env),
    repository: places && readSound(places.config, "project"),
    project: project && projectConfig(project),
    user: readSound(homePlaces(home).config, "user"),
  };
}

/** What a sound configuration file says; one that is wrong is not worked with. */
export function readSound(file: string, level: Level): PartialConfig {
  const { config, problems } = loadConfig(file, level);
  if (problems.length > 0) throw configFault(file, problems);
  return config;
}

/** What is recorded about a project. What is empty there is not said. */
function projectConfig({ workflow, harness, reviewHarness, branchPrefix, poolSize }: ProjectView): PartialConfig {
  const said = Object.entries({ workflow, harness, reviewHarness, branchPrefix, poolSize });
  return Object.fromEntries(said.filter(([, value]) => value !== ""));
}
