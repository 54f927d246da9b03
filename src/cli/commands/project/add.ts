import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { type ProjectFlags, registerProject, repositoryOf } from "../../register-project.ts";
import { writeJson } from "../../write-json.ts";

export interface AddFlags extends ProjectFlags {
  readonly name?: string;
  readonly json: boolean;
}

export async function add(this: Context, flags: AddFlags, path: string) {
  const root = repositoryOf(path);
  const call = createCall(this);
  const { projects } = await call(routes.listProjects);
  const project = await registerProject(call, projects, root, flags.name, flags);
  if (flags.json) return this.print(writeJson(project));
  this.print(`${project.name}  ${project.path}`);
  this.say(`To give it something to do: signalbox task create --project ${project.name} "What is to be done"`);
}
