import type { RunView } from "../../api/agent-wires.ts";
import type { Run } from "../../ports/records.ts";
import type { Agents } from "../agents/agents.ts";
import type { Core } from "../core.ts";
import { runView } from "./list-runs.ts";

/** Agents say many things in a moment; screens are drawn a few times in a second. */
const moment = 150;

/** Tells how runs are whenever that has changed, a moment later. Gives what ends it. */
export function followRuns(
  core: Core,
  agents: Agents,
  isMeant: (run: Run) => boolean,
  tell: (run: RunView) => void,
): () => void {
  const looked = new Set<string>();
  const told = new Map<string, string>();
  let isWaiting = false;
  let isOver = false;
  let cancel = () => {};

  const tellAll = async () => {
    isWaiting = false;
    const runs = [...looked];
    looked.clear();
    for (const id of runs) {
      const watch = agents.watchOf(id);
      // One that has ended is told by history.
      if (watch === undefined || !isMeant(watch.run)) continue;
      const view = await runView(core, agents, watch.run);
      // When it last gave a sign of life changes all the time, and nobody draws it.
      const now = JSON.stringify({ ...view, signAt: "" });
      if (isOver || told.get(id) === now) continue;
      told.set(id, now);
      tell(view);
    }
  };
  const stop = agents.follow((run) => {
    looked.add(run);
    if (isWaiting || isOver) return;
    isWaiting = true;
    cancel = core.clock.after(moment, () => {
      tellAll().catch((error) => core.log.warn("How agents are could not be told", { error }));
    });
  });
  return () => {
    isOver = true;
    cancel();
    stop();
  };
}
