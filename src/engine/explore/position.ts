import { ticketWord } from "../settled.ts";
import { type Held, type Member, noProgress, type Task, type WaitProgress } from "../task.ts";
import { isTemporary, resolve, settingOf } from "../when.ts";
import type { Guard, Settings, State, Way, Workflow } from "../workflow.ts";
import type { Past, World } from "./world.ts";

/** What distinguishes the positions of a workflow, and what is dropped because it cannot change a decision. */
export interface Positions {
  /** Equal for two worlds in which the same can happen. */
  key(world: World): string;
  /** The world without what is dropped: counters are capped above the largest number they are compared with. */
  small(world: World): World;
}

export function createPositions(workflow: Workflow, preset: string, settings: Settings): Positions {
  const caps = capsOf(workflow, preset, settings);
  const itemSchemas = Object.values(workflow.states).flatMap((state) =>
    state.wait.kind === "fan_out" ? [state.wait.from.result] : [],
  );
  const relevant = relevantPast(workflow);
  const share = createShared();
  const countersAhead = readAhead(
    workflow,
    () => true,
    (state) => countersRead(state, caps.counters),
  );
  // A wait without progress is one object, which is recognised by that.
  const sharedWait = (wait: WaitProgress) => (wait === noProgress ? wait : share(wait));
  const counters = ({ status }: Task) => countersAhead.get(status) ?? [];
  const crashes = (task: Task) => {
    const { status, crashCount, phase } = task;
    if (crashCount === 0 || workflow.states[status]?.terminal) return 0;
    if (task.held?.again === "effects" && caps.compared === 0) return 0;
    const own = caps.crashes.get(status) ?? 0;
    if (phase === "entering")
      return Math.min(crashCount, task.wait.hasFailed === true ? Math.max(own, caps.carried) : caps.carried);
    // To continue a held task forgets them, unless something compares them; to move it or to start its agent again does not.
    const isForgotten = task.held !== undefined && caps.compared === 0 && caps.carried === 0 && isEmpty(task.runs);
    if (isForgotten && workflow.states[status]?.respawn === undefined) return 0;
    return task.held === undefined ? Math.min(crashCount, own) : Math.min(crashCount, Math.max(own, caps.carried));
  };
  // Whatever a person does, visits are counted anew. Rules take any way.
  const visitsAhead = readAhead(
    workflow,
    ({ by, from, to }) => by?.every((role) => role === "human") !== true || isRuled(workflow, from, to),
    ({ name }) => (caps.visits.has(name) ? [name] : []),
  );
  const visitsRead = (task: Task): readonly string[] => {
    // To start an agent again does not count visits anew.
    const canRespawn = task.held?.again !== "effects" && workflow.states[task.status]?.respawn !== undefined;
    if (caps.visits.size === 0 || canRespawn || !restsWithPerson(task)) return visitsAhead.get(task.status) ?? [];
    return task.held?.again !== "effects" && caps.visits.has(task.status) ? [task.status] : [];
  };
  // Without an agent it says nothing: the person can answer again once there is one.
  const keepsAttended = (task: Task) =>
    task.attended && workflow.states[task.status]?.wait.kind === "human" && !isEmpty(task.runs);
  const waitOf = (task: Task) => {
    const state = workflow.states[task.status];
    const hasFailures = crashes(task) > 0;
    return smallWait(task, hasFailures, caps.rounds.get(task.status), (state?.evidence.length ?? 0) > 0);
  };
  return {
    key(world) {
      const { task } = world;
      const { status, phase } = task;
      let key = `${status} ${phase} ${crashes(task)}${keepsAttended(task) ? "a" : ""}${world.workspace ? "w" : ""}`;
      for (const name of counters(task)) key += ` ${Math.min(task.counters[name] ?? 0, caps.counters.get(name) ?? 0)}`;
      for (const name of visitsRead(task)) key += ` ${Math.min(task.visits[name] ?? 0, caps.visits.get(name) ?? 0)}`;
      for (const name of relevant) key += world.past[name] ? " 1" : " 0";
      key += runsKey(task);
      if (task.held !== undefined) key += ` held ${wordClass(task.held)} ${task.held.again}`;
      key += waitKey(waitOf(task));
      const results = keptResults(task, workflow.states[status], itemSchemas);
      for (const name in results) key += ` ${name} ${JSON.stringify(results[name])}`;
      return key;
    },
    small({ task, workspace, past }) {
      return {
        task: {
          ...task,
          previousStatus: "",
          entry: 1,
          counters: share(capped(task.counters, caps.counters, counters(task))),
          visits: share(capped(task.visits, caps.visits, visitsRead(task))),
          crashCount: crashes(task),
          runs: share(
            Object.fromEntries(Object.entries(task.runs).map(([name, run]) => [name, { ...run, key: `${name}#1` }])),
          ),
          sessions: share({}),
          runCount: 0,
          spent: share({ sections: [], head: "" }),
          results: keptResults(task, workflow.states[task.status], itemSchemas),
          wait: sharedWait(waitOf(task)),
          attended: keepsAttended(task),
          held: task.held === undefined ? undefined : share({ ...task.held, reason: "" }),
          reason: "",
          log: share([]),
          // Decisions read it only through facts, of which every value is tried.
          ledger: undefined,
          documents: undefined,
          stageMessages: undefined,
          proofs: undefined,
        },
        workspace,
        sections: share({}),
        past: share(past),
      };
    },
  };
}

/**
 * Gives equal values of plain data as one object. The worlds of many thousand positions differ in a few of their parts only;
 * with parts of their own they take three times the memory.
 */
export function createShared(): <T>(value: T) => T {
  const known = new Map<string, unknown>();
  return (value) => {
    const key = JSON.stringify(value);
    const before = known.get(key);
    if (before !== undefined) return before as typeof value;
    known.set(key, value);
    return value;
  };
}

/** Whether only a person can go on with a task. Whatever the person does, visits are counted anew. */
function restsWithPerson({ held, phase, runs }: Task): boolean {
  if (held === undefined || wordClass(held) !== "-") return false;
  return held.again === "effects" || (phase !== "entering" && isEmpty(runs));
}

/** For each state, what is read in it or in a state that lies ahead of it on ways that `may` be gone. */
function readAhead(
  { states, ways }: Workflow,
  may: (way: Way) => boolean,
  read: (state: State) => readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const open = ways.filter(may);
  const ahead = new Map<string, readonly string[]>();
  for (const name of Object.keys(states)) {
    const reached = new Set([name]);
    for (const each of reached) for (const { from, to } of open) if (from === each) reached.add(to);
    const names = [...reached].flatMap((each) => read(states[each] as State));
    ahead.set(name, [...new Set(names)].sort());
  }
  return ahead;
}

function isRuled({ states }: Workflow, from: string, to: string): boolean {
  return states[from]?.rules.some(({ does }) => (does.kind === "then" ? does.to : does.after?.to) === to) === true;
}

/** The counters that conditions of a state, or of the ways out of it, compare. */
function countersRead({ unless, evidence, rules, out }: State, caps: ReadonlyMap<string, number>): readonly string[] {
  const ways = Object.values(out).flat();
  const guards = [...unless, ...evidence, ...[...rules, ...ways].flatMap(({ when }) => when)];
  return guards.flatMap(({ source, field }) => (source === "counter" && caps.has(field) ? [field] : []));
}

function capped(
  values: Readonly<Record<string, number>>,
  caps: ReadonlyMap<string, number>,
  names: readonly string[],
): Readonly<Record<string, number>> {
  const small: Record<string, number> = {};
  for (const name of names) {
    const value = Math.min(values[name] ?? 0, caps.get(name) ?? 0);
    if (value !== 0) small[name] = value;
  }
  return small;
}

/** Members of a panel differ only in their names, so it counts how many of them are how far. */
function runsKey({ runs }: Task): string {
  let key = "";
  let members: string[] | undefined;
  const names = Object.keys(runs);
  for (const name of names.length > 1 ? names.sort() : names) {
    const { mode, report } = runs[name] as Task["runs"][string];
    if (name.includes("/")) members = [...(members ?? []), `${name.split("/")[0]}/`];
    else key += ` ${name}:${mode}${report === undefined ? "" : "!"}`;
  }
  return members === undefined ? key : `${key} ${members.join(" ")}`;
}

function waitKey(wait: WaitProgress): string {
  if (wait === noProgress) return "";
  const { skipped, childrenOver, stepLimit = "-", round, turn = "-", reminded, hasFailed = false, members } = wait;
  const plain = ` wait ${skipped} ${childrenOver} ${stepLimit} ${round} ${turn} ${reminded} ${hasFailed}`;
  const each = Object.values(members).map(({ state, tries }) => `${state} ${tries}`);
  return each.length === 0 ? plain : `${plain} ${each.sort().join(" ")}`;
}

/** Why a task is held matters only where the engine may try again, or a rule may cover it in the meantime. */
function wordClass({ word }: Held): string {
  return isTemporary(word) ? "temporary" : word === "missing" || word === ticketWord ? word : "-";
}

/** Rounds are counted up to their limit, and not at all where there is none; reminders only where evidence is asked for. */
function smallWait({ wait: progress, phase }: Task, hasFailures: boolean, rounds = 0, reminds = false): WaitProgress {
  const isCounting = hasFailures && phase === "entering" && progress.hasFailed === true;
  const round = Math.min(progress.round, rounds);
  const reminded = reminds ? Math.min(progress.reminded, 1) : 0;
  const isPlain =
    !isCounting &&
    !progress.skipped &&
    !progress.childrenOver &&
    progress.stepLimit === undefined &&
    round === 0 &&
    reminded === 0 &&
    progress.turn === undefined &&
    isEmpty(progress.members);
  if (isPlain) return noProgress;
  const { skipped, childrenOver, stepLimit, turn } = progress;
  const members: Record<string, Member> = {};
  for (const name in progress.members) {
    const member = progress.members[name] as Member;
    members[name] = member.answer === undefined ? member : { ...member, answer: undefined };
  }
  const small = { skipped, childrenOver, step: 0, stepLimit, round, turn, reminded, members };
  return isCounting ? { ...small, hasFailed: true } : small;
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false;
  return true;
}

const none: Task["results"] = {};

/** Keeps answers that rules still have to read, and those that hold the items of a fan-out. */
function keptResults(task: Task, state: State | undefined, itemSchemas: readonly string[]): Task["results"] {
  const kept = [...itemSchemas];
  const { wait } = state ?? {};
  const run = wait?.kind === "agent" ? wait.run : wait?.kind === "panel" ? wait.judge : undefined;
  if (state !== undefined && run?.result !== undefined) {
    const works = task.phase === "doing" || task.held?.again === "do";
    if (run.mode === "dialogue" || (works && state.rules.some((rule) => rule.result !== undefined)))
      kept.push(run.result);
  }
  let found: Record<string, unknown> | undefined;
  for (const name of kept) {
    if (!Object.hasOwn(task.results, name)) continue;
    found ??= {};
    found[name] = task.results[name];
  }
  return found ?? none;
}

/** What of a task's past some fact of the file depends on. */
function relevantPast(workflow: Workflow): readonly (keyof Past)[] {
  const fields = new Set(guardsOf(workflow).map(({ field }) => field));
  const reads = (...names: readonly string[]) => names.some((name) => fields.has(name));
  return [
    "owes",
    ...(reads("merged", "commits", "new_commits", "protected") ? ["ran" as const] : []),
    ...(reads("children_done", "children_failed") ? ["fanned" as const] : []),
    ...(reads("open_findings", "noted_findings", "quiet_rounds") ? ["reviewed" as const] : []),
  ];
}

/** Every guard of a file. */
export function guardsOf(workflow: Workflow): readonly Guard[] {
  const inStates = Object.values(workflow.states).flatMap((state) => [
    ...state.unless,
    ...state.evidence,
    ...state.rules.flatMap((rule) => rule.when),
  ]);
  return [...workflow.ways.flatMap((way) => way.when), ...inStates];
}

function capsOf(workflow: Workflow, preset: string, settings: Settings) {
  const counters = new Map<string, number>();
  const visits = new Map<string, number>();
  const crashes = new Map<string, number>();
  const rounds = new Map<string, number>();
  // Until a move has settled, the failures of the state before count, so each state keeps what another one compares.
  let compared = 0;
  // Work that begins before that is tried less often.
  let carried = 0;
  const raise = (map: Map<string, number>, key: string, value: number) =>
    map.set(key, Math.max(map.get(key) ?? 0, value));
  const look = (guard: Guard, state: string) => {
    const value =
      typeof guard.value === "number"
        ? guard.value
        : Number(settingOf(workflow, { preset, settings }, guard.value.setting) ?? 0);
    // From there on, no larger number compares differently.
    const cap = guard.op === "<" || guard.op === ">=" ? value : value + 1;
    if (guard.source === "counter") raise(counters, guard.field, cap);
    if (guard.source === "visits") raise(visits, state, cap);
    if (guard.source === "crash_count") compared = Math.max(compared, cap);
  };
  for (const way of workflow.ways) for (const guard of way.when) look(guard, way.from);
  for (const state of Object.values(workflow.states)) {
    for (const guard of [...state.unless, ...state.evidence]) look(guard, state.name);
    const runs =
      state.wait.kind === "agent"
        ? [state.wait.run]
        : state.wait.kind === "panel"
          ? [state.wait.member, state.wait.judge]
          : [];
    for (const run of runs) {
      const limit = state.limits.rounds ?? run.limits.rounds;
      if (limit !== undefined) rounds.set(state.name, resolve(limit, workflow, { preset, settings }));
    }
    // A failure is counted before the count is compared.
    const attempts = [state.limits.attempts ?? 1, ...runs.map((run) => run.limits.attempts ?? 1)];
    raise(crashes, state.name, Math.max(...attempts) - 1);
    if (state.do.length > 0 && runs.length > 0) carried = Math.max(carried, Math.max(...attempts) - 1);
    for (const rule of state.rules) {
      for (const guard of rule.when) look(guard, state.name);
      if (rule.does.kind !== "then" && rule.does.after !== undefined)
        compared = Math.max(compared, rule.does.after.count);
    }
  }
  for (const name of Object.keys(workflow.states)) raise(crashes, name, compared);
  return { counters, visits, crashes, rounds, compared, carried: Math.max(carried, compared) };
}
