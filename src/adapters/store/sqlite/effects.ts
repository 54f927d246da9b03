import type { DatabaseSync } from "node:sqlite";
import type { Effect } from "../../../engine/decision.ts";
import type { Failure, Store, StoredEffect } from "../../../ports/store.ts";
import { dueAt } from "../due-at.ts";
import { effectMissing } from "../faults.ts";
import type { Events } from "./events.ts";
import type { Read, Write } from "./writer.ts";

/** What tasks owe. `add`, `drop` and `retry` belong to the transaction of their caller. */
export interface Effects
  extends Pick<
    Store,
    "dueEffects" | "nextDue" | "listEffects" | "openEffects" | "finishEffect" | "failEffect" | "retryEffects"
  > {
  add(position: number, entry: number, effects: readonly Effect[], at: number): void;
  drop(position: number): void;
  retry(position: number, at: number): void;
}

export function createEffects(database: DatabaseSync, read: Read, write: Write, addEvents: Events["add"]): Effects {
  const insert = database.prepare(
    "insert into effect (task, entry, effect, state, due_at, tries) values (?, ?, ?, 'owed', ?, 0)",
  );
  // In order per task: what comes after an effect that is owed or has failed has to wait for it.
  const open = "state in ('owed', 'failed')";
  const first = `from effect where state = 'owed' and id in (select min(id) from effect where ${open} group by task)`;
  const columns = "effect.*, (select task.id from task where task.position = effect.task) as task_id";
  const ofTask = "task = (select position from task where id = ?)";
  const due = database.prepare(`select ${columns} ${first} and due_at <= ? order by due_at, id limit ?`);
  const next = database.prepare(`select min(due_at) as due ${first} and due_at > ?`);
  const byTask = database.prepare(`select ${columns} from effect where ${ofTask} order by id`);
  const openByTask = database.prepare(`select ${columns} from effect where ${ofTask} and ${open} order by id`);
  const finish = database.prepare(
    `update effect set state = 'done', done_at = ? where id = ? and ${open} returning task`,
  );
  const owner = database.prepare("select project, revision from task where position = ?");
  const fail = database.prepare(
    `update effect set state = ?, tries = tries + 1, failure = ?, due_at = coalesce(?, due_at) where id = ? and ${open}`,
  );
  const drop = database.prepare(`update effect set state = 'dropped' where task = ? and ${open}`);
  const retry = database.prepare("update effect set state = 'owed', due_at = ? where task = ? and state = 'failed'");
  const retryById = database.prepare(
    `update effect set state = 'owed', due_at = ? where ${ofTask} and state = 'failed'`,
  );
  const known = database.prepare("select 1 from effect where id = ?");
  /** What is over stays as it is; to report it twice is no mistake. */
  const mustBeOver = (id: number) => {
    if (known.get(id) === undefined) throw effectMissing(id);
  };

  return {
    add: (position, entry, effects, at) => {
      for (const effect of effects) insert.run(position, entry, JSON.stringify(effect), dueAt(effect, at));
    },
    drop: (position) => void drop.run(position),
    retry: (position, at) => void retry.run(at, position),
    dueEffects: (now, limit) => read(() => due.all(now, limit).map(toEffect)),
    nextDue: (now) =>
      read(() => {
        const found = next.get(now)?.due;
        return found === null || found === undefined ? undefined : Number(found);
      }),
    listEffects: (task) => read(() => byTask.all(task).map(toEffect)),
    openEffects: (task) => read(() => openByTask.all(task).map(toEffect)),
    finishEffect: (id, at, note) =>
      write(() => {
        const position = finish.get(at, id)?.task;
        if (position === undefined) mustBeOver(id);
        else if (note !== undefined) {
          const { project, revision } = owner.get(position) ?? {};
          addEvents(Number(position), String(project), Number(revision), [note], at);
        }
      }),
    failEffect: (id, failure, retryAt) =>
      write(() => {
        const state = retryAt === undefined ? "failed" : "owed";
        if (fail.run(state, JSON.stringify(failure), retryAt ?? null, id).changes === 0) mustBeOver(id);
      }),
    retryEffects: (task, at) => write(() => Number(retryById.run(at, task).changes)),
  };
}

function toEffect(row: Record<string, unknown>): StoredEffect {
  return {
    id: Number(row.id),
    task: String(row.task_id),
    entry: Number(row.entry),
    effect: JSON.parse(String(row.effect)) as Effect,
    state: row.state as StoredEffect["state"],
    dueAt: Number(row.due_at),
    tries: Number(row.tries),
    failure: row.failure === null ? undefined : (JSON.parse(String(row.failure)) as Failure),
  };
}
