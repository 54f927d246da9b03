import type { Core } from "./core.ts";

/** Ends the agents and commands of one task or several, then calls `then` before anything is started again. */
export async function haltTask<T>(
  { agents, commands }: Pick<Core, "agents" | "commands">,
  task: string | readonly string[],
  then: () => Promise<T>,
  reason = "A person cancels the task.",
): Promise<T> {
  const tasks = new Set(typeof task === "string" ? [task] : task);
  const releases = [...tasks].map((each) => commands.stop(each));
  try {
    if (agents === undefined) return await then();
    return await agents.brake.holdTasks(tasks, { word: "lost", reason }, then);
  } finally {
    for (const release of releases) release();
  }
}
