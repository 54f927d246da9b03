import { sep } from "node:path";
import { routes } from "../../../api/routes.ts";
import { homePlaces } from "../../../home/places.ts";
import { confirm } from "../../confirm.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { count } from "../../count.ts";
import { projectNamed, realPath } from "../../find-project.ts";

export async function remove(this: Context, { yes }: { yes: boolean }, name: string) {
  const call = createCall(this);
  const { projects } = await call(routes.listProjects);
  const { path } = projectNamed(projects, name);
  if (!(await confirm(this, `Forget the project "${name}" and its tasks that are over?`, yes))) return;
  const { control, salvaged, left } = await call(routes.removeProject, { params: { project: name } });
  const isClone = path.startsWith(`${realPath(homePlaces(this.home).repositories)}${sep}`);
  this.say(`"${name}" is forgotten. The ${isClone ? "clone stays" : "repository is as it was"}: ${path}`);
  if (control !== "") {
    const what = salvaged === 0 ? "The work of its tasks" : `The work of its tasks, and ${count(salvaged, "salvage")},`;
    this.say(`${what} stays in ${control}`);
  }
  for (const folder of left) this.say(`This workspace could not be saved, and is still there: ${folder}`);
}
