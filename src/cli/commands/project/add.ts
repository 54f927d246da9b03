import { join } from "node:path";
import { type ProjectView, routes } from "../../../api/routes.ts";
import { homePlaces } from "../../../home/places.ts";
import { shownPath } from "../../../home/shown-path.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import {
  type ProjectFlags,
  projectSettings,
  registerProject,
  repositoryOf,
  tellBranch,
} from "../../register-project.ts";
import { isAddress, nameFromAddress, shownAddress } from "../../remote-address.ts";
import { writeJson } from "../../write-json.ts";

export interface AddFlags extends ProjectFlags {
  readonly name?: string;
  readonly json: boolean;
}

export async function add(this: Context, flags: AddFlags, path: string) {
  const project = isAddress(path) ? await addClone(this, flags, path) : await addFolder(this, flags, path);
  if (flags.json) return this.print(writeJson(project));
  this.print(`${project.name}  ${project.path}`);
  tellBranch(this, project);
  this.say(`To give it something to do: signalbox task create --project ${project.name} "What is to be done"`);
}

async function addFolder(context: Context, flags: AddFlags, path: string): Promise<ProjectView> {
  const root = repositoryOf(path);
  const call = createCall(context);
  const { projects } = await call(routes.listProjects);
  return registerProject(call, projects, root, flags.name, flags);
}

/** Whoever was interrupted asks again: a clone that is there already is used. */
async function addClone(context: Context, flags: AddFlags, url: string): Promise<ProjectView> {
  const name = flags.name ?? nameFromAddress(url);
  const folder = join(homePlaces(context.home).repositories, name);
  context.say(`Cloning ${shownAddress(url)} into ${shownPath(folder)}. That may take a while.`);
  return createCall(context)(routes.addProject, { body: { name, url, ...projectSettings(flags) } });
}
