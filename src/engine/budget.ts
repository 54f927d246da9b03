/** What a task and its whole tree of children may use: US dollars, tokens, or both. Empty where it has no budget. */
export interface Budget {
  readonly cost?: number;
  readonly tokens?: number;
}

export type BudgetKind = keyof Budget;

export const budgetKinds: readonly BudgetKind[] = ["cost", "tokens"];

interface BudgetProblem {
  readonly problem: string;
  readonly fix: string;
}

const howToWrite = "Write US dollars, such as 5 or 2.50, or tokens, such as 200k or 1.5m.";
/** Larger amounts are typing errors, and sums of them would lose precision. */
const maxAmount: Readonly<Record<BudgetKind, number>> = { cost: 1_000_000, tokens: 1_000_000_000_000 };

/** Whether a run can have used this much. A report of more, or of less than nothing, says nothing about the run's use. */
export function isPlausible(kind: BudgetKind, amount: number): boolean {
  return amount >= 0 && amount <= maxAmount[kind];
}

/** Reads a budget as a person writes it: one amount for each kind, or `none`. */
export function readBudget(given: readonly string[]): Budget | BudgetProblem {
  const words = given.map((each) => each.trim());
  if (words.length === 0 || (words.length === 1 && isNone(words[0]))) return {};
  let budget: Budget = {};
  for (const word of words) {
    if (isNone(word)) {
      const others = words.filter((each) => !isNone(each)).join(" and ");
      const problem = `"none" removes the budget, so it cannot be given together with ${others || "another one"}.`;
      return { problem, fix: "Leave one of them out." };
    }
    const read = readAmount(word);
    if ("problem" in read) return read;
    const { kind, amount } = read;
    if (budget[kind] !== undefined) {
      const what = kind === "cost" ? "in US dollars" : "in tokens";
      return { problem: `The budget ${what} is given twice.`, fix: "Give one amount for each kind." };
    }
    budget = { ...budget, [kind]: amount };
  }
  return budget;
}

function isNone(word: string | undefined): boolean {
  return word === "" || word?.toLowerCase() === "none";
}

function readAmount(word: string): BudgetProblem | { readonly kind: BudgetKind; readonly amount: number } {
  const shown = JSON.stringify(word);
  const [, sign, digits, unit = ""] = /^\$?([-+]?)\$?(\d+(?:\.\d*)?|\.\d+)\s*(.*)$/s.exec(word) ?? [];
  if (digits === undefined) return { problem: `${shown} is not a budget.`, fix: howToWrite };
  const factor = units[unit.toLowerCase()];
  if (factor === undefined)
    return { problem: `${shown} is not a budget: ${JSON.stringify(unit)} is not a unit.`, fix: howToWrite };
  if (sign === "-") return { problem: `The budget ${shown} is negative.`, fix: howToWrite };
  const kind = unit === "" ? "cost" : "tokens";
  const amount = kind === "cost" ? Number(digits) : Math.round(Number(digits) * factor);
  if (amount === 0)
    return { problem: `With the budget ${shown} no agent could start.`, fix: `${howToWrite} To remove it: none.` };
  if (amount > maxAmount[kind])
    return {
      problem: `The budget ${shown} is more than ${writeAmount(kind, maxAmount[kind])}.`,
      fix: "Write a smaller one.",
    };
  return { kind, amount };
}

const units: Readonly<Record<string, number | undefined>> = { __proto__: null, "": 1, k: 1_000, m: 1_000_000 } as never;

/** A run of the tree that a budget covers, in dollars or in tokens. */
export interface BudgetRun {
  readonly role: string;
  readonly isLive: boolean;
  /** It has a seat: it works now, and will end or become idle. */
  readonly isAtWork: boolean;
  /** What it has used; undefined while that is unknown. */
  readonly used: number | undefined;
  /** What was reserved when it started; undefined where the tree had no budget then. */
  readonly reserves: number | undefined;
}

/** A budget, and what has become of it. `left` is never negative. */
export interface Account {
  readonly kind: BudgetKind;
  readonly limit: number;
  readonly spent: number;
  readonly reserved: number;
  /** The part of `reserved` that is for runs at work. */
  readonly atWork: number;
  readonly left: number;
  /** The number of runs whose use is unknown, and for which nothing was reserved. */
  readonly unknown: number;
}

/**
 * Adds up what the runs of a tree have used and may still use. A run that has ended with unknown use counts as
 * `unknownRun`, or else as what was reserved for it.
 */
export function accountOf(
  kind: BudgetKind,
  limit: number,
  runs: readonly BudgetRun[],
  unknownRun: number | undefined,
): Account {
  const usualOf = ({ role }: BudgetRun) => meanOf(role, runs, unknownRun) ?? meanUse(runs, unknownRun) ?? unknownRun;
  let [spent, reserved, atWork, unknown] = [0, 0, 0, 0];
  for (const run of runs) {
    const used = run.used ?? (run.isLive ? 0 : (unknownRun ?? run.reserves));
    const expected = run.reserves ?? (run.isLive ? usualOf(run) : undefined);
    if (used === undefined || (run.isLive && expected === undefined)) unknown++;
    spent += used ?? 0;
    const rest = run.isLive ? Math.max(0, (expected ?? 0) - (used ?? 0)) : 0;
    reserved += rest;
    if (run.isAtWork) atWork += rest;
  }
  return { kind, limit, spent, reserved, atWork, left: Math.max(0, limit - spent - reserved), unknown };
}

/** The mean use of the runs that have ended; undefined where none has, or none is known. */
function meanUse(runs: readonly BudgetRun[], unknownRun: number | undefined): number | undefined {
  const known = runs.flatMap(({ isLive, used = unknownRun }) => (isLive || used === undefined ? [] : [used]));
  return known.length === 0 ? undefined : known.reduce((sum, each) => sum + each, 0) / known.length;
}

function meanOf(role: string, runs: readonly BudgetRun[], unknownRun: number | undefined): number | undefined {
  const same = runs.filter((run) => run.role === role);
  return meanUse(same, unknownRun);
}

/** What a run that is about to start may use, and why that is assumed. */
export interface Estimate {
  readonly amount: number;
  readonly from: "limit" | "own-role" | "role" | "tree" | "key";
}

/**
 * The run's own limit; else the mean of the ended runs of its role in its tree; else that of its role and harness in other
 * tasks; else that of all ended runs in its tree; else what the configuration says for runs of unknown use. Undefined where
 * there is none of them.
 */
export function estimateRun(
  role: string,
  limit: number | undefined,
  runs: readonly BudgetRun[],
  sameRole: readonly BudgetRun[],
  unknownRun: number | undefined,
): Estimate | undefined {
  if (limit !== undefined) return { amount: limit, from: "limit" };
  const own = meanOf(role, runs, unknownRun);
  if (own !== undefined) return { amount: own, from: "own-role" };
  const elsewhere = meanUse(sameRole, undefined);
  if (elsewhere !== undefined) return { amount: elsewhere, from: "role" };
  const ofTree = meanUse(runs, unknownRun);
  if (ofTree !== undefined) return { amount: ofTree, from: "tree" };
  return unknownRun === undefined ? undefined : { amount: unknownRun, from: "key" };
}

/**
 * Whether a run may start. `unknown`: its use, or that of an earlier run, cannot be estimated. `runs`: the run may start
 * once runs that are at work have ended. `person`: only a larger budget helps.
 */
export function judgeStart(account: Account, estimate: Estimate | undefined): "start" | "unknown" | "runs" | "person" {
  const { limit, spent, reserved, atWork, unknown } = account;
  if (spent >= limit - tolerance) return "person";
  if (estimate === undefined || unknown > 0) return "unknown";
  if (spent + reserved + estimate.amount <= limit + tolerance) return "start";
  return spent + reserved - atWork + estimate.amount <= limit + tolerance ? "runs" : "person";
}

/** Sums of dollars are inexact: 0.1 + 0.2 is more than 0.3. */
const tolerance = 1e-9;

/** `$4.20 of $5.00 spent, $0.50 reserved, $0.30 left` */
export function writeAccount({ kind, limit, spent, reserved, left, unknown }: Omit<Account, "atWork">): string {
  const [all, used, kept, free] = [limit, spent, reserved, left].map((each) => writeAmount(kind, each));
  const rest = unknown === 0 ? "" : `, ${unknown} ${unknown === 1 ? "run" : "runs"} of unknown use`;
  return `${used} of ${all} spent, ${kept} reserved, ${free} left${rest}`;
}

export function writeAmount(kind: BudgetKind, amount: number): string {
  if (kind === "cost") return `$${amount > 0 && amount < 0.01 ? amount.toFixed(4) : amount.toFixed(2)}`;
  if (amount >= 1_000_000) return `${shortened(amount / 1_000_000)}m tokens`;
  return amount >= 1_000 ? `${shortened(amount / 1_000)}k tokens` : `${Math.round(amount)} tokens`;
}

function shortened(amount: number): string {
  return String(Math.round(amount * 10) / 10);
}

/** The flags of a budget that is large enough for the run, with the other kind unchanged. */
export function raisedFlags(
  budget: Budget,
  { kind, spent, reserved }: Account,
  estimate: Estimate | undefined,
): string {
  const needed = spent + reserved + (estimate?.amount ?? 0);
  const raised = kind === "cost" ? Math.floor(needed) + 1 : (Math.floor(needed / 1_000) + 1) * 1_000;
  const amounts: Budget = { ...budget, [kind]: Math.min(raised, maxAmount[kind]) };
  return budgetFlags(amounts).join(" ");
}

function budgetFlags({ cost, tokens }: Budget): readonly string[] {
  const dollars = cost === undefined ? [] : [`--budget ${cost}`];
  return tokens === undefined ? dollars : [...dollars, `--budget ${tokens / 1_000}k`];
}
