import { type ProjectView, routes } from "../../api/routes.ts";
import { didYouMean } from "../../engine/language/nearest.ts";
import { Fault } from "../../fault.ts";
import { configFields, configNames } from "../../home/config-fields.ts";
import { writeConfigValue } from "../../home/config-value.ts";
import { homePlaces, repositoryPlaces } from "../../home/places.ts";
import { mayCount, readRepositoryConfig } from "../../home/repository-config.ts";
import { resolveConfig } from "../../home/resolve-config.ts";
import { shownPath } from "../../home/shown-path.ts";
import { configLayers } from "../config-layers.ts";
import { callRunning } from "../connect.ts";
import type { Context } from "../context.ts";
import { projectAt } from "../find-project.ts";
import { writeTable } from "../table.ts";
import { writeJson } from "../write-json.ts";

export async function configGet(this: Context, { json }: { json: boolean }, key?: string) {
  const project = await recordedProject(this);
  const resolved = resolveConfig(configLayers(this, this.repository, project));
  const all = configNames.map((name) => ({ key: configFields[name].key, ...resolved[name] }));
  const wanted = key === undefined ? all : all.filter((each) => each.key === key);
  if (key !== undefined && wanted.length === 0) {
    const known = all.map((each) => each.key);
    throw new Fault("usage", `There is no key "${key}" in a configuration.`, { hint: didYouMean(key, known) });
  }
  const files = {
    user: homePlaces(this.home).config,
    repository: this.repository && repositoryPlaces(this.home, this.repository)?.config,
  };
  if (json) return this.print(writeJson({ values: wanted, files }));
  if (key !== undefined) return this.print(writeConfigValue(wanted[0]?.value));
  const columns = [{ title: "KEY", paint: this.paint.bold }, { title: "FROM" }, { title: "VALUE" }] as const;
  const rows = all.map(({ key, value, source }) => [key, source, writeConfigValue(value) || "–"]);
  this.print(writeTable(columns, rows, this.tableWidth));
  this.say(`\nYours: ${shownPath(files.user)}`);
  if (files.repository !== undefined) this.say(`The repository's: ${shownPath(files.repository)}`);
  this.say("To change a value: signalbox config set KEY VALUE");
  const own = this.repository && readRepositoryConfig(this.home, this.repository);
  if (own && !mayCount(own, homePlaces(this.home)))
    this.say("Nothing of the repository's file counts for workspaces until you trust it: signalbox trust --config");
}

/** What is recorded about the project of this folder. The configuration must be readable where the daemon cannot start. */
async function recordedProject(context: Context): Promise<ProjectView | undefined> {
  const answer = await callRunning(context, (call) => call(routes.listProjects));
  if (answer !== undefined) return projectAt(answer.projects, process.cwd());
  context.say("The daemon does not run, so what is recorded about the project is left out.");
  return undefined;
}
