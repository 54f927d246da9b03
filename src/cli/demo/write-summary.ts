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
      ? `History has ${events} events. Replayed through the engine they give the same four tasks.`
      : paint.red("History, replayed through the engine, gives other tasks than the ones that are stored."),
  ].join("\n");
}

function writeTask(task: Told, columns: number, paint: Context["paint"]): readonly string[] {
  const { number, summary, about, status, stays, reviews, question, crashes } = task;
  const life = [...stays.map((stay) => `${stay.status} ${writeSeconds(stay.took)}`), status].join(" › ");
  const line = (text: string) => `    ${wrap(text, columns - 4, "      ")}`;
  return [
    `${paint.bold(`#${number}  ${summary}`)}${paint.dim(`, which ${about}`)}`,
    line(life),
    ...crashes.map(({ run, status: at, reason, next, after }) =>
      line(`${paint.red("died")}      ${run} in ${at} (${reason}); ${next} went on ${writeSeconds(after)} later`),
    ),
    ...(question === undefined
      ? []
      : [
          line(`${paint.yellow("asked")}     ${question.asked}`),
          line(`${paint.yellow("answered")}  ${question.answered}`),
        ]),
    ...reviews.map(({ run, verdict, text }) =>
      line(`${verdict === "FAIL" ? paint.red("review") : paint.green("review")}    ${verdict} by ${run}: ${text}`),
    ),
  ];
}

function writeUsage(tasks: readonly Told[], columns: number, paint: Context["paint"]): string {
  const right = { align: "right" } as const;
  const table: readonly Column[] = [
    { title: "TASK", paint: paint.bold },
    ...["RUNS", "INPUT", "CACHED", "OUTPUT", "COST", "TIME"].map((title) => ({ title, ...right })),
  ];
  const rows = tasks.map(({ number, summary, usage, took }) => ({ name: `#${number}  ${summary}`, ...usage, took }));
  const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + of(row), 0);
  const total = {
    name: "together",
    runs: sum(({ runs }) => runs),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cost: sum(({ cost }) => cost),
    unknown: sum(({ unknown }) => unknown),
    took: sum(({ took }) => took),
  };
  const cells = [...rows, total].map((row) => [
    row.name,
    String(row.runs),
    ...[row.inputTokens, row.cachedTokens, row.outputTokens].map(writeTokens),
    writeCosts(row),
    writeSeconds(row.took),
  ]);
  return writeTable(table, cells, columns);
}
