import type { TaskEvent } from "../../engine/decision.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Message, Run } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Turns } from "../turns.ts";
import { type DeliverPorts, deliver } from "./deliver.ts";
import type { RunWatch } from "./watch-run.ts";

export interface MailPorts extends DeliverPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly inTurn: Turns;
  watchOf(run: string): RunWatch | undefined;
  /** The run may sleep: then its program is started first. */
  rouse(run: string): void;
  /** The run is told nothing more for now. */
  told(watch: RunWatch): void;
  track(work: Promise<unknown>): void;
}

/** Messages to interactive agents, one after the other for each. */
export interface Mail {
  /** Keeps a message for a run, once for each key, also before it is started. It is delivered as soon as the agent listens. */
  tell(run: Pick<Run, "id" | "project" | "task" | "key">, text: string, key: string, from?: string): Promise<void>;
  /** Something has changed: its next message may be delivered. */
  wake(watch: RunWatch): void;
  /** The run has ended: what it was not told, it will not be told. */
  giveUp(run: Run): Promise<void>;
  /** Whether a message waits for the run, as far as is known. */
  waits(watch: RunWatch): boolean;
  /** When the run was last told something by this daemon; undefined where it was not. */
  toldAt(run: Run): number | undefined;
  /** What the run was not told yet. */
  untold(run: Run): Promise<readonly Message[]>;
  /** When the run was started, or told something since: a restart of ours gives it no more time to be quiet. */
  lastTold(run: Run): Promise<number>;
  /** Whether a message is being delivered to the run, or was a moment ago and nothing can show yet that it works. */
  isTelling(watch: RunWatch): boolean;
}

/** Within so many milliseconds an agent that acknowledges nothing shows on its screen that it works. */
const answerTime = 5_000;

export function createMail(ports: MailPorts): Mail {
  const { store, clock, inTurn, track } = ports;
  const waiting = new Map<string, number>();

  const pending = async (run: Run): Promise<readonly Message[]> => {
    const all = await store.messages.list({ task: run.task });
    const open = all.filter(
      ({ to, deliveredAt, problem = "" }) => to === run.key && deliveredAt === undefined && problem === "",
    );
    waiting.set(run.id, open.length);
    return open;
  };
  const pump = (watch: RunWatch) =>
    inTurn(`mail ${watch.run.id}`, async () => {
      for (;;) {
        const [first] = await pending(watch.run);
        if (first === undefined || ports.isStopped() || ports.watchOf(watch.run.id) !== watch) return;
        if (!(await deliver(ports, watch, first))) return;
        toldAt.set(watch.run.id, clock.now());
      }
    });
  const pumping = new Set<string>();
  const toldAt = new Map<string, number>();
  // To deliver something the run is looked at, and who looks wakes us: where the store is full, that would go on without
  // a pause. Whatever is missed meanwhile is found by the next look.
  const wake = (watch: RunWatch) => {
    const { id } = watch.run;
    if (watch.started.mode !== "session" || pumping.has(id)) return;
    pumping.add(id);
    track(
      pump(watch).finally(() => {
        pumping.delete(id);
        ports.told(watch);
      }),
    );
  };

  return {
    async tell(run, text, key, from = "engine") {
      const id = `${run.id}:${key}`;
      if ((await store.messages.get(id)) !== undefined) return;
      const at = clock.now();
      const { project, task } = run;
      await store.messages.put({ id, project, task, at, from, to: run.key, text, deliveredAt: undefined });
      const event: TaskEvent = { type: "message.sent", by: from, data: { message: id, to: run.key, text }, set: {} };
      await store.addEvents(task, [event], at);
      waiting.set(run.id, (waiting.get(run.id) ?? 0) + 1);
      const watch = ports.watchOf(run.id);
      if (watch === undefined) ports.rouse(run.id);
      else wake(watch);
    },
    wake,
    toldAt: ({ id }) => toldAt.get(id),
    untold: pending,
    async lastTold({ task, key, at, started }) {
      const told = (await store.messages.list({ task })).filter(({ to }) => to === key);
      return Math.max(started?.at ?? at, ...told.map((message) => message.deliveredAt ?? message.at));
    },
    async giveUp(run) {
      for (const message of await pending(run))
        await store.messages.put({ ...message, problem: `${run.key} ended before it was told.` });
      waiting.delete(run.id);
      toldAt.delete(run.id);
    },
    isTelling({ run, harness }) {
      if (pumping.has(run.id)) return true;
      const at = toldAt.get(run.id);
      return harness.can.acknowledges === "no" && at !== undefined && Math.abs(clock.now() - at) < answerTime;
    },
    waits: ({ run }) => (waiting.get(run.id) ?? 0) > 0,
  };
}
