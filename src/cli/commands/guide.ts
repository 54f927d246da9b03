import { routes } from "../../api/routes.ts";
import { canAsk } from "../ask.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { exitCodes } from "../exit-code.ts";
import { projectAt } from "../find-project.ts";
import { addHere } from "../guide/add-here.ts";
import { firstTask } from "../guide/first-task.ts";
import { showOutside } from "../guide/show-outside.ts";
import { showProject } from "../guide/show-project.ts";

/**
 * Leads from a repository to its first task; in a project says how things are and what comes next. Whatever the person
 * agrees to is done at once and whole, so that leaving at any point leaves nothing half done.
 */
export async function guide(this: Context): Promise<void> {
  const call = createCall(this);
  const { projects } = await call(routes.listProjects);
  const known = projectAt(projects, process.cwd());
  if (known === undefined && this.repository === undefined) return showOutside(this, projects);
  if (known !== undefined && (!canAsk() || (await hasTasks()))) return showProject(this, call, known);
  if (!canAsk()) {
    this.process.exitCode = exitCodes.failed;
    return this.say(`${this.repository} is no project yet. To make it one: signalbox init`);
  }
  const project = known ?? (await addHere(this, call, projects, this.repository ?? ""));
  if (project === undefined) return;
  await firstTask(this, call, project);

  async function hasTasks(): Promise<boolean> {
    const { tasks } = await call(routes.listTasks, { query: { project: known?.name ?? "", limit: "1" } });
    return tasks.length > 0;
  }
}
