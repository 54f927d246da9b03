import { Fault } from "../../fault.ts";
import type { TokenUsage } from "../../ports/harness.ts";
import type { Run, Usage } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { TailPosition } from "../../ports/tail.ts";

export interface Total {
  readonly runs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  /** US dollars, of the runs whose cost is known. */
  readonly cost: number;
  /** How many runs told no cost: unknown is not zero. */
  readonly unknown: number;
  /** Milliseconds. */
  readonly duration: number;
}

export interface Budgets {
  /** US dollars; 0 for no limit, everywhere. */
  readonly task: number;
  readonly taskTokens: number;
  readonly projectDay: number;
  readonly day: number;
}

/** What runs have used up, added up without asking the store again. */
export interface UsageBook {
  /** Reads what is stored, once; before that nothing may be asked. */
  open(): Promise<void>;
  /** Adds to what a run has used, all of it at once with how far its source was read: a crash neither loses nor repeats any. */
  add(run: Run, used: readonly TokenUsage[], position: TailPosition, now: number): Promise<void>;
  /** How long a run took, whatever it used. */
  close(run: Run, now: number): Promise<void>;
  of(run: string): Usage | undefined;
  list(): readonly Usage[];
  total(isMeant: (usage: Usage) => boolean): Total;
  /** Refused with `agents.budget` where what may be used for a task is used up. `family` are the tasks of its tree. */
  check(project: string, family: ReadonlySet<string>, now: number): void;
}

export function createUsageBook(store: Pick<Store, "usage">, budgets: () => Budgets): UsageBook {
  const book = new Map<string, Usage>();
  const put = async (usage: Usage) => {
    await store.usage.put(usage);
    book.set(usage.id, usage);
  };
  let opened: Promise<void> | undefined;
  const read = async () => {
    try {
      for (const usage of await store.usage.list({})) book.set(usage.id, usage);
    } catch (error) {
      // Who comes next tries again.
      opened = undefined;
      throw error;
    }
  };
  const total = (isMeant: (usage: Usage) => boolean) => addUp([...book.values()].filter(isMeant));

  return {
    open: () => (opened ??= read()),
    async add(run, used, position, now) {
      if (used.length === 0) return;
      const before = book.get(run.id) ?? blank(run);
      const sum = used.reduce(plus, before);
      await put({ ...sum, duration: Math.max(0, now - before.at), position });
    },
    async close(run, now) {
      const before = book.get(run.id) ?? blank(run);
      await put({ ...before, duration: Math.max(0, now - before.at) });
    },
    of: (run) => book.get(run),
    list: () => [...book.values()],
    total,
    check(project, family, now) {
      const { task, taskTokens, projectDay, day } = budgets();
      const today = startOfDay(now);
      const ofTask = total((usage) => family.has(usage.task));
      const ofProject = total((usage) => usage.project === project && usage.at >= today);
      const ofDay = total((usage) => usage.at >= today);
      refuse(ofTask.cost, task, "This task with its children", "budget.task");
      refuse(ofProject.cost, projectDay, `The project ${project} today`, "budget.project_day");
      refuse(ofDay.cost, day, "All projects together today", "budget.day");
      const tokens = ofTask.inputTokens + ofTask.outputTokens;
      if (taskTokens > 0 && tokens >= taskTokens)
        throw spent(`This task with its children has used ${tokens} of ${taskTokens} tokens.`, "budget.task_tokens");
    },
  };
}

function refuse(cost: number, budget: number, who: string, key: string): void {
  if (budget > 0 && cost >= budget)
    throw spent(`${who} has cost $${cost.toFixed(2)} of $${budget.toFixed(2)} that are allowed.`, key);
}

function spent(text: string, key: string): Fault {
  return new Fault("agents.budget", text, {
    hint: `Raise it with signalbox config set ${key}, then: signalbox task retry`,
  });
}

function blank(run: Run): Usage {
  const { id, project, task, key, role, harness, model } = run;
  return {
    ...{ id, project, task, role, harness, model },
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
    inputTokens: before.inputTokens + inputTokens,
    outputTokens: before.outputTokens + outputTokens,
    cachedTokens: before.cachedTokens + cachedTokens,
    cost: cost === undefined ? before.cost : (before.cost ?? 0) + cost,
  };
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

/** Days are the person's, not the world's. */
function startOfDay(now: number): number {
  const day = new Date(now);
  day.setHours(0, 0, 0, 0);
  return day.getTime();
}
