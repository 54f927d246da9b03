import { dirname } from "node:path";
import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { makeFolder } from "../../home/make-folder.ts";
import { repositoryPlaces } from "../../home/places.ts";
import { publishFile } from "../../home/publish-file.ts";
import { shownPath } from "../../home/shown-path.ts";
import { configTemplate } from "../config-template.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { type ProjectFlags, projectSettings, registerProject, repositoryOf } from "../register-project.ts";
import { writeJson } from "../write-json.ts";

export interface InitFlags extends Pick<ProjectFlags, "workflow" | "harness" | "pool-size"> {
  readonly name?: string;
  readonly config: boolean;
  readonly json: boolean;
}

export async function init(this: Context, flags: InitFlags, path = ".") {
  const root = repositoryOf(path);
  const call = createCall(this);
  const { projects } = await call(routes.listProjects);
  const known = projects.find((project) => project.path === root);
  const project = known ?? (await registerProject(call, projects, root, flags.name, flags));
  if (flags.config) writeTemplate(this, root);
  if (flags.json) return this.print(writeJson(project));
  this.print(`${project.name}  ${project.path}`);
  if (known !== undefined) {
    this.say(`It is a project already.`);
    if (Object.keys(projectSettings(flags)).length > 0 || (flags.name ?? known.name) !== known.name)
      this.say(`Nothing about it has changed. To change it: signalbox project update ${known.name} --help`);
  }
  this.say('To create a task: signalbox task create "What is to be done"');
}

function writeTemplate({ home, say }: Context, root: string): void {
  const file = repositoryPlaces(home, root)?.config;
  if (file === undefined) {
    throw new Fault("usage", `${root} has your own files in .signalbox, so it can have no configuration of its own.`);
  }
  makeFolder(dirname(file));
  try {
    publishFile(file, configTemplate(), { replace: false });
    say(`Wrote ${shownPath(file)}, in which everything is still a remark.`);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "exists") throw error;
    say(`${shownPath(file)} is there already, and stays as it is.`);
  }
}
