import type { Evidence, History, HistoryEvent } from "./evidence.ts";

/** No transition is lost or doubled: each history has no gap, and replays to the stored task. */
export function historyProblems({ histories }: Evidence): readonly string[] {
  const positions = new Map<number, string>();
  const doubled = histories.flatMap(({ task, events }) =>
    events.flatMap(({ position }) => {
      const other = positions.get(position);
      positions.set(position, task.id);
      return other === undefined ? [] : [`position ${position} is in the history of ${other} and of ${task.id}`];
    }),
  );
  return [...doubled, ...histories.flatMap((history) => about(history, [...sequence(history), ...replay(history)]))];
}

/** Every effect is performed, and every task ends or asks for a person. */
export function endProblems({ histories }: Evidence): readonly string[] {
  return histories.flatMap((history) => {
    const { task, isOpen, effects, events } = history;
    if (isOpen || task.phase !== "over")
      return task.held === undefined ? about(history, ["it is not over, and asks nobody"]) : [];
    const owed = effects.filter(({ state }) => state === "owed" || state === "running");
    const last = moves(events).at(-1);
    const isMerged = events.some(({ type }) => type === "merge.landed") || isMergedByForge(history);
    return about(history, [
      ...owed.map(({ id, effect }) => `it is over, but owes ${effect.action} (${id})`),
      ...(isMerged || last?.by === "human" ? [] : ["it is over, was not merged, and no person has ended it"]),
    ]);
  });
}

/** Whether the engine has asked the forge to merge, with success. */
export function isMergedByForge({ effects }: History): boolean {
  return effects.some(({ effect, state }) => effect.action === "merge_pr" && state === "done");
}

type Runs = Readonly<Record<string, { readonly key: string }>>;

/** A run begins once and ends once, a role has one run at a time, and no run works for an ended task. */
export function runProblems({ histories, notes }: Evidence): readonly string[] {
  const doubles = notes.filter(([what]) => what === "double").map((line) => `two agents were at it: ${line.join(" ")}`);
  return [
    ...doubles,
    ...histories.flatMap((history) => {
      const { events } = history;
      const problems: string[] = [];
      const [begun, ended] = [new Set<unknown>(), new Set<unknown>()];
      let live: Runs = {};
      for (const { type, data, set, position } of events) {
        live = (set.runs as Runs | undefined) ?? live;
        const roles = Object.values(live).map(({ key }) => key.slice(0, key.indexOf("#")));
        if (new Set(roles).size < roles.length) problems.push(`at ${position} two runs of one role are alive`);
        if (type === "agent.ended" && data.run !== undefined) once(ended, data.run, "ended");
        if (type !== "agent.started") continue;
        once(begun, data.run, "was started");
        if (position > overAt(history)) problems.push(`${data.run} was started when the task was over`);
      }
      return about(history, problems);

      function once(known: Set<unknown>, run: unknown, what: string): void {
        if (known.has(run)) problems.push(`${run} ${what} twice`);
        known.add(run);
      }
    }),
  ];
}

/** An artifact counts only if a run of the author's role wrote it after the run began. */
export function authorProblems({ histories }: Evidence): readonly string[] {
  return histories.flatMap((history) => {
    const problems: string[] = [];
    // The start of a run may be recorded after its first section, or never if the daemon was killed in between.
    const begun = new Set<string>();
    const writers = new Map<string, unknown>();
    for (const { type, by, data, set, position } of history.events) {
      for (const { key } of Object.values((set.runs ?? {}) as Runs)) begun.add(key);
      if (type === "document.changed")
        for (const section of data.sections as readonly string[]) writers.set(section, data.run ?? by);
      if (type !== "task.moved") continue;
      for (const { section, role, run } of (data.evidence ?? []) as readonly Readonly<Record<string, string>>[]) {
        const who = run || role;
        if (run && (!begun.has(run) || !run.startsWith(`${role}#`)))
          problems.push(`at ${position} ${section} is by ${run}, which is no ${role}`);
        if (writers.get(section ?? "") !== who)
          problems.push(`at ${position} ${section} counts as ${who}'s, but ${writers.get(section ?? "")} wrote it`);
      }
    }
    return about(history, problems);
  });
}

/** The position at which a task ended; infinite while it is open. */
export function overAt({ events, isOpen }: History): number {
  const end = isOpen ? undefined : events.findLast(({ set }) => set.phase === "over");
  return end?.position ?? Number.POSITIVE_INFINITY;
}

export function about({ task }: History, problems: readonly string[]): readonly string[] {
  return problems.map((problem) => `${task.id} (${task.ticket || task.branch}): ${problem}`);
}

function moves(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  return events.filter(({ type }) => type === "task.moved");
}

/** Revisions and positions have no gaps, and each move begins where the previous one ended. */
function sequence({ events, revision: last }: History): readonly string[] {
  const problems: string[] = [];
  let [revision, position, status, entry] = [0, 0, "", 0];
  for (const event of events) {
    const { type, data, set } = event;
    if (event.revision !== revision && event.revision !== revision + 1)
      problems.push(`revision ${event.revision} comes after ${revision}`);
    if (event.position <= position) problems.push(`position ${event.position} comes after ${position}`);
    ({ revision, position } = event);
    if (type === "task.moved" && data.from !== status)
      problems.push(`at ${position} it leaves ${data.from}, but was in ${status}`);
    if (type === "task.moved" && set.entry !== entry + 1)
      problems.push(`at ${position} stay ${set.entry} comes after ${entry}`);
    if (typeof set.status === "string") status = set.status;
    if (typeof set.entry === "number") entry = set.entry;
  }
  if (events[0]?.type !== "task.created") problems.push("it does not begin with its creation");
  if (revision !== last) problems.push(`history ends with revision ${revision}, the task is at ${last}`);
  return problems;
}

/** Null in an export means that a field was removed. */
function replay({ task, events }: History): readonly string[] {
  const told: Record<string, unknown> = {};
  for (const { type, set } of events) {
    const { addedMessage, droppedMessages, ...fields } = set;
    // What follows from a move is not in its event: the messages to the state that the task leaves are read.
    if (type === "task.moved" && told.stageMessages !== undefined)
      told.stageMessages = readMessages(told.stageMessages as readonly Message[], told);
    // An event of a message has that message alone.
    if (addedMessage !== undefined) {
      const dropped = (droppedMessages ?? []) as readonly number[];
      const kept = ((told.stageMessages ?? []) as readonly unknown[]).filter((_, place) => !dropped.includes(place));
      told.stageMessages = [...kept, addedMessage];
    }
    for (const [key, value] of Object.entries(fields)) {
      if (value === null) delete told[key];
      else told[key] = value;
    }
  }
  return [...new Set([...Object.keys(task), ...Object.keys(told)])].flatMap((key) => {
    const [replayed, kept] = [told[key], task[key]].map((value) => JSON.stringify(value));
    return replayed === kept ? [] : [`${key} is ${kept}, but history gives ${replayed}`];
  });
}

interface Message {
  readonly to: string;
  readonly entry: number;
  readonly read: readonly string[];
}

function readMessages(messages: readonly Message[], { status, entry }: Readonly<Record<string, unknown>>) {
  return messages.map((message) => {
    const isNew = (message.to === status || message.to === "all") && !message.read.includes(String(status));
    return isNew && message.entry < Number(entry) ? { ...message, read: [...message.read, status] } : message;
  });
}
