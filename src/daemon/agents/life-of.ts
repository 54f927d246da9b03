import type { Agents } from "./agents.ts";
import { runRecordId } from "./run-name.ts";

/** Whether a run that a task wants is there. `none`: it has not started yet. */
export function lifeOf(agents: Agents | undefined, task: string, run: string): "alive" | "dead" | "unknown" | "none" {
  const id = runRecordId(task, run);
  const watch = agents?.watchOf(id);
  if (agents?.isAsleep(id)) return "alive";
  if (watch === undefined) return agents?.dispatch.whyRunWaits(id) === undefined ? "unknown" : "none";
  const { pane, started } = watch;
  // Nobody looks after a turn that has ended: its end is reported at once.
  if (started.mode !== "session") return "alive";
  if (pane === undefined) return "unknown";
  return pane.dead === undefined ? "alive" : "dead";
}
