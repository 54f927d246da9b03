import type { CrewView, SlotView } from "../api/crew-routes.ts";
import type { Context } from "./context.ts";
import { clip } from "./display-width.ts";
import { type Column, writeTable } from "./table.ts";
import { cut } from "./wrap.ts";
import { writeAge } from "./write-time.ts";
import { writeCost, writeTokens } from "./write-usage.ts";

const symbols = { idle: "○", ready: "◐", working: "●", done: "✓", stuck: "!" } as const;

/** What is worth a word about an agent: why it is stuck, or what it is at. */
export interface LastColumn {
  readonly title: string;
  says(slot: SlotView): string;
  /** Whether what does not fit is left out; otherwise lines go on below. */
  readonly cuts?: boolean;
}

/** Columns that a narrow screen does without, the first first. The mark tells the state, too. */
const spare = ["COST", "TOKENS", "TASK", "SINCE", "STEPS", "STATE"];
/** What is left for words that are cut, and for those that go on below. */
const leastWords = { cut: 12, wrapped: 24 };

/** Agents as a table that is no wider than there are columns. */
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
  const least = cuts ? leastWords.cut : hasWords ? leastWords.wrapped : 0;
  let columns = all;
  for (const name of spare) if (taken(columns) + least > width) columns = columns.filter((each) => each.title !== name);
  // What is left are the mark and two names, which can be long.
  const longest = taken(columns) + least > width ? Math.max(1, Math.floor((width - 7 - least) / 2)) : width;
  const fitted = columns.map((each) => ({ ...each, of: (slot: SlotView) => clip(each.of(slot), longest) }));
  const room = Math.max(0, width - taken(fitted));
  const rows = agents.map((slot) => [
    ...fitted.map((each) => each.of(slot)),
    cuts ? clip(words(slot), room) : cut(words(slot), mostWords),
  ]);
  return writeTable(
    [...fitted, { title: hasWords || cuts ? title : "" }],
    rows,
    cuts ? Number.POSITIVE_INFINITY : width,
  );
}

/** What tests have printed may be why: that is to be read elsewhere. */
const mostWords = 400;

/** Which tickets wait, and whether they are given out. */
export function aboutTickets({ running, most, waiting, unready }: CrewView): string {
  const ready = waiting.length === 0 ? "No ticket is ready." : `${waiting.length} ready: ${few(waiting)}.`;
  const waits = unready.length === 1 ? "waits" : "wait";
  const others = unready.length === 0 ? "" : ` ${unready.length} ${waits} for others: ${few(unready)}.`;
  const open = ready + others;
  const state = running
    ? `Tickets are given to idle agents, ${most} at most at once.`
    : "Tickets are given to nobody. To give them out: signalbox crew run";
  return `${open} ${state}`;
}

/** What keeps a crew from doing more, a sentence each. */
export function aboutTroubles(crew: CrewView): readonly { readonly isTrouble: boolean; readonly text: string }[] {
  const { project, running, most, leftOver, troubles, unread, problems, agents, poolSize } = crew;
  const [first] = leftOver;
  const wanted = Math.min(agents.length, most);
  const again = `Had before, and open again: ${few(leftOver)}. To give one out: signalbox crew assign NAME ${first}`;
  const room = `${project} has room for ${poolSize} at once. For more: signalbox project update ${project} --pool-size ${wanted}`;
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
