import { routes } from "../../../api/routes.ts";
import { confirm } from "../../confirm.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { projectNamed } from "../../find-project.ts";

export async function remove(this: Context, { yes }: { yes: boolean }, name: string) {
  const call = createCall(this);
  const { projects } = await call(routes.listProjects);
  const { path } = projectNamed(projects, name);
  if (!(await confirm(this, `Forget the project "${name}" and its tasks that are over?`, yes))) return;
  await call(routes.removeProject, { params: { project: name } });
  this.say(`"${name}" is forgotten. The repository is as it was: ${path}`);
}
