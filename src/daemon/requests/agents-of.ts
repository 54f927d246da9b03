import { Fault } from "../../fault.ts";
import type { Run } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Agents } from "../agents/agents.ts";
import type { Core } from "../core.ts";

/** What looks after agents; refused where there is nothing of the kind. */
export function agentsOf(core: Core): Agents {
  if (core.agents !== undefined) return core.agents;
  throw new Fault("agents.unavailable", "This daemon starts no agents.");
}

/** The run that somebody means: of this role, else the one that is alive, else the last. */
export async function runOf(core: Core, { task }: StoredTask, wanted: { role?: string; run?: string }): Promise<Run> {
  const all = (await core.store.runs.list({ task: task.id })).filter(({ started }) => started !== undefined);
  const meant = all.filter(
    ({ role, key }) =>
      (wanted.role === undefined || role === wanted.role || key === wanted.role) &&
      (wanted.run === undefined || key === wanted.run),
  );
  const alive = meant.filter(({ endedAt }) => endedAt === undefined);
  // Of several the one that was started last is the one that the state is about.
  const found = alive.at(-1) ?? meant.at(-1);
  if (found !== undefined) return found;
  const who = wanted.run ?? wanted.role;
  const roles = [...new Set(all.map(({ role }) => role))];
  throw new Fault("run.missing", `The task has had no agent${who === undefined ? "" : ` "${who}"`} yet.`, {
    hint:
      roles.length > 0 ? `It has had ${roles.join(", ")}.` : `See what it waits for: signalbox task explain ${task.id}`,
  });
}
