import type { Clock } from "../../ports/clock.ts";
import type { Run } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Submit } from "../submit.ts";
import { type Dispatch, namedReset } from "./dispatch.ts";
import { limitReason } from "./heal-run.ts";
import type { Mail } from "./mail.ts";
import type { RunWatch } from "./watch-run.ts";

export interface IdlePorts {
  readonly clock: Clock;
  readonly store: Pick<Store, "openEffects">;
  readonly submit: Submit;
  readonly mail: Mail;
  readonly dispatch: Dispatch;
}

export interface Idle {
  /** A run's turn is over, and it still is. */
  noticed(watch: RunWatch): Promise<void>;
  /** A run that an earlier daemon has looked after, and that was told something for the last time then. */
  takenUp(run: string, toldAt: number): void;
  forget(run: string): void;
}

/** Between two reminders. */
const pause = 5 * 60_000;

interface Told {
  /** Since when it was idle when the engine was told. */
  readonly since: number;
  readonly at: number;
  readonly remindedAt: number;
}

/**
 * Tells the engine that an agent has nothing to do: at once whenever it goes idle, so that what it has produced counts, and
 * again after a while. It is not reminded twice in a row without a pause, which begins when the reminder has reached it: a
 * person is called for a quiet agent only after it was told, and that did not help.
 */
export function createIdle({ clock, store, submit, mail, dispatch }: IdlePorts): Idle {
  const told = new Map<string, Told>();
  /** Something that it is to be told is on its way: owed by its task, or kept for it. */
  const isToBeTold = async (run: Run) => {
    const isOwed = (await store.openEffects(run.task)).some(
      ({ state, effect }) => state === "owed" && effect.action === "notify_agent" && effect.agent?.run === run.key,
    );
    return isOwed || (await mail.untold(run)).length > 0;
  };
  return {
    async noticed(watch) {
      const { run, signs, harness } = watch;
      if (watch.started.mode !== "session") return;
      if (mail.waits(watch)) return mail.wake(watch);
      const now = clock.now();
      if (signs.error?.kind === "rate-limit") {
        const named = namedReset(signs.error.resetAt, signs.since);
        const until = named ?? signs.since + pause;
        const isLifted = (dispatch.liftedAt(harness.name) ?? Number.NEGATIVE_INFINITY) >= signs.since;
        if (now < until && !isLifted)
          return dispatch.limit(harness.name, until, limitReason(harness, signs.error.message), named === undefined);
        const text = "The provider's limit is over. Go on with what you were at.";
        return mail.tell(run, text, `limit-${signs.since}`);
      }
      const before = inTime(told.get(run.id), now);
      if (before !== undefined) told.set(run.id, before);
      if (before?.since === signs.since && now - before.at < pause) return;
      const remindedAt = before?.remindedAt ?? Number.NEGATIVE_INFINITY;
      const hasHeardAt = Math.min(mail.toldAt(run) ?? remindedAt, now);
      const heardAt = remindedAt === Number.NEGATIVE_INFINITY ? remindedAt : Math.max(remindedAt, hasHeardAt);
      // What it has produced counts all the same.
      const isPatient = now - heardAt < pause || (await isToBeTold(run));
      told.set(run.id, { since: signs.since, at: now, remindedAt });
      const { decision } = await submit(run.task, { kind: "idle", run: run.key, isPatient });
      const isReminded = decision.kind === "stayed" && decision.events.some(({ type }) => type === "agent.reminded");
      if (isReminded) told.set(run.id, { since: signs.since, at: now, remindedAt: now });
    },
    takenUp: (run, at) => void told.set(run, { since: Number.NaN, at, remindedAt: at }),
    forget: (run) => void told.delete(run),
  };
}

/** Nobody waits for longer because the clock was put back. */
function inTime(told: Told | undefined, now: number): Told | undefined {
  return told && { ...told, at: Math.min(told.at, now), remindedAt: Math.min(told.remindedAt, now) };
}
