import type { Task } from "../../engine/task.ts";
import type { Core } from "../core.ts";

type Ports = Pick<Core, "agents" | "scheduler" | "store">;

/** What keeps a task from having its agent at work now, a sentence; empty where nothing does. */
export async function whyNotYet({ agents, scheduler, store }: Ports, { id, project }: Task): Promise<string> {
  const waiting = agents?.dispatch.whyWaiting(id);
  if (waiting !== undefined) return waiting;
  if (!scheduler.waits(id)) return "";
  const paused = agents?.pauses.why(project);
  if (paused !== undefined) return paused;
  if (!(await scheduler.isFull(project, id))) return "";
  return `All workspaces of ${project} are taken (${(await store.getProject(project))?.poolSize ?? 0}).`;
}
