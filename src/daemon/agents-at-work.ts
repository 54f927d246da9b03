import type { Places } from "../home/places.ts";
import { writeAgentsAtWork } from "../home/write-agents-at-work.ts";
import type { Clock } from "../ports/clock.ts";
import type { Store } from "../ports/store.ts";
import type { Callers } from "./caller.ts";

interface AgentPorts {
  readonly store: Store;
  readonly places: Places;
}

/** The command line must know where agents are before it speaks for a person. */
export async function publishAgents({ store, places }: AgentPorts): Promise<void> {
  const runs = (await store.liveRuns()).filter(({ pid }) => pid > 0);
  const workspaces = (await store.workspaces.list({})).filter(({ task }) => task !== "");
  writeAgentsAtWork(places, { folders: workspaces.map(({ path }) => path), pids: runs.map(({ pid }) => pid) });
}

/** A task is over: nobody speaks for it any more, and folders that were lent to it are the person's again. */
export async function forgetAgents(
  { store, places, callers, clock }: AgentPorts & { callers: Callers; clock: Clock },
  task: string,
): Promise<void> {
  const runs = await store.runs.list({ task });
  if (runs.length === 0) return;
  for (const run of runs) {
    await callers.revoke(task, run.key);
    if (run.endedAt === undefined) await store.runs.put({ ...run, endedAt: clock.now() });
  }
  for (const { id, kind } of await store.workspaces.list({ task })) {
    if (kind === "folder") await store.workspaces.remove(id);
  }
  await publishAgents({ store, places });
}
