/**
 * The order of waiting runs: the task with the fewest transitions to its end first, then the higher priority, then the
 * older task. Among runs that want named agents the transitions do not count: no task is overtaken by a later one of the
 * same priority that wants the same model.
 */
export interface Rank {
  /** The number of transitions from the task's state to its end. */
  readonly ways: number;
  readonly priority: number;
  /** The number of the task among all tasks; older tasks have smaller numbers. */
  readonly order: number;
}

interface Ranked {
  readonly seat: { readonly wants?: unknown };
  /** Undefined while it is unknown. */
  readonly rank: Rank | undefined;
}

/**
 * Runs that want named agents are in an order of their own among themselves, and so are all others; where one of each is
 * next, their ranks decide. The sorts are stable: runs of one task start in the order in which they came.
 */
export function inOrder<T extends Ranked>(queue: readonly T[]): readonly T[] {
  const rankOf = ({ rank }: Ranked) => rank ?? last;
  const others = queue
    .filter(({ seat }) => seat.wants === undefined)
    .sort((one, other) => compareRanks(rankOf(one), rankOf(other)));
  const named = queue
    .filter(({ seat }) => seat.wants !== undefined)
    .sort((one, other) => compareFairly(rankOf(one), rankOf(other)));
  const ordered: T[] = [];
  for (;;) {
    const [one, other] = [others[0], named[0]];
    if (one === undefined || other === undefined) return [...ordered, ...others, ...named];
    const next = compareRanks(rankOf(one), rankOf(other)) <= 0 ? others : named;
    ordered.push(...next.splice(0, 1));
  }
}

/** The rank of a task whose distance from its end is unknown. */
export const last: Rank = { ways: Number.MAX_SAFE_INTEGER, priority: 0, order: Number.MAX_SAFE_INTEGER };

function compareRanks(one: Rank, other: Rank): number {
  return one.ways - other.ways || other.priority - one.priority || one.order - other.order;
}

function compareFairly(one: Rank, other: Rank): number {
  return other.priority - one.priority || one.order - other.order;
}
