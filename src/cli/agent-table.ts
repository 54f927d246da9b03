import type { AgentView, RunView } from "../api/agent-wires.ts";
import type { Context } from "./context.ts";
import { writeTable } from "./table.ts";
import { cut } from "./wrap.ts";
import { writeAge } from "./write-time.ts";
import { writeCost, writeTokens } from "./write-usage.ts";

const marks = {
  "!": "a person should look at it",
  "●": "it is busy",
  "○": "it waits for a message",
  "◌": "it is about to start, or waits for a seat",
  "?": "nobody can tell what it is at",
  "✗": "it has ended",
} as const;

type Mark = keyof typeof marks;

const leastWhat = 16;

/** Runs as a table, and behind each what it is at. */
export function writeRuns(
  runs: readonly RunView[],
  { paint, columns }: Pick<Context, "paint" | "columns">,
  now: number,
): string {
  const colours = {
    "!": paint.yellow,
    "●": paint.green,
    "○": paint.cyan,
    "◌": paint.dim,
    "?": paint.dim,
    "✗": paint.dim,
  };
  const hasNames = runs.some(({ agent }) => agent !== "");
  const titles = ["RUN", ...(hasNames ? ["AGENT"] : []), "HARNESS", "ACTIVITY", "SINCE", "TOKENS", "COST", "WHAT"];
  const rows = runs.map((run) => [
    markOf(run),
    shownRun(run),
    ...(hasNames ? [run.agent || "–"] : []),
    run.harness,
    run.activity,
    writeAge(run.since, now),
    run.activity === "waiting" ? "–" : writeTokens(run.usage.inputTokens + run.usage.outputTokens),
    run.activity === "waiting" ? "–" : writeCost(run.usage.cost),
    (run.activity === "asks" ? run.what || run.raised : run.raised || run.what).replace(/\s+/g, " "),
  ]);
  const widths = ["", ...titles].map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const beside = columns - widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  // Below the others there is more room.
  const room = beside >= leastWhat ? beside : 2 * (columns - 4);
  const right = new Set(["SINCE", "TOKENS", "COST"]);
  const table = [
    { title: " ", paint: (cell: string) => colours[cell as Mark](cell) },
    ...titles.map((title) => ({
      title,
      ...(title === "RUN" ? { paint: paint.bold } : {}),
      ...(right.has(title) ? { align: "right" as const } : {}),
      isText: title === "WHAT",
    })),
  ];
  return writeTable(
    table,
    rows.map((row) => [...row.slice(0, -1), cut(row.at(-1) ?? "", room)]),
    columns,
  );
}

/** Named agents that have nothing to do. */
export function writeIdleAgents(
  agents: readonly AgentView[],
  { paint, columns }: Pick<Context, "paint" | "columns">,
): string {
  const table = [{ title: "AGENT", paint: paint.bold }, { title: "PROJECT" }, { title: "HARNESS" }, { title: "MODEL" }];
  return writeTable(
    [...table, { title: "STATE" }],
    agents.map(({ name, project, harness, model }) => [name, project, harness, model || "–", "without a task"]),
    columns,
  );
}

/** What the marks in a table mean. */
export function marksOf(runs: readonly RunView[]): string {
  const used = new Set<string>(runs.map(markOf));
  return Object.entries(marks)
    .filter(([mark]) => used.has(mark))
    .map(([mark, meaning]) => `${mark} ${meaning}`)
    .join("\n");
}

/** `coffee#12/worker#1` */
export function shownRun({ project, number, key }: Pick<RunView, "project" | "number" | "key">): string {
  return `${project}#${number}/${key}`;
}

export function markOf({ activity, raised }: RunView): Mark {
  if (raised !== "") return "!";
  switch (activity) {
    case "asks":
      return "!";
    case "busy":
      return "●";
    case "idle":
      return "○";
    case "waiting":
    case "starting":
      return "◌";
    case "ended":
      return "✗";
    case "unknown":
      return "?";
  }
}
