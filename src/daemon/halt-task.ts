import type { Core } from "./core.ts";

/** Ends the agents and commands of a task, then calls `then` before anything is started again. */
export async function haltTask<T>(
  { agents, commands }: Pick<Core, "agents" | "commands">,
  task: string,
  then: () => Promise<T>,
  reason = "A person cancels the task.",
): Promise<T> {
  const release = commands.stop(task);
  try {
    if (agents === undefined) return await then();
    const runs = await agents.brake.runsOf((run) => run.task === task);
    return await agents.brake.hold(runs, { word: "lost", reason }, then);
  } finally {
    release();
  }
}
