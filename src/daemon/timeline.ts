/** me: it waits for a person. queued: it waits for the machine, such as for a seat or in a merge queue. idle: nothing happens. */
export type StretchKind = "me" | "queued" | "working" | "idle";

/** A part of a task's life in which one kind of thing happened in one state. Times are milliseconds since 1970. */
export interface Stretch {
  readonly kind: StretchKind;
  readonly state: string;
  readonly from: number;
  readonly until: number;
  /** The runs that worked in it. */
  readonly runs: readonly string[];
  /** The part of those runs' costs that falls into it; undefined if none of them has a known cost. */
  readonly cost: number | undefined;
  /** How many of them have an unknown cost. */
  readonly unknown: number;
}

/** From one time to another; without an end it goes on. */
interface Interval {
  readonly from: number;
  readonly until: number | undefined;
}

export interface LifeRun {
  readonly key: string;
  readonly askedAt: number;
  readonly startedAt: number;
  /** When it worked: a session that waits for its next message does not. */
  readonly work: readonly { readonly from: number; readonly until?: number }[];
  /** Undefined if it is unknown. */
  readonly cost: number | undefined;
}

export interface LifeEvent {
  readonly type: string;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Life {
  readonly createdAt: number;
  /** In their order. */
  readonly events: readonly LifeEvent[];
  readonly runs: readonly LifeRun[];
  /** Since when it needs a person; undefined if it needs none now. */
  readonly needSince: number | undefined;
  /** What a state waits for; `human`: the next move is a person's, whatever an agent does there meanwhile. */
  kindOf(state: string): "human" | "slot" | "end" | "other";
}

/** A task's life in stretches from its creation to its end, or until now. */
export function stretchesOf(life: Life, now: number): readonly Stretch[] {
  const { events, runs, kindOf, needSince } = life;
  const states = statesOf(life);
  const end = states.find(({ state }) => kindOf(state) === "end")?.from ?? now;
  const asks: readonly Interval[] = [
    ...intervals(events, ["dialogue.asked"], ["dialogue.answered", "task.moved"]),
    ...intervals(events, ["task.held"], ["task.continued", "task.moved"]),
    ...intervals(events, ["merge.waits"], ["merge.landed", "merge.failed", "task.moved"]),
    ...intervals(events, ["message.undelivered"], ["message.delivered", "agent.ended", "task.moved"]),
    ...intervals(events, ["agent.raised"], ["agent.ended", "task.moved", "task.attended", "message.delivered"]),
    ...(needSince === undefined ? [] : [{ from: needSince, until: undefined }]),
  ];
  const merging = intervals(events, ["merge.asked"], ["merge.landed", "merge.failed", "task.moved"]);
  const own = intervals(events, ["task.working"], ["task.worked", "task.moved"]);
  const work = runs.map((run) => ({ run, parts: workParts(run, events) }));
  const seats = runs.map(({ askedAt, startedAt }) => ({ from: askedAt, until: startedAt }));
  const bounds = [...asks, ...merging, ...own, ...seats, ...work.flatMap(({ parts }) => parts), ...states]
    .flatMap(({ from, until }) => [from, until ?? end])
    .filter((at) => at > life.createdAt && at < end);
  const cuts = [...new Set([life.createdAt, ...bounds, end])].sort((a, b) => a - b);
  const pieces: Stretch[] = [];
  for (const [i, from] of cuts.entries()) {
    const until = cuts[i + 1];
    if (until === undefined) break;
    const has = (each: Interval) => each.from <= from && (each.until ?? end) >= until;
    const state = states.findLast(has)?.state ?? "";
    const kind = kindOf(state);
    const working = work.filter(({ parts }) => parts.some(has)).map(({ run }) => run);
    const isBusy = working.length > 0;
    const found: StretchKind = asks.some(has)
      ? "me"
      : own.some(has)
        ? "working"
        : merging.some(has)
          ? "queued"
          : kind === "human"
            ? "me"
            : isBusy
              ? "working"
              : kind === "slot" || seats.some(has)
                ? "queued"
                : "idle";
    // While a person is waited for, a session that stays open costs nothing more.
    const paid = found === "working" ? working : [];
    pieces.push({ kind: found, state, from, until, runs: paid.map(({ key }) => key), cost: undefined, unknown: 0 });
  }
  return joined(pieces).map((piece, _, all) => ({ ...piece, ...costIn(piece, all, runs) }));
}

function statesOf({ createdAt, events }: Life): readonly (Interval & { readonly state: string })[] {
  const entered = events.flatMap(({ type, at, data }) =>
    type === "task.created"
      ? [{ state: String(data.status ?? ""), at: createdAt }]
      : type === "task.moved"
        ? [{ state: String(data.to ?? ""), at }]
        : [],
  );
  return entered.map(({ state, at }, i) => ({ state, from: at, until: entered[i + 1]?.at }));
}

/** From an event of the first types to the next one of the others. A further beginning in between changes nothing. */
function intervals(events: readonly LifeEvent[], begin: readonly string[], end: readonly string[]): Interval[] {
  const found: Interval[] = [];
  let from: number | undefined;
  for (const { type, at } of events) {
    if (from === undefined && begin.includes(type)) from = at;
    else if (from !== undefined && end.includes(type)) {
      found.push({ from, until: at });
      from = undefined;
    }
  }
  return from === undefined ? found : [...found, { from, until: undefined }];
}

/** When the run worked: not while it slept, which matters for old records, that have no turns. */
function workParts({ key, work }: LifeRun, events: readonly LifeEvent[]): readonly Interval[] {
  const own = events.filter(({ data }) => data.run === key);
  const sleeps = intervals(own, ["agent.slept"], ["agent.woken", "agent.ended"]);
  return work.flatMap(({ from: begin, until: end }) => {
    const parts: Interval[] = [];
    let from = begin;
    for (const sleep of sleeps) {
      if ((sleep.until ?? Number.POSITIVE_INFINITY) <= from || (end !== undefined && sleep.from >= end)) continue;
      if (sleep.from > from) parts.push({ from, until: sleep.from });
      if (sleep.until === undefined) return parts;
      from = sleep.until;
    }
    return end !== undefined && from >= end ? parts : [...parts, { from, until: end }];
  });
}

function joined(pieces: readonly Stretch[]): readonly Stretch[] {
  const all: Stretch[] = [];
  for (const piece of pieces) {
    const last = all.at(-1);
    const isSame = last?.kind === piece.kind && last.state === piece.state && last.runs.join() === piece.runs.join();
    if (last !== undefined && isSame) all[all.length - 1] = { ...last, until: piece.until };
    else all.push(piece);
  }
  return all;
}

/** A run's cost is spread over its stretches by their length: nobody reports when it arose. */
function costIn({ runs: keys, from, until }: Stretch, all: readonly Stretch[], runs: readonly LifeRun[]) {
  const own = runs.filter(({ key }) => keys.includes(key));
  const known = own.filter(({ cost }) => cost !== undefined);
  const share = ({ key, cost = 0 }: LifeRun) => {
    const total = all.reduce((sum, each) => sum + (each.runs.includes(key) ? each.until - each.from : 0), 0);
    return total === 0 ? 0 : (cost * (until - from)) / total;
  };
  return {
    cost: known.length === 0 ? undefined : known.reduce((sum, run) => sum + share(run), 0),
    unknown: own.length - known.length,
  };
}
