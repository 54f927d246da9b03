import { sep } from "node:path";
import { routes } from "../../../api/routes.ts";
import { homePlaces } from "../../../home/places.ts";
import { confirm } from "../../confirm.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { projectNamed, realPath } from "../../find-project.ts";

export async function remove(this: Context, { yes }: { yes: boolean }, name: string) {
  const call = createCall(this);
  const { projects } = await call(routes.listProjects);
  const { path } = projectNamed(projects, name);
  if (!(await confirm(this, `Forget the project "${name}" and its tasks that are over?`, yes))) return;
  await call(routes.removeProject, { params: { project: name } });
  const isClone = path.startsWith(`${realPath(homePlaces(this.home).repositories)}${sep}`);
  this.say(`"${name}" is forgotten. The ${isClone ? "clone stays" : "repository is as it was"}: ${path}`);
}
