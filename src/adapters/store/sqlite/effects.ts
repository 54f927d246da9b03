import type { DatabaseSync } from "node:sqlite";
import type { Effect } from "../../../engine/decision.ts";
import { Fault } from "../../../fault.ts";
import type { Failure, Store, StoredEffect } from "../../../ports/store.ts";
import type { Write } from "./writer.ts";

/** What tasks owe. `add` belongs to the transaction of its caller. */
export interface Effects
  extends Pick<
    Store,
    "dueEffects" | "nextDue" | "listEffects" | "openEffects" | "finishEffect" | "failEffect" | "retryEffects"
  > {
  add(task: string, entry: number, effects: readonly Effect[], at: number): void;
  drop(task: string): void;
}

export function createEffects(database: DatabaseSync, write: Write): Effects {
  const insert = database.prepare(
    "insert into effect (task, entry, effect, state, due_at, tries) values (?, ?, ?, 'owed', ?, 0)",
  );
  // In order per task: what comes after an effect that is owed or has failed has to wait for it.
  const open = "state in ('owed', 'failed')";
  const first = `from effect where state = 'owed' and id in (select min(id) from effect where ${open} group by task)`;
  const due = database.prepare(`select * ${first} and due_at <= ? order by due_at, id limit ?`);
  const next = database.prepare(`select min(due_at) as due ${first} and due_at > ?`);
  const byTask = database.prepare("select * from effect where task = ? order by id");
  const openByTask = database.prepare(`select * from effect where task = ? and ${open} order by id`);
  const finish = database.prepare(`update effect set state = 'done', done_at = ? where id = ? and ${open}`);
  const fail = database.prepare(
    `update effect set state = ?, tries = tries + 1, failure = ?, due_at = coalesce(?, due_at) where id = ? and ${open}`,
  );
  const drop = database.prepare(`update effect set state = 'dropped' where task = ? and ${open}`);
  const retry = database.prepare("update effect set state = 'owed', due_at = ? where task = ? and state = 'failed'");
  const known = database.prepare("select 1 from effect where id = ?");
  const must = (id: number) => {
    if (known.get(id) === undefined) throw new Fault("store.missing", `There is no effect ${id}.`);
  };

  return {
    add: (task, entry, effects, at) => {
      for (const effect of effects)
        insert.run(task, entry, JSON.stringify(effect), at + Math.round((effect.delay ?? 0) * 1000));
    },
    dueEffects: async (now, limit) => due.all(now, limit).map(read),
    nextDue: async (now) => {
      const found = next.get(now)?.due;
      return found === null || found === undefined ? undefined : Number(found);
    },
    drop: (task) => void drop.run(task),
    listEffects: async (task) => byTask.all(task).map(read),
    openEffects: async (task) => openByTask.all(task).map(read),
    finishEffect: (id, at) =>
      write(() => {
        must(id);
        finish.run(at, id);
      }),
    failEffect: (id, failure, retryAt) =>
      write(() => {
        must(id);
        fail.run(retryAt === undefined ? "failed" : "owed", JSON.stringify(failure), retryAt ?? null, id);
      }),
    retryEffects: (task, at) => write(() => Number(retry.run(at, task).changes)),
  };
}

function read(row: Record<string, unknown>): StoredEffect {
  return {
    id: Number(row.id),
    task: String(row.task),
    entry: Number(row.entry),
    effect: JSON.parse(String(row.effect)) as Effect,
    state: row.state as StoredEffect["state"],
    dueAt: Number(row.due_at),
    tries: Number(row.tries),
    failure: row.failure === null ? undefined : (JSON.parse(String(row.failure)) as Failure),
  };
}
