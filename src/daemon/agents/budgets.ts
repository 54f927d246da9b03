import {
  type Account,
  accountOf,
  type Budget,
  type BudgetKind,
  type BudgetRun,
  budgetKinds,
  type Estimate,
  estimateRun,
  judgeStart,
  raisedFlags,
  readBudget,
  writeAccount,
  writeAmount,
} from "../../engine/budget.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { AgentConfig } from "../../home/agent-fields.ts";
import { createTurns } from "../../keyed.ts";
import type { Run, Usage } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import { allTasks } from "../project.ts";
import type { Block, Dispatch } from "./dispatch.ts";
import type { UsageBook } from "./usage.ts";

/** A run that is about to start. */
export interface NewRun {
  /** The record's id. */
  readonly id: string;
  readonly key: string;
  readonly role: string;
  readonly harness: string;
  /** US dollars that the workflow allows it; undefined where that says nothing. */
  readonly limit: number | undefined;
}

/** A budget that covers a task: its own, that of a parent, or the one in the configuration. */
export interface CoveringAccount extends Account {
  /** The task whose tree the budget covers. */
  readonly owner: Task;
}

/**
 * The budgets of task trees. Nothing is remembered here: what is spent and reserved is derived from the stored runs and
 * their usage, so it is the same after a crash.
 */
export interface TreeBudgets {
  /** Every budget that covers the task, its own first. */
  accountsOf(task: Task): Promise<readonly CoveringAccount[]>;
  /** Why a budget does not let the run start now; undefined where all do. */
  blockOf(task: string, run: NewRun): Promise<Block | undefined>;
  /**
   * Calls `begin` with what the budgets reserve for the run, which it must store; not called where a budget does not let
   * the run start. One run of a tree at a time, so that two together cannot pass a budget.
   */
  reserve(task: Task, run: NewRun, begin: (reserves: Budget) => Promise<void>): Promise<boolean>;
}

interface BudgetPorts {
  readonly store: Pick<Store, "getTask" | "listTasks" | "runs">;
  readonly book: Pick<UsageBook, "list" | "of">;
  readonly dispatch: Pick<Dispatch, "isSeated">;
  config(): Pick<AgentConfig, "budgetTask" | "budgetTaskTokens" | "budgetUnknownRun" | "budgetUnknownRunTokens">;
}

export function createTreeBudgets(ports: BudgetPorts): TreeBudgets {
  const { store } = ports;
  const inTurn = createTurns();
  const unknownRun = (kind: BudgetKind) => {
    const { budgetUnknownRun: cost, budgetUnknownRunTokens: tokens } = ports.config();
    return { cost, tokens }[kind] || undefined;
  };

  /** The task and its open ancestors that have a budget. For the topmost one the configuration has a default. */
  const coveringBudgets = async (task: Task) => {
    const chain = await withAncestors(store, task);
    const { budgetTask: cost, budgetTaskTokens: tokens } = ports.config();
    return chain.flatMap((owner, place) => {
      const own = owner.budget ?? {};
      const isSet = own.cost !== undefined || own.tokens !== undefined;
      const given = { ...(cost > 0 ? { cost } : {}), ...(tokens > 0 ? { tokens } : {}) };
      const budget: Budget = isSet ? own : place === chain.length - 1 ? given : {};
      return budgetKinds.flatMap((kind) => {
        const limit = budget[kind];
        return limit === undefined ? [] : [{ owner, budget, kind, limit }];
      });
    });
  };

  /** The runs of a tree. A run that is about to start is left out: an earlier attempt may have recorded it. */
  const runsOf = async (tree: ReadonlyMap<string, Task>, except: string) => {
    const all = await Promise.all([...tree.keys()].map((task) => store.runs.list({ task })));
    const runs = all.flat().filter((run) => run.id !== except && mayUse(tree.get(run.task), run));
    // What deleted tasks of the tree have used stays spent.
    const known = new Set(runs.map(({ id }) => id));
    const inherited = ports.book
      .list()
      .filter(({ id, task, deleted }) => deleted !== undefined && tree.has(task) && !known.has(id));
    return (kind: BudgetKind): readonly BudgetRun[] => [
      ...runs.map(({ id, role, endedAt, started }) => ({
        role,
        isLive: endedAt === undefined,
        isAtWork: endedAt === undefined && ports.dispatch.isSeated(id),
        used: usedOf(ports.book.of(id), kind),
        reserves: started?.reserves?.[kind],
      })),
      ...inherited.map((usage) => ended(usage, kind)),
    ];
  };
  const sameRole = ({ role, harness }: NewRun, tree: ReadonlyMap<string, Task>, kind: BudgetKind) =>
    ports.book
      .list()
      .filter((usage) => usage.role === role && usage.harness === harness && !tree.has(usage.task))
      .map((usage) => ended(usage, kind));

  const look = async (task: Task, run: NewRun): Promise<Block | Budget> => {
    const all: (Blocked & { readonly kind: BudgetKind })[] = [];
    for (const { owner, budget, kind, limit } of await coveringBudgets(task)) {
      const tree = await treeOf(store, owner);
      const runs = (await runsOf(tree, run.id))(kind);
      const account = accountOf(kind, limit, runs, unknownRun(kind));
      const own = kind === "cost" ? run.limit : undefined;
      const estimate = estimateRun(run.role, own, runs, sameRole(run, tree, kind), unknownRun(kind));
      all.push({ task, run, owner, budget, kind, account, estimate });
    }
    let reserves: Budget = {};
    for (const each of all) {
      // One estimate for all budgets of a kind: what is reserved counts in each of them.
      const estimate = nearestEstimate(all.filter(({ kind }) => kind === each.kind));
      const verdict = judgeStart(each.account, estimate);
      if (verdict !== "start") return blockFor(verdict, { ...each, estimate });
      reserves = { ...reserves, [each.kind]: estimate?.amount ?? 0 };
    }
    return reserves;
  };

  return {
    async accountsOf(task) {
      const found: CoveringAccount[] = [];
      for (const { owner, kind, limit } of await coveringBudgets(task)) {
        const runs = await runsOf(await treeOf(store, owner), "");
        found.push({ ...accountOf(kind, limit, runs(kind), unknownRun(kind)), owner });
      }
      return found;
    },
    async blockOf(id, run) {
      const task = (await store.getTask(id))?.task;
      const found = task && (await look(task, run));
      return found !== undefined && "text" in found ? found : undefined;
    },
    async reserve(task, run, begin) {
      const top = (await withAncestors(store, task)).at(-1)?.id ?? task.id;
      return inTurn(top, async () => {
        const found = await look(task, run);
        if ("text" in found) return false;
        await begin(found);
        return true;
      });
    },
  };
}

/** The budget that a person has written. */
export function budgetIn(given: readonly string[]): Budget {
  const read = readBudget(given);
  if ("problem" in read) throw new Fault("task.invalid", read.problem, { hint: read.fix });
  return read;
}

/**
 * A recorded run that its task no longer wants, and whose program was not started, uses nothing. A program that ended at
 * once has no pid either, but its end is recorded.
 */
function mayUse(task: Task | undefined, { key, pid, started, endedAt }: Run): boolean {
  if (started === undefined) return false;
  return pid !== 0 || endedAt !== undefined || Object.values(task?.runs ?? {}).some((run) => run.key === key);
}

/** A run of which only its usage is looked at. */
function ended(usage: Usage, kind: BudgetKind): BudgetRun {
  return { role: usage.role ?? "", isLive: false, isAtWork: false, used: usedOf(usage, kind), reserves: undefined };
}

/** Unknown is not zero: a run without a token has not reported any. */
function usedOf(usage: Usage | undefined, kind: BudgetKind): number | undefined {
  if (kind === "cost") return usage?.cost;
  return usage === undefined ? undefined : usage.inputTokens + usage.outputTokens || undefined;
}

/** The best estimate there is, and of equally good ones that of the smallest tree. */
function nearestEstimate(all: readonly Pick<Blocked, "estimate">[]): Estimate | undefined {
  const known = all.flatMap(({ estimate }) => (estimate === undefined ? [] : [estimate]));
  const best = (["limit", "own-role", "role", "tree"] as const).find((each) => known.some(({ from }) => from === each));
  return known.find(({ from }) => from === best) ?? known[0];
}

/** The task, its parent, and so on, as far as they are open: the budget of a task that has ended covers nothing new. */
async function withAncestors(store: Pick<Store, "getTask">, task: Task): Promise<readonly Task[]> {
  const chain = [task];
  const seen = new Set([task.id]);
  for (let at = task; at.parent !== "" && !seen.has(at.parent); ) {
    const parent = (await store.getTask(at.parent))?.task;
    if (parent === undefined) break;
    seen.add(parent.id);
    if (parent.phase !== "over") chain.push(parent);
    at = parent;
  }
  return chain;
}

/** The task and all its descendants, also those that have ended. */
async function treeOf(store: Pick<Store, "listTasks">, top: Task): Promise<ReadonlyMap<string, Task>> {
  const tree = new Map([[top.id, top]]);
  // Entries that are added to a Map while it is iterated come last.
  for (const parent of tree.keys())
    for (const { task } of await allTasks(store, { parent })) if (!tree.has(task.id)) tree.set(task.id, task);
  return tree;
}

interface Blocked {
  readonly task: Task;
  readonly run: NewRun;
  readonly owner: Task;
  readonly budget: Budget;
  readonly account: Account;
  readonly estimate: Estimate | undefined;
}

function blockFor(why: "unknown" | "runs" | "person", blocked: Blocked): Block {
  const { task, run, owner, budget, account, estimate } = blocked;
  const { kind, unknown } = account;
  const who = `${run.key} of ${shown(task)}`;
  const text = `The budget of ${shown(owner)}: ${writeAccount(account)}.`;
  const about = { owner: owner.id, needsPerson: why !== "runs" };
  const raise = `signalbox task update ${owner.id} ${raisedFlags(budget, account, estimate)}`;
  if (why === "unknown") {
    const key = kind === "cost" ? "budget.unknown_run" : "budget.unknown_run_tokens";
    const amount = kind === "cost" ? "1" : "100000";
    const lacks =
      unknown > 0
        ? `It is not known what ${unknown === 1 ? "an earlier run" : `${unknown} earlier runs`} used, and ${key} is not set.`
        : `${who} is not started: it has no limit of its own, no earlier run shows what it may use, and ${key} is not set.`;
    const set = `Set what a run of unknown use counts as: signalbox config set ${key} ${amount}`;
    return {
      ...about,
      text: `${text} ${lacks}`,
      fix: `${set}\nOr remove the budget: signalbox task update ${owner.id} --budget none`,
    };
  }
  const need =
    estimate === undefined || estimate.amount === 0
      ? `${who} waits.`
      : `${who} may use ${writeAmount(kind, estimate.amount)} (${reasons[estimate.from]}).`;
  const then =
    why === "runs" ? " It starts when runs that are at work have ended and used less than is reserved for them." : "";
  return { ...about, text: `${text} ${need}${then}`, fix: `Raise the budget, and it continues: ${raise}` };
}

const reasons: Readonly<Record<Estimate["from"], string>> = {
  limit: "its own limit",
  "own-role": "the mean of the earlier runs of this role",
  tree: "the mean of the earlier runs",
  role: "the mean of this role and harness in other tasks",
  key: "the configured value for runs of unknown use",
};

function shown({ project, number }: Task): string {
  return `${project}#${number}`;
}
