import type { Run } from "../../ports/records.ts";
import type { AgentsPorts } from "./agents.ts";
import { type Dispatch, seatOf } from "./dispatch.ts";
import { killRun } from "./heal-run.ts";
import { labelOf, type Roster } from "./roster.ts";
import { isWanted } from "./run-order.ts";
import { forgetEnded } from "./run-secrets.ts";
import type { Panes } from "./run-signs.ts";
import type { UsageBook } from "./usage.ts";

interface RecoverPorts {
  readonly given: AgentsPorts;
  readonly book: UsageBook;
  readonly panes: Pick<Panes, "look">;
  readonly dispatch: Dispatch;
  readonly roster: Roster;
  kill(run: Run): Promise<void>;
  /** Closes the record of a run that was ended, or that an earlier daemon has reported. */
  close(run: Run): Promise<void>;
  watch(run: Run): void;
  adoptIdle(run: Run): Promise<void>;
  adoptAsleep(run: Run): Promise<void>;
  tellStuck(run: Run, label: string): void;
  onError(error: unknown): void;
}

/** After a start: adopts the runs that are still wanted, and ends the others. */
export async function recoverRuns(ports: RecoverPorts): Promise<void> {
  const { given, book, panes, dispatch, roster, kill, close, onError } = ports;
  const { store, places } = given;
  await book.open();
  const all = (await store.runs.list({})).filter(({ started }) => started !== undefined);
  await roster.open(all);
  const live = all.filter(({ endedAt }) => endedAt === undefined);
  // Before anything waits for an agent: a run that is about to be ended, or started again, still has its own.
  for (const run of live) {
    const task = run.agent === undefined ? undefined : (await store.getTask(run.task))?.task;
    roster.bind(run, task === undefined ? run.task : labelOf(task));
  }
  const hasWindows = all.some(({ started }) => started?.mode === "session");
  if (hasWindows) await panes.look().catch(onError);
  const sleeping: Run[] = [];
  for (const run of live) {
    const task = (await store.getTask(run.task))?.task;
    if (task === undefined || !isWanted(task, run.key)) {
      // A run that cannot be ended must not stop the others from being adopted; `kill` retries it.
      await kill(run)
        .then(() => close(run))
        .then(async () => {
          const closed = await store.runs.get(run.id);
          if (task !== undefined && closed?.stuck !== undefined) ports.tellStuck(closed, labelOf(task));
        })
        .catch(onError);
      continue;
    }
    if (run.started?.asleepSince !== undefined) {
      await killRun(given, run).catch(onError);
      sleeping.push(run);
      continue;
    }
    // The owed effect starts a run whose program was not started yet.
    if (run.pid === 0 && (await isOwed(given, task.id, run.key))) continue;
    // A person may have asked for the run's end since: the record has the reason then.
    const now = await store.runs.get(run.id);
    if (now === undefined || now.endedAt !== undefined) continue;
    // It keeps the seat until the first check; if it is idle then, it releases the seat.
    dispatch.seated({ ...seatOf(now), isAssumed: true });
    ports.watch(now);
    await ports.adoptIdle(now);
  }
  for (const run of sleeping) await ports.adoptAsleep(run);
  if (hasWindows) await closeStrays(given).catch(onError);
  forgetEnded(places.runs, all);
}

async function isOwed({ store }: AgentsPorts, task: string, run: string): Promise<boolean> {
  return (await store.openEffects(task)).some(
    ({ effect }) => effect.action === "spawn_agent" && effect.agent?.run === run,
  );
}

/** Closes live panes that belong to no wanted run; nothing else would end them. */
async function closeStrays({ store, terminal }: AgentsPorts): Promise<void> {
  const names = new Set((await store.liveRuns()).map(({ started }) => started?.name));
  for (const pane of await terminal.list())
    if (pane.dead === undefined && !names.has(pane.run)) await terminal.close(pane.run);
}
