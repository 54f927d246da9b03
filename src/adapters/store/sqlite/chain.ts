/**
 * SQL for the ids of a task's rows of history. Each row names the one before, the task names its last. An index would cost
 * every decision one more page, and hardly anybody looks further back than the last few rows.
 *
 * `last` selects where to begin; what is less than `least` is left out.
 */
export function chain(last: string, least = "1"): string {
  return `with recursive chain (id) as (
    ${last}
    union all
    select history.previous from chain cross join history on history.id = chain.id
    where history.previous between ${least} and history.id - 1
  )`;
}
