import type { Context } from "../context.ts";
import { count } from "../count.ts";
import { type Column, writeTable } from "../table.ts";
import { wrap } from "../wrap.ts";
import { writeCosts, writeTokens } from "../write-usage.ts";
import { writeSeconds } from "./draw.ts";
import type { Told } from "./summarise.ts";

/** What there is to say when everything is over: each task's life, and what agents would have cost. */
export function writeSummary(tasks: readonly Told[], took: number, { paint, columns }: Context): string {
  const events = tasks.reduce((sum, task) => sum + task.events, 0);
  const isWhole = tasks.every(({ replays }) => replays);
  return [
    paint.green(`✓ ${count(tasks.length, "task")} merged into main in ${writeSeconds(took)}`),
    ...tasks.flatMap((task) => ["", ...writeTask(task, columns, paint)]),
    "",
    writeUsage(tasks, columns, paint),
    "The figures are scripted: no model was asked, and nothing was paid.",
    "",
    isWhole
      ? wrap(`History has ${events} events. Replayed through the engine, they give the same tasks.`, columns)
      : paint.red("History, replayed through the engine, gives other tasks than those that are stored."),
  ].join("\n");
}

function writeTask(task: Told, columns: number, paint: Context["paint"]): readonly string[] {
  const { number, summary, about, status, took, stays, reviews, question, crashes } = task;
  const line = (label: string, text: string, colour: (text: string) => string) =>
    `    ${colour(label.padEnd(labelWidth))}${wrap(text, columns - 4 - labelWidth, " ".repeat(4 + labelWidth))}`;
  return [
    `${paint.bold(`#${number}  ${summary}`)}${paint.dim(`, which ${about}; ${writeSeconds(took)}`)}`,
    ...writeLife([...stays.map((stay) => `${stay.status} ${writeSeconds(stay.took)} ›`), status], columns),
    ...crashes.map(({ run, status: at, reason, next, after }) =>
      line("died", `${run} in ${at}. ${reason} ${next} went on ${writeSeconds(after)} later.`, paint.red),
    ),
    ...(question === undefined
      ? []
      : [line("asked", question.asked, paint.yellow), line("answered", question.answered, paint.yellow)]),
    ...reviews.map(({ run, verdict, text }) =>
      line("review", `${verdict} by ${run}: ${text}`, verdict === "FAIL" ? paint.red : paint.green),
    ),
  ];
}

const labelWidth = "answered".length + 2;

/** States with their times, never broken within one. */
function writeLife(states: readonly string[], columns: number): readonly string[] {
  const whole = states.map((state) => state.replaceAll(" ", unbroken)).join(" ");
  return [`    ${wrap(whole, columns - 4, "    ").replaceAll(unbroken, " ")}`];
}

const unbroken = "\u00a0";

function writeUsage(tasks: readonly Told[], columns: number, paint: Context["paint"]): string {
  const right = { align: "right" } as const;
  const table: readonly Column[] = [
    { title: "TASK", paint: paint.bold },
    ...["RUNS", "INPUT", "CACHED", "OUTPUT", "COST"].map((title) => ({ title, ...right })),
  ];
  const rows = tasks.map(({ number, summary, usage }) => ({ name: `#${number}  ${summary}`, ...usage }));
  const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + of(row), 0);
  const total = {
    name: "together",
    runs: sum(({ runs }) => runs),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cost: sum(({ cost }) => cost),
    unknown: sum(({ unknown }) => unknown),
  };
  const cells = [...rows, total].map((row) => [
    row.name,
    String(row.runs),
    ...[row.inputTokens, row.cachedTokens, row.outputTokens].map(writeTokens),
    writeCosts(row),
  ]);
  return writeTable(table, cells, columns);
}
