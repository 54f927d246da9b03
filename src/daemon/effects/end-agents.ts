import type { Places } from "../../home/places.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";
import { publishAgents } from "../agents-at-work.ts";
import type { Callers } from "../caller.ts";
import type { Perform } from "../perform.ts";

export interface EndAgentPorts {
  readonly places: Places;
  readonly store: Store;
  readonly clock: Clock;
  readonly callers: Pick<Callers, "revoke">;
}

/** Ends one run of a task: what it shows is not believed any more. Its process is not ours to kill yet. */
export function killAgent(ports: EndAgentPorts): Perform {
  return ({ params: { run, role } }, { task }) =>
    endRuns(ports, task.id, (key) => (run === undefined ? roleOf(key) === role : key === run));
}

/** Ends every run of a task. */
export function killSession(ports: EndAgentPorts): Perform {
  return (_, { task }) => endRuns(ports, task.id, () => true);
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
  { store, places, clock, callers }: EndAgentPorts,
  task: string,
  isMeant: (key: string) => boolean,
): Promise<void> {
  for (const run of await store.runs.list({ task })) {
    if (!isMeant(run.key) || run.endedAt !== undefined) continue;
    await callers.revoke(task, run.key);
    await store.runs.put({ ...run, endedAt: clock.now(), word: "killed" });
  }
  await publishAgents({ store, places });
}

function roleOf(key: string): string {
  return key.slice(0, key.lastIndexOf("#"));
}
