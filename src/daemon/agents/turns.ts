import type { Activity } from "../../engine/reconcile.ts";
import type { Run, Turn } from "../../ports/records.ts";

/** More turns than this are not kept: the two with the shortest pause between them become one. */
const maxTurns = 200;

/**
 * The turns of a run's session after its activity was observed; undefined where they are as they were. A session that waits for
 * its next message stays open without working.
 */
export function turnsAfter({ started }: Run, activity: Activity, since: number): readonly Turn[] | undefined {
  if (started?.mode !== "session") return undefined;
  const turns = started.turns ?? [{ from: started.at }];
  const last = turns.at(-1);
  const isOpen = last !== undefined && last.until === undefined;
  if (activity === "busy" && !isOpen) return fewer([...turns, { from: Math.max(since, last?.until ?? 0) }]);
  const rests = activity === "idle" || activity === "asks";
  return rests && isOpen ? [...turns.slice(0, -1), { ...last, until: Math.max(since, last.from) }] : undefined;
}

/** When a run was at work: in its turns, or from its start to its end where it has no session, or an old record. */
export function workOf({ started, endedAt }: Run): readonly Turn[] {
  if (started === undefined) return [];
  const end = endedAt === undefined ? {} : { until: endedAt };
  return (started.turns ?? [{ from: started.at }]).map((turn) => ({ ...end, ...turn }));
}

/** How long a run has worked, in milliseconds. */
export function workTime(run: Run, now: number): number {
  return workOf(run).reduce((sum, { from, until = now }) => sum + Math.max(0, until - from), 0);
}

function fewer(turns: readonly Turn[]): readonly Turn[] {
  if (turns.length <= maxTurns) return turns;
  const pauses = turns.slice(1).map(({ from }, i) => from - (turns[i]?.until ?? from));
  const at = pauses.indexOf(Math.min(...pauses));
  return turns.flatMap((turn, i) => (i === at + 1 ? [] : i === at ? [{ ...turns[i + 1], from: turn.from }] : [turn]));
}
