import type { Places } from "../../home/places.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Run } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import { publishAgents } from "../agents-at-work.ts";
import type { Callers } from "../caller.ts";
import type { Perform } from "../perform.ts";

export interface EndAgentPorts {
  readonly places: Places;
  readonly store: Store;
  readonly clock: Clock;
  readonly callers: Pick<Callers, "revoke">;
  /** Ends its process; missing where nobody starts any. */
  kill?(run: Run): Promise<void>;
  /** Takes away what is left of a task's windows. */
  closeSession?(task: string): Promise<void>;
}

/** Ends one run of a task: what it shows is not believed any more, and then its process. */
export function killAgent(ports: EndAgentPorts): Perform {
  return ({ params: { run, role } }, { task }) =>
    endRuns(ports, task.id, (key) => (run === undefined ? roleOf(key) === role : key === run));
}

/** Ends every run of a task. */
export function killSession(ports: EndAgentPorts): Perform {
  return async (_, { task }) => {
    await endRuns(ports, task.id, () => true);
    const runs = await ports.store.runs.list({ task: task.id });
    // To ask the terminal about windows that nobody has opened would be a process for nothing.
    const hasNone = runs.length > 0 && runs.every(({ started }) => started !== undefined && started.mode !== "session");
    if (!hasNone) await ports.closeSession?.(task.id);
  };
}

/** Folders that were lent to the task are their owner's again. Nothing where there are none. */
export function returnFolders({ store, places }: Pick<EndAgentPorts, "store" | "places">): Perform {
  return async (_, { task }) => {
    for (const { id, kind } of await store.workspaces.list({ task: task.id })) {
      if (kind === "folder") await store.workspaces.remove(id);
    }
    await publishAgents({ store, places });
  };
}

async function endRuns(
  { store, places, clock, callers, kill }: EndAgentPorts,
  task: string,
  isMeant: (key: string) => boolean,
): Promise<void> {
  for (const run of await store.runs.list({ task })) {
    if (!isMeant(run.key) || run.endedAt !== undefined) continue;
    await callers.revoke(task, run.key);
    await kill?.(run);
    // Whoever ended it may have learnt something of it on the way.
    const known = (await store.runs.get(run.id)) ?? run;
    await store.runs.put({ ...known, endedAt: clock.now(), word: "killed" });
  }
  await publishAgents({ store, places });
}

function roleOf(key: string): string {
  return key.slice(0, key.lastIndexOf("#"));
}
