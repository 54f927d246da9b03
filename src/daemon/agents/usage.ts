import { isPlausible } from "../../engine/budget.ts";
import { specOf } from "../../engine/run-spec.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { TokenUsage } from "../../ports/harness.ts";
import type { Run, Usage } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { TailPosition } from "../../ports/tail.ts";
import { beginningOfStay, heardOfLimit } from "../deadlines.ts";
import type { Submit } from "../submit.ts";
import type { Ending } from "./heal-run.ts";
import { nameOfRun } from "./read-turn.ts";
import { workTime } from "./turns.ts";
import type { RunWatch } from "./watch-run.ts";

interface CostPorts {
  readonly store: Store;
  readonly book: UsageBook;
  readonly submit: Submit;
  workflowOf(task: Task): Promise<Workflow>;
  /** Ends the run, and reports that to the engine. */
  end(watch: RunWatch, ending: Ending): Promise<void>;
}

/** Ends a run whose run, state or task costs more than the workflow allows. */
export function checkCosts(ports: CostPorts): (watch: RunWatch) => Promise<void> {
  const { store, book, submit } = ports;
  const told = new Set<string>();
  const tellOnce = async (task: string) => {
    if (!(await heardOfLimit(store, task, "cost"))) await submit(task, { kind: "limit", word: "cost" });
  };
  const costOfStay = async ({ id: task, entry }: Task, since: number) => {
    const runs = await store.runs.list({ task });
    const stay = runs.filter(({ started }) => started?.entry === entry && started.at >= since);
    const ids = new Set(stay.map(({ id }) => id));
    return book.total((usage) => ids.has(usage.id)).cost;
  };
  return async (watch) => {
    const { run, started } = watch;
    const cost = book.of(run.id)?.cost;
    if (cost === undefined) return;
    const task = (await store.getTask(run.task))?.task;
    const workflow = task && (await ports.workflowOf(task));
    const state = task && workflow?.states[task.status];
    if (task === undefined || workflow === undefined || state === undefined) return;
    const ofTask = () => book.total((usage) => usage.task === task.id && usage.deleted === undefined).cost;
    if (workflow.limits.cost !== undefined && !told.has(task.id) && ofTask() >= workflow.limits.cost) {
      told.add(task.id);
      await tellOnce(task.id).catch((error) => {
        told.delete(task.id);
        throw error;
      });
    }
    const most = started.entry === task.entry ? state.limits.cost : undefined;
    if (most !== undefined && (await costOfStay(task, 0)) >= most) {
      // A person who retries a task that was held for its cost allows the same cost once more.
      const since = await beginningOfStay(store, task.id, 0);
      if ((await costOfStay(task, since)) >= most)
        await submit(task.id, { kind: "limit", word: "cost", entry: task.entry });
    }
    const own = specOf(workflow, state, nameOfRun(run.key)).limits.cost;
    if (own === undefined || cost < own || !(run.key === task.runs[nameOfRun(run.key)]?.key)) return;
    await ports.end(watch, { word: "cost", reason: `It has cost $${cost.toFixed(2)} of $${own.toFixed(2)}.` });
  };
}

interface Total {
  readonly runs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  /** US dollars, of the runs whose cost is known. */
  readonly cost: number;
  /** How many runs reported no cost: unknown is not zero. */
  readonly unknown: number;
  /** Milliseconds for which they have worked. */
  readonly duration: number;
}

export interface DayBudgets {
  /** US dollars; 0 for no limit, in every field. */
  readonly projectDay: number;
  readonly day: number;
}

/** A day's budget that is used up, and how it is raised. */
interface SpentBudget {
  readonly text: string;
  readonly fix: string;
}

/** The usage of all runs, kept in memory so that sums need no query. */
export interface UsageBook {
  /** Reads the stored usage, once; must be called before anything is asked. */
  open(): Promise<void>;
  /**
   * Adds to the usage of a run, atomically with the offset up to which its source was read: a crash neither loses nor
   * repeats any.
   */
  add(run: Run, used: readonly TokenUsage[], position: TailPosition, now: number): Promise<void>;
  /** Records how long a run took, whatever it used. */
  close(run: Run, now: number): Promise<void>;
  /** A task is about to be deleted: what it used, and what it inherited, counts for its parent from now on. */
  bequeath(task: string, parent: string): Promise<void>;
  of(run: string): Usage | undefined;
  list(): readonly Usage[];
  total(isSelected: (usage: Usage) => boolean): Total;
  /** The sums of each task, as `listUsage` groups them. */
  byTask(): ReadonlyMap<string, Total>;
  /** The day's budgets that are used up: those of these projects, and that of all. */
  spentToday(projects: readonly string[], now: number): readonly SpentBudget[];
  /** Refuses with `agents.budget` where the day's budget of the task's project, or of all projects, is used up. */
  check(task: Pick<Task, "id" | "project">, now: number): void;
}

/** `onImplausible`: a run has reported a use for the first time that cannot be true. */
export function createUsageBook(
  store: Pick<Store, "usage">,
  budgets: () => DayBudgets,
  onImplausible: (run: string, task: string) => void = () => {},
): UsageBook {
  /** As reported, and as it counts. */
  const reported = new Map<string, Usage>();
  const book = new Map<string, Usage>();
  let sums: ReadonlyMap<string, Total> | undefined;
  const note = (usage: Usage) => {
    reported.set(usage.id, usage);
    book.set(usage.id, plausible(usage));
    sums = undefined;
  };
  const put = async (usage: Usage) => {
    await store.usage.put(usage);
    const wasPlausible = isAllPlausible(reported.get(usage.id));
    note(usage);
    if (wasPlausible && !isAllPlausible(usage)) onImplausible(usage.id, usage.task);
  };
  let opened: Promise<void> | undefined;
  const read = async () => {
    try {
      for (const usage of await store.usage.list({})) note(usage);
    } catch (error) {
      // The next caller retries.
      opened = undefined;
      throw error;
    }
  };
  const total = (isSelected: (usage: Usage) => boolean) => addUp([...book.values()].filter(isSelected));

  const spentToday = (projects: readonly string[], now: number): readonly SpentBudget[] => {
    const { projectDay, day } = budgets();
    const today = startOfDay(now);
    const spent = (budget: number, who: string, key: string, isMeant: (usage: Usage) => boolean) => {
      if (budget === 0) return [];
      const { cost } = total((usage) => usage.at >= today && isMeant(usage));
      if (cost < budget) return [];
      const text = `${who} today cost $${cost.toFixed(2)} of $${budget.toFixed(2)} that are allowed.`;
      return [{ text, fix: `Raise the limit: signalbox config set ${key} ${Math.floor(cost) + 1}` }];
    };
    return [
      ...projects.flatMap((name) =>
        spent(projectDay, `The project ${name}`, "budget.project_day", ({ project }) => project === name),
      ),
      ...spent(day, "All projects together", "budget.day", () => true),
    ];
  };

  return {
    open: () => (opened ??= read()),
    async add(run, used, position, now) {
      if (used.length === 0) return;
      const before = reported.get(run.id) ?? blank(run);
      const sum = used.reduce(plus, before);
      await put({ ...sum, duration: durationOf(run, before, now), position });
    },
    async close(run, now) {
      const before = reported.get(run.id) ?? blank(run);
      await put({ ...before, duration: durationOf(run, before, now) });
    },
    async bequeath(task, parent) {
      for (const usage of [...reported.values()])
        if (usage.task === task) await put({ ...usage, task: parent, deleted: usage.deleted ?? task });
    },
    of: (run) => book.get(run),
    list: () => [...book.values()],
    total,
    byTask() {
      if (sums !== undefined) return sums;
      const groups = Map.groupBy(book.values(), ({ task }) => task);
      sums = new Map([...groups].map(([task, all]) => [task, addUp(all)]));
      return sums;
    },
    check({ id, project }, now) {
      const [spent] = spentToday([project], now);
      if (spent === undefined) return;
      throw new Fault("agents.budget", spent.text, {
        hint: `${spent.fix}\nThen, or tomorrow: signalbox task retry ${id}`,
      });
    },
    spentToday,
  };
}

function durationOf(run: Run, { at }: Usage, now: number): number {
  return run.started === undefined ? Math.max(0, now - at) : workTime({ ...run, endedAt: run.endedAt ?? now }, now);
}

function blank(run: Run): Usage {
  const { id, project, task, key, role, harness, model, agent } = run;
  return {
    ...{ id, project, task, role, harness, model },
    ...(agent === undefined ? {} : { agent }),
    at: run.started?.at ?? run.at,
    run: key,
    inputTokens: 0,
    outputTokens: 0,
    cachedTokens: 0,
    cost: undefined,
    duration: 0,
    position: { offset: 0, before: "" },
  };
}

function plus(before: Usage, { model, inputTokens, outputTokens, cachedTokens, cost }: TokenUsage): Usage {
  return {
    ...before,
    model: model || before.model,
    inputTokens: added(before.inputTokens, inputTokens),
    outputTokens: added(before.outputTokens, outputTokens),
    cachedTokens: added(before.cachedTokens, cachedTokens),
    cost: cost === undefined ? before.cost : added(before.cost ?? 0, cost),
  };
}

/**
 * An agent may report any number. A sum that becomes infinite is null in JSON, and no list could show it. A negative number,
 * or none, makes the sum implausible for good.
 */
function added(before: number, amount: number): number {
  return amount >= 0 ? Math.min(before + amount, Number.MAX_SAFE_INTEGER) : Number.MAX_SAFE_INTEGER;
}

function isAllPlausible(usage: Usage | undefined): boolean {
  return usage === undefined || plausible(usage) === usage;
}

/** An implausible report counts as unknown use. */
function plausible(usage: Usage): Usage {
  const { cost = 0, inputTokens, outputTokens, cachedTokens } = usage;
  const areTokens = [inputTokens + outputTokens, cachedTokens].every((tokens) => isPlausible("tokens", tokens));
  if (areTokens && isPlausible("cost", cost)) return usage;
  const tokens = areTokens ? {} : { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
  return { ...usage, ...tokens, ...(isPlausible("cost", cost) ? {} : { cost: undefined }) };
}

export function addUp(all: readonly Usage[]): Total {
  const sum = (of: (usage: Usage) => number) => all.reduce((total, usage) => total + of(usage), 0);
  return {
    runs: all.length,
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
    cost: sum(({ cost }) => cost ?? 0),
    unknown: all.filter(({ cost }) => cost === undefined).length,
    duration: sum(({ duration }) => duration ?? 0),
  };
}

/** Days begin at midnight in the user's time zone. */
function startOfDay(now: number): number {
  const day = new Date(now);
  day.setHours(0, 0, 0, 0);
  return day.getTime();
}
