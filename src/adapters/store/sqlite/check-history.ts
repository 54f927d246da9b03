import type { DatabaseSync } from "node:sqlite";
import { prepareReading } from "./reading.ts";

/** Complains where a task's history has a hole, or a row of it belongs to no task. No foreign key sees to that. */
export function checkHistory(database: DatabaseSync): readonly string[] {
  const chains = `with recursive chain (id, task) as (
    select last, position from task where last > 0
    union all
    select history.previous, chain.task from chain cross join history on history.id = chain.id
    where history.task = chain.task and history.previous between 1 and history.id - 1
  )`;
  const torn = prepareReading<[string]>(
    database,
    `${chains} select task.id from chain
     left join history on history.id = chain.id and history.task = chain.task
     join task on task.position = chain.task where history.id is null`,
  );
  const loose = prepareReading<[number]>(
    database,
    `${chains} select count(*) from history where task <> 0 and id not in (select id from chain)`,
  );
  const [count = 0] = loose.get() ?? [];
  return [
    ...torn.all().map(([id]) => `The history of task ${id} has a hole.`),
    ...(count === 0 ? [] : [`${count} rows of history belong to nothing.`]),
  ];
}
