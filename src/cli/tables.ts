import type { AgentView, RunView } from "../api/agents.ts";
import type { CrewView, SlotView } from "../api/tickets.ts";
import type { Context } from "./context.ts";
import { clip, cut, displayWidth, longestPiece, wrapMessage, writeAge, writeCost, writeTokens } from "./text.ts";

const agentMarks = {
  "!": "it needs a person",
  "●": "it is busy",
  "○": "it waits for a message",
  "◌": "it is about to start, or waits for a seat",
  "?": "unknown",
  "✗": "it has ended",
} as const;

type AgentMark = keyof typeof agentMarks;

const minWhat = 16;

/** Runs as a table, each with what it is doing. */
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
    agentMarkOf(run),
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
  // Below the other columns there is more room.
  const room = beside >= minWhat ? beside : 2 * (columns - 4);
  const right = new Set(["SINCE", "TOKENS", "COST"]);
  const table = [
    { title: " ", paint: (cell: string) => colours[cell as AgentMark](cell) },
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

/** Named agents that do nothing: without a task, or stuck. */
export function writeIdleAgents(
  agents: readonly AgentView[],
  { paint, columns }: Pick<Context, "paint" | "columns">,
): string {
  const table = [{ title: "AGENT", paint: paint.bold }, { title: "PROJECT" }, { title: "HARNESS" }, { title: "MODEL" }];
  return writeTable(
    [...table, { title: "STATE", isText: true }],
    agents.map(({ name, project, harness, model, state, reason }) => [
      ...[name, project, harness, model || "–"],
      state === "stuck" ? `stuck: ${reason.replace(/\s+/g, " ")}` : "without a task",
    ]),
    columns,
  );
}

/** The meaning of the marks in a table. */
export function marksOf(runs: readonly RunView[]): string {
  const used = new Set<string>(runs.map(agentMarkOf));
  return Object.entries(agentMarks)
    .filter(([mark]) => used.has(mark))
    .map(([mark, meaning]) => `${mark} ${meaning}`)
    .join("\n");
}

/** `coffee#12/worker#1` */
export function shownRun({ project, number, key }: Pick<RunView, "project" | "number" | "key">): string {
  return `${project}#${number}/${key}`;
}

export function agentMarkOf({ activity, raised }: RunView): AgentMark {
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

const symbols = { idle: "○", ready: "◐", working: "●", done: "✓", stuck: "!" } as const;

/** The last column: why an agent is stuck, or what it is doing. */
interface LastColumn {
  readonly title: string;
  says(slot: SlotView): string;
  /** Whether long text is cut; otherwise it is wrapped. */
  readonly cuts?: boolean;
}

/** Columns that a narrow screen drops, in this order. The mark also shows the state. */
const spare = ["COST", "TOKENS", "TASK", "SINCE", "STEPS", "STATE"];
/** The minimum room for text that is cut, and for text that is wrapped. */
const minWords = { cut: 12, wrapped: 24 };

/** Agents as a table that fits into the columns. */
export function writeSlots(
  { paint, columns: width }: Pick<Context, "paint" | "columns">,
  agents: readonly SlotView[],
  now: number,
  { title, says, cuts = false }: LastColumn,
): string {
  const colours = { "○": paint.dim, "◐": paint.cyan, "●": paint.green, "✓": paint.green, "!": paint.yellow };
  const all: readonly (Column & { of(slot: SlotView): string })[] = [
    { title: " ", paint: (cell) => colours[cell as keyof typeof colours](cell), of: ({ state }) => symbols[state] },
    { title: "AGENT", paint: paint.bold, of: ({ name }) => name },
    { title: "STATE", of: ({ state }) => state },
    { title: "TICKET", of: ({ ticket }) => ticket || "–" },
    { title: "TASK", of: ({ task }) => task || "–" },
    { title: "STEPS", align: "right", of: ({ task, steps }) => (task === "" ? "–" : String(steps)) },
    {
      title: "SINCE",
      align: "right",
      of: ({ assignedAt }) => (assignedAt === null ? "–" : writeAge(assignedAt, now)),
    },
    { title: "TOKENS", align: "right", of: (slot) => writeTokens(slot.inputTokens + slot.outputTokens) },
    { title: "COST", align: "right", of: ({ cost }) => writeCost(cost) },
  ];
  const taken = (columns: typeof all) =>
    columns.reduce(
      (sum, each) => sum + 2 + Math.max(each.title.length, ...agents.map((slot) => each.of(slot).length)),
      0,
    );
  const words = (slot: SlotView) => says(slot).replace(/\s+/g, " ");
  const hasWords = agents.some((slot) => words(slot) !== "");
  const least = cuts ? minWords.cut : hasWords ? minWords.wrapped : 0;
  let columns = all;
  for (const name of spare) if (taken(columns) + least > width) columns = columns.filter((each) => each.title !== name);
  // Only the mark and two names are left, which can be long.
  const longest = taken(columns) + least > width ? Math.max(1, Math.floor((width - 7 - least) / 2)) : width;
  const fitted = columns.map((each) => ({ ...each, of: (slot: SlotView) => clip(each.of(slot), longest) }));
  const room = Math.max(0, width - taken(fitted));
  const rows = agents.map((slot) => [
    ...fitted.map((each) => each.of(slot)),
    cuts ? clip(words(slot), room) : cut(words(slot), maxWords),
  ]);
  return writeTable(
    [...fitted, { title: hasWords || cuts ? title : "" }],
    rows,
    cuts ? Number.POSITIVE_INFINITY : width,
  );
}

/** A reason may contain the output of tests, which is too long for a table. */
const maxWords = 400;

/** Which tickets are waiting, and whether they are given out. */
export function aboutTickets({ running, most, waiting, unready }: CrewView): string {
  const ready = waiting.length === 0 ? "No ticket is ready." : `${waiting.length} ready: ${few(waiting)}.`;
  const waits = unready.length === 1 ? "waits" : "wait";
  const others = unready.length === 0 ? "" : ` ${unready.length} ${waits} for others: ${few(unready)}.`;
  const open = ready + others;
  const state = running
    ? `Tickets are given to idle agents, at most ${most} at a time.`
    : "Idle agents get tickets only after: signalbox crew run";
  return `${open} ${state}`;
}

/** What limits a crew, one sentence each. */
export function aboutTroubles(crew: CrewView): readonly { readonly isTrouble: boolean; readonly text: string }[] {
  const { project, running, most, leftOver, troubles, unread, problems, agents, poolSize } = crew;
  const [first] = leftOver;
  const wanted = Math.min(agents.length, most);
  const again = `Given out before, and not done: ${few(leftOver)}. To give one out again: signalbox crew assign NAME ${first}`;
  const room = `${project} has room for ${poolSize} at a time. For more: signalbox project update ${project} --pool-size ${wanted}`;
  return [
    ...(first === undefined ? [] : [{ isTrouble: false, text: again }]),
    ...troubles.slice(0, 1).map((text) => ({ isTrouble: true, text: text + moreLike(troubles.length - 1) })),
    ...(unread.length === 0 ? [] : [{ isTrouble: false, text: `Not read: ${few(unread)}. ${whyUnread}` }]),
    ...problems.map(({ ticket, problem }) => ({
      isTrouble: true,
      text: `${ticket === "" ? "" : `${ticket}: `}${problem}`,
    })),
    ...(running && poolSize < wanted ? [{ isTrouble: true, text: room }] : []),
  ];
}

const whyUnread = "To see why: signalbox ticket list";

function moreLike(others: number): string {
  return others === 0 ? "" : ` And ${others} more: signalbox ticket list`;
}

function few(names: readonly string[]): string {
  return names.length > 6 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more` : names.join(", ");
}

/** A name or a path, which may have line breaks, on one line. */
export function withoutBreaks(name: string): string {
  return name.replaceAll(/[\r\n\u2028\u2029]+/g, " ");
}

export interface Column {
  readonly title: string;
  readonly align?: "right";
  /** Changes the style of a cell, never its width. */
  readonly paint?: (cell: string, row: number) => string;
  /** It may have several lines, and needs no title when it is shown below the other columns. */
  readonly isText?: boolean;
}

/** With less room than this beside other columns, text goes below them. */
const minRoom = 24;
const indent = 4;

/**
 * Rows under aligned titles, two spaces apart. The last column is wrapped. Without room
 * for all columns, the last ones go below each row, after their titles; names and paths are never cut. `after` gives lines
 * that follow a row.
 */
export function writeTable(
  columns: readonly Column[],
  given: readonly (readonly string[])[],
  width: number,
  after: (row: number) => readonly string[] = () => [],
): string {
  // Only a text in the last column has several lines; a name or a path with a line break would look like another row.
  const rows = given.map((row) =>
    row.map((cell, i) => (i === columns.length - 1 && columns[i]?.isText ? cell : withoutBreaks(cell))),
  );
  const widths = columns.map(({ title }, i) =>
    Math.max(displayWidth(title), ...rows.map((row) => displayWidth(row[i] ?? ""))),
  );
  const beside = columnsBeside(widths, width);
  const before = total(widths.slice(0, columns.length - 1));
  const below = columns.slice(beside);
  const labels = Math.max(0, ...below.map(({ title, isText }) => (isText ? 0 : title.length)));
  /** Whether a cell fits beside the others: the last one may have an unbreakable piece that is too long. */
  const stays = (cell: string, i: number) =>
    i < beside && (i < columns.length - 1 || before === 0 || longestPiece(cell) <= width - before);
  const write = (cells: readonly string[], number: number | undefined) =>
    columns
      .slice(0, beside)
      .map(({ align, paint = String }, i) => {
        const cell = stays(cells[i] ?? "", i) ? (cells[i] ?? "") : "";
        const gap = " ".repeat(Math.max(0, (widths[i] ?? 0) - displayWidth(cell)));
        const isLast = i === columns.length - 1;
        const text = isLast ? wrapMessage(cell, width - before, " ".repeat(before)) : cell;
        const painted = number === undefined ? text : paint(text, number);
        return align === "right" ? gap + painted : isLast ? painted : painted + gap;
      })
      .join("  ")
      .trimEnd();
  const writeBelow = (cells: readonly string[], number: number) =>
    columns.flatMap(({ title, isText, paint = String }, i) => {
      const cell = cells[i] ?? "";
      if (cell === "" || cell === "–" || stays(cell, i)) return [];
      const start = " ".repeat(indent) + (isText || i < beside ? "" : `${title.toLowerCase().padEnd(labels)}  `);
      return [start + paint(wrapMessage(cell, width - start.length, " ".repeat(start.length)), number)];
    });
  const titles = columns.map(({ title }) => title);
  return [
    write(titles, undefined),
    ...rows.flatMap((row, i) => [write(row, i), ...writeBelow(row, i), ...after(i)]),
  ].join("\n");
}

/** How many columns fit side by side: all, if there is room for text in the last one. */
function columnsBeside(widths: readonly number[], width: number): number {
  const last = widths.at(-1) ?? 0;
  if (width - total(widths.slice(0, -1)) >= Math.min(minRoom, last)) return widths.length;
  let beside = widths.length - 1;
  while (beside > 1 && total(widths.slice(0, beside)) - 2 > width) beside--;
  return Math.max(1, beside);
}

/** Including the gap behind each. */
function total(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each + 2, 0);
}
