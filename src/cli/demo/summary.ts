import type { UsageRow } from "../../api/agents.ts";
import { parseTaskDocument } from "../../documents/task-document.ts";
import { apply, type TaskEvent } from "../../engine/decision.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { shellWord } from "../../shell-quote.ts";
import type { Context } from "../context.ts";
import { ownCommand } from "../start-daemon.ts";
import { type Column, writeTable } from "../tables.ts";
import { count, wrap, writeCosts, writeTokens } from "../text.ts";
import { writeSeconds } from "./draw.ts";
import { type Stay, verdictOf, withStay } from "./play.ts";
import { demoTasks, type Stage } from "./stage.ts";

/** The next steps: with what was kept, or in the user's own repository. */
export function nextSteps(context: Context, kept: Stage | undefined): string {
  const own = ownCommand(context.process.env?.PATH);
  return [...(kept === undefined ? [] : lookAround(kept, own)), ...tryNext(own, kept === undefined)].join("\n");
}

function lookAround({ folder, home, repository }: Stage, own: string): readonly string[] {
  const command = `SIGNALBOX_HOME=${shellWord(home)} ${own}`;
  return [
    "Everything is kept. To inspect it:",
    `  git -C ${shellWord(repository)} log --graph --oneline`,
    `  ${command} task list --all --closed`,
    `  ${command} task history coffee#2`,
    `  ${command} usage --by run`,
    "To remove it, and the daemon that these commands have started:",
    `  ${command} down; rm -r ${shellWord(folder)}`,
    "",
  ];
}

function tryNext(own: string, hasNothing: boolean): readonly string[] {
  const steps: readonly (readonly [string, string])[] = [
    ...(hasNothing ? ([["demo --keep", "the same, but everything is kept"]] as const) : []),
    ["workflow graph default", "draw the workflow of these tasks"],
    ["rehearse", "prove all built-in workflows"],
    ["init", "make your repository a project"],
    ['task create "Brew stronger"', "create a task"],
  ];
  const width = Math.max(...steps.map(([command]) => command.length));
  return ["Try next:", ...steps.map(([command, what]) => `  ${own} ${command.padEnd(width)}  ${what}`)];
}

/** The parts of a task's exported history that the demo shows. Times are milliseconds. */
interface Exported {
  readonly task: Task;
  /** In the order in which they were handed in. */
  readonly artifacts: readonly { readonly section: string; readonly text: string; readonly run: string }[];
  readonly sections: Readonly<Record<string, string>>;
  readonly events: readonly { readonly event: TaskEvent; readonly at: number }[];
  /** Whether replaying the history gives the same task. */
  readonly replays: boolean;
}

/** Reads what `task export` prints: one JSON object on each line. */
export function readExport(text: string): Exported {
  const lines = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { readonly kind: string });
  const of = <T>(kind: string) => lines.filter((line) => line.kind === kind) as unknown as readonly T[];
  const [stored] = of<{ task: Task }>("task");
  if (stored === undefined) throw new Error("An exported history has no task.");
  const [document] = of<{ text: string }>("document");
  const events = of<Exported["events"][number]>("event");
  const replayed = events.map(({ event }) => withTakenAway(event)).reduce(apply, {} as Task);
  return {
    task: stored.task,
    artifacts: of<Exported["artifacts"][number]>("artifact"),
    sections: sectionsIn(document?.text ?? ""),
    events,
    replays: ordered(replayed) === ordered(stored.task),
  };
}

function sectionsIn(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...parseTaskDocument(text).byHeading].map(([heading, { body }]) => [heading, body]));
}

/** JSON has no `undefined`; in an export null means that a field was removed. */
function withTakenAway(event: TaskEvent): TaskEvent {
  const set = Object.fromEntries(Object.entries(event.set).map(([key, value]) => [key, value ?? undefined]));
  return { ...event, set };
}

/** Missing and removed fields compare as equal. */
function ordered(task: Task): string {
  const plain = JSON.parse(JSON.stringify(task)) as Task;
  return JSON.stringify(Object.entries(plain).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The result of one task. Times are milliseconds. */
export interface Told {
  readonly id: string;
  readonly number: number;
  readonly branch: string;
  readonly summary: string;
  readonly about: string;
  readonly status: string;
  readonly took: number;
  readonly stays: readonly { readonly status: string; readonly took: number }[];
  readonly reviews: readonly Review[];
  /** Undefined if the agent asked nothing. */
  readonly question: { readonly asked: string; readonly answered: string } | undefined;
  readonly crashes: readonly Crash[];
  /** The commit that merged it into the branch. */
  readonly merged: string;
  readonly usage: Pick<UsageRow, "runs" | "inputTokens" | "outputTokens" | "cachedTokens" | "cost" | "unknown">;
  readonly events: number;
  /** Whether replaying its history gives the same task. */
  readonly replays: boolean;
}

interface Review {
  readonly run: string;
  readonly verdict: string;
  readonly text: string;
}

interface Crash {
  readonly run: string;
  readonly status: string;
  readonly reason: string;
  /** The run that continued, and how long that took. */
  readonly next: string;
  readonly after: number;
}

export function summarise(exported: Exported, usage: Told["usage"], workflow: Workflow): Told {
  const { task, events, replays } = exported;
  const { id, number, branch, summary, status } = task;
  const flat = events.map(({ event, at }) => ({ type: event.type, by: event.by, data: event.data, at }));
  const stays = flat.reduce<readonly Stay[]>(
    (all, event) => withStay(all, { ...event, at: new Date(event.at).toISOString() }),
    [],
  );
  const ended = stays
    .slice(0, -1)
    .map(({ status: name, from, until = from }) => ({ status: name, took: until - from }));
  return {
    ...{ id, number, branch, summary, status, usage, replays },
    about: demoTasks.find((each) => each.branch === branch)?.about ?? "",
    took: ended.reduce((sum, { took }) => sum + took, 0),
    stays: ended,
    reviews: reviewsIn(exported, workflow),
    question: questionIn(exported),
    crashes: crashesIn(flat, stays),
    merged: textOf(flat.findLast(({ type }) => type === "merge.landed")?.data.after),
    events: events.length,
  };
}

type Flat = readonly {
  readonly type: string;
  readonly by: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly at: number;
}[];

/** Every section that opened a gate by its verdict, with its text. */
function reviewsIn({ events, artifacts }: Exported, workflow: Workflow): readonly Review[] {
  return events.flatMap(({ event: { type, data } }) => {
    if (type !== "task.moved" || !Array.isArray(data.evidence)) return [];
    return (data.evidence as readonly { section: string; run: string }[]).flatMap(({ section, run }) => {
      const verdict = verdictOf(workflow, { from: textOf(data.from), to: textOf(data.to), section });
      if (verdict === undefined) return [];
      const written = artifacts.findLast((each) => each.section === section && each.run === run)?.text ?? "";
      return [{ run, verdict, text: written.split("\n").slice(1).join(" ").trim() }];
    });
  });
}

/** An answer follows the time at which it was given. */
function questionIn({ sections: { Questions: asked, Answers: answers } }: Exported): Told["question"] {
  if (asked === undefined || answers === undefined) return undefined;
  return { asked: asked.trim(), answered: answers.replace(/^### .*$/gm, "").trim() };
}

function crashesIn(events: Flat, stays: readonly Stay[]): readonly Crash[] {
  const isEnd = ({ type }: Flat[number]) => type === "agent.ended";
  return events.flatMap((event, i) => {
    const { data, at } = event;
    if (!isEnd(event) || textOf(data.run) === "") return [];
    // The next event says how the wait for it ended.
    const { reason, word } = events.slice(i + 1).find(isEnd)?.data ?? data;
    const next = events.slice(i).find((each) => each.type === "agent.started");
    return [
      {
        run: textOf(data.run),
        status: stays.findLast(({ from }) => from < at)?.status ?? "",
        reason: textOf(reason) || textOf(word),
        next: textOf(next?.data.run),
        after: next === undefined ? 0 : next.at - at,
      },
    ];
  });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The final summary: each task's history, and what its agents would have cost. */
export function writeSummary(tasks: readonly Told[], took: number, { paint, columns }: Context): string {
  const events = tasks.reduce((sum, task) => sum + task.events, 0);
  const isWhole = tasks.every(({ replays }) => replays);
  return [
    paint.green(`✓ ${count(tasks.length, "task")} merged into main in ${writeSeconds(took)}`),
    ...tasks.flatMap((task) => ["", ...writeTask(task, columns, paint)]),
    "",
    writeUsage(tasks, columns, paint),
    "The figures are scripted: no model was called, and nothing was paid.",
    "",
    isWhole
      ? wrap(`The history has ${events} events. Replayed through the engine, they give the same tasks.`, columns)
      : paint.red("The history, replayed through the engine, does not give the stored tasks."),
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
      line("died", `${run} in ${at}. ${reason} ${next} continued ${writeSeconds(after)} later.`, paint.red),
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

/** States with their times; lines break only between states. */
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
