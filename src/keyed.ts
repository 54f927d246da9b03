/**
 * A mutex per key: work with the same key runs one after the other, in the order of the calls; work with different keys
 * runs concurrently. Failing work does not block the next.
 */
export type Turns = <T>(key: string, run: () => Promise<T>) => Promise<T>;

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return (key, run) => {
    const before = last.get(key);
    const mine = before === undefined ? begin(run) : before.then(run, run);
    last.set(key, mine);
    const leave = () => {
      if (last.get(key) === mine) last.delete(key);
    };
    mine.then(leave, leave);
    return mine;
  };
}

/** Runs immediately; a synchronous error becomes a rejection. */
function begin<T>(run: () => Promise<T>): Promise<T> {
  try {
    return run();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** A cache of answers by key. Concurrent callers share one answer; failed answers are not cached. */
export interface Memo<Answer> {
  get(key: string, ask: () => Promise<Answer>): Promise<Answer>;
  forget(key: string): void;
}

interface MemoOptions<Answer> {
  /** At this number of answers the cache is cleared. */
  readonly max?: number;
  /** How long an answer is valid, by this clock. Setting the clock back does not extend that. */
  readonly maxAge?: { readonly clock: { now(): number }; readonly ms: number };
  /** Whether an answer is cached; by default all are. */
  keeps?(answer: Answer): boolean;
}

/** More than are ever in use at the same time. */
const defaultMax = 10_000;

export function createMemo<Answer>(options: MemoOptions<Answer> = {}): Memo<Answer> {
  const { max = defaultMax, maxAge, keeps = () => true } = options;
  const known = new Map<string, { readonly at: number; readonly answer: Promise<Answer> }>();
  const now = () => maxAge?.clock.now() ?? 0;
  return {
    get(key, ask) {
      const before = known.get(key);
      if (before !== undefined && (maxAge === undefined || Math.abs(now() - before.at) <= maxAge.ms))
        return before.answer;
      const mine = { at: now(), answer: begin(ask) };
      if (known.size >= max) known.clear();
      known.set(key, mine);
      const drop = () => {
        if (known.get(key) === mine) known.delete(key);
      };
      mine.answer.then((answer) => {
        if (!keeps(answer)) drop();
      }, drop);
      return mine.answer;
    },
    forget: (key) => void known.delete(key),
  };
}

/**
 * Lets callers share answers that are never older than their call: callers that ask while a request is running share
 * the next one.
 */
export function sharing<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let current: Promise<unknown> | undefined;
  let next: Promise<Answer> | undefined;
  const start = () => {
    const answer = begin(ask);
    const over = answer.then(
      () => {},
      () => {},
    );
    current = over;
    over.then(() => {
      if (current === over) current = undefined;
    });
    return answer;
  };
  return () => {
    if (current === undefined) return start();
    next ??= current.then(() => {
      next = undefined;
      return start();
    });
    return next;
  };
}
