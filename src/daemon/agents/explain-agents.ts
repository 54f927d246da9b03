import { sentence } from "../../engine/sentence.ts";
import type { Task } from "../../engine/task.ts";
import type { Store } from "../../ports/store.ts";
import type { Agents } from "./agents.ts";
import { namedReset } from "./dispatch.ts";
import { shownTime } from "./shown-time.ts";
import { isWanted } from "./start-run.ts";

export interface AgentsExplained {
  readonly blocked: readonly { readonly reason: string; readonly fix: string }[];
  readonly next: readonly { readonly what: string; readonly at: null }[];
}

/** What stands in the way of a task's agents and passes by itself, and what they are about to be told. `isOnHold`: it waits for a slot, or for the end of a pause. */
export async function explainAgents(
  store: Store,
  agents: Agents | undefined,
  task: Task,
  isOnHold: boolean,
): Promise<AgentsExplained> {
  if (agents === undefined) return { blocked: [], next: [] };
  const attach = (run: string) => `Look at it: signalbox task attach ${task.id} --role ${run}`;
  const limits = agents.dispatch.limits();
  const tryAgain = (harness: string) =>
    limits.some((limit) => limit.harness === harness)
      ? `If that does not hold any more: signalbox resume --harness ${harness}`
      : "";
  const waiting = agents.dispatch.waiting().flatMap(({ run: id, task: of, harness }) => {
    const run = id.slice(id.indexOf("/") + 1);
    const why = of === task.id && isWanted(task, run) ? agents.dispatch.whyRunWaits(id) : undefined;
    if (why === undefined) return [];
    const isThere = agents.watchOf(id) !== undefined;
    return [
      {
        reason: isThere ? `${run} is told something once it has a seat. ${why}` : `${run} waits to be started. ${why}`,
        fix: tryAgain(harness),
      },
    ];
  });
  const paused = isOnHold || task.phase === "doing" ? agents.pauses.why(task.project) : undefined;
  const watches = agents.watches().filter(({ run }) => run.task === task.id && isWanted(task, run.key));
  const limited = watches.flatMap(({ run, signs: { error, since } }) => {
    // Of every other error a person is told.
    if (error?.kind !== "rate-limit") return [];
    const named = namedReset(error.resetAt, since);
    const until = named === undefined ? "" : ` That lasts until ${shownTime(named)}.`;
    const fix = [attach(run.key), tryAgain(run.harness)].filter(Boolean).join("\n");
    return [{ reason: `${run.key} was told: ${sentence(error.message)}${until}`, fix }];
  });
  const terminal = watches.some(({ started }) => started.mode === "session") ? agents.terminalTrouble() : undefined;
  const unheard = watches.flatMap(({ run, trouble }) => {
    if (trouble === "") return [];
    return [{ reason: `What ${run.key} tells of itself is not heard: ${trouble}`, fix: attach(run.key) }];
  });
  const open = (await store.messages.list({ task: task.id })).filter(
    ({ to, deliveredAt }) => deliveredAt === undefined && isWanted(task, to),
  );
  const untold = open.filter(({ problem = "" }) => problem === "");
  return {
    blocked: [
      ...(paused === undefined ? [] : [{ reason: paused, fix: "" }]),
      ...waiting,
      ...limited,
      ...unheard,
      ...(terminal === undefined ? [] : [terminal]),
    ],
    next: untold.map(({ to, from }) => ({
      what: `Tell ${to} what ${from === "human" ? "a person" : from} has to say, as soon as it listens`,
      at: null,
    })),
  };
}
