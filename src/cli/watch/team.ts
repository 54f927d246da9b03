import type { RunView, UsageRow } from "../../api/agents.ts";
import type { Call } from "../../api/client.ts";
import type { QuestionView } from "../../api/questions.ts";
import { routes } from "../../api/routes.ts";
import type { ExplanationView, PartView, PullRequestView, TaskView } from "../../api/tasks.ts";
import { oneLine } from "../../text.ts";
import { visible } from "../fast/tell.ts";
import { shownTask } from "../find.ts";
import { describeCounts, paintMark, partMark, writeBar } from "../parts.ts";
import { clip, displayWidth, fill, joinFitting, writeAge, writeCosts, writeDuration } from "../text.ts";
import type { Frame } from "./rows.ts";

/** The current state of a team: a task, the parts of its plan, and all their agents. */
export interface TeamBoard {
  readonly task: TaskView;
  readonly pullRequest: PullRequestView | null;
  /** The live agents of the task and of its parts. */
  readonly runs: readonly RunView[];
  /** By task, earlier tries of parts included. */
  readonly usage: ReadonlyMap<string, UsageRow>;
  /** The open questions of the task and of its parts. */
  readonly questions: readonly QuestionView[];
  /** Whether the plan waits for a person's approval. */
  readonly hasPlan: boolean;
  /** What holds up a task of which nothing is at work, as `explain` says. */
  readonly waits: readonly Wait[];
  /** Whether nothing of it goes on before a person acts, here or in another task. */
  readonly isStuck: boolean;
  /** Since when each look has found that it needs a person or is stuck, in milliseconds; undefined if it does not. */
  readonly neededSince: number | undefined;
  /** A warning that stays on the screen; empty if there is none. */
  readonly notice: string;
}

type Wait = ExplanationView["blocked"][number];

/** Returns a function that reads the state of a team. */
export function createTeamBoard(id: string, notice = "", clock = Date.now): (call: Call) => Promise<TeamBoard> {
  let neededSince: number | undefined;
  return async (call) => {
    const { task, pullRequest } = await call(routes.getTask, { params: { task: id } });
    const { project } = task;
    const ids = tasksOf(task);
    const { runs } = await call(routes.listRuns, { query: { project } });
    const { rows } = await call(routes.listUsage, { query: { by: "task", project } });
    const asking = task.needsPerson ? [id, ...(task.children?.needPerson ?? [])] : (task.children?.needPerson ?? []);
    const questions = await Promise.all(asking.map((each) => call(routes.listQuestions, { query: { task: each } })));
    const isPlanned = task.needsPerson && task.children !== null && task.children.parts.length === 0;
    const plan = isPlanned ? await call(routes.getPlan, { params: { task: id } }) : undefined;
    const own = runs.filter((run) => ids.has(run.task));
    const isIdle =
      !task.needsPerson && task.phase === "waiting" && !atWork(own).some(({ activity }) => activity === "busy");
    const canBeStuck =
      isIdle && !(task.children?.parts ?? []).some((part) => part.state === "running" && !part.needsPerson);
    const explained =
      canBeStuck && own.length === 0 ? await call(routes.explainTask, { params: { task: id } }) : undefined;
    const stuck =
      canBeStuck &&
      isStuck(task, {
        open: (await call(routes.listTasks, { query: { project, open: "true", limit: "1000" } })).tasks,
        waits: explained?.blocked ?? [],
        runs,
        poolSize: (await call(routes.getProject, { params: { project } })).poolSize,
      });
    neededSince = task.needsPerson || stuck ? (neededSince ?? clock()) : undefined;
    return {
      ...{ task, pullRequest, runs: own, notice, neededSince },
      waits: explained?.blocked ?? [],
      isStuck: stuck,
      usage: new Map(rows.flatMap((row) => (ids.has(row.key) ? [[row.key, row] as const] : []))),
      questions: questions.flatMap((page) => page.questions),
      hasPlan: plan?.canChange === true && plan.items.length > 0,
    };
  };
}

/** What decides whether an idle task goes on by itself: its project's open tasks, runs and pool, and what it waits for. */
interface Neighbours {
  readonly open: readonly TaskView[];
  readonly waits: readonly Wait[];
  readonly runs: readonly RunView[];
  readonly poolSize: number;
}

/**
 * Whether only a person can get an idle task going. A seat or a provider's limit becomes free by itself, and so does a
 * workspace, unless the whole pool is with tasks that wait for a person, and of which no agent is at work. A workspace that
 * no open task names is being prepared or released.
 */
export function isStuck(task: TaskView, { open, waits, runs, poolSize }: Neighbours): boolean {
  if (task.paused !== "" || isUnwanted(task)) return true;
  const parts = open.filter(({ parent, part }) => parent === task.id && part !== null);
  const started = parts.filter(({ part }) => part?.slot !== null);
  // Parts that have not started may do so at any moment.
  if (parts.length > 0 && started.length === 0) return false;
  const idle = started.length === 0 ? [task] : started.filter(({ needsPerson }) => !needsPerson);
  if (idle.length === 0) return true;
  if (idle.some(({ waiting }) => waiting !== "") || (started.length === 0 && waits.length === 0)) return false;
  const holders = open.filter(({ workspace }) => workspace !== "");
  const goesOn = new Set(runs.flatMap((run) => (atWorkAlone.has(run.activity) ? [run.task] : [])));
  return holders.length >= poolSize && holders.every(({ id, needsPerson }) => needsPerson && !goesOn.has(id));
}

/** The activities of agents that go on without a person. */
const atWorkAlone: ReadonlySet<RunView["activity"]> = new Set(["busy", "starting", "waiting"]);

/** Whether the task was created so that it does not start by itself. */
function isUnwanted({ autostart, previousStatus }: TaskView): boolean {
  return !autostart && previousStatus === "";
}

/** The task, its parts, and their earlier tries. */
function tasksOf({ id, children }: TaskView): ReadonlySet<string> {
  return new Set([id, ...(children?.parts ?? []).flatMap((part) => [part.id, ...part.earlier])]);
}

/**
 * How the work of a team stands: over, or a person is needed and nothing goes on without one. `partly-done`: the task is
 * done, but some of its parts are not.
 */
export type TeamEnd = "done" | "partly-done" | "failed" | "cancelled" | "needs-person";

/** A need counts only after a moment, because an agent that is starting can look dead. */
const steadyTime = 2_000;
/** After a restart, the daemon takes longer to find the agents of the tasks that have the workspaces. */
const steadyStuckTime = 10_000;

/** How the work has ended, or that it cannot continue without a person; undefined while it goes on. */
export function endOfTeam({ task, questions, hasPlan, neededSince }: TeamBoard, now: number): TeamEnd | undefined {
  const { outcome, phase, needsPerson } = task;
  if (outcome !== null && (phase === "over" || task.needsPerson))
    return outcome === "done" && lostParts(task).length > 0 ? "partly-done" : outcome;
  if (outcome !== null || neededSince === undefined) return undefined;
  if (questions.length > 0 || hasPlan) return "needs-person";
  return now - neededSince >= (needsPerson ? steadyTime : steadyStuckTime) ? "needs-person" : undefined;
}

/** The parts that failed or were skipped. */
export function lostParts({ children }: TaskView): readonly PartView[] {
  return children?.parts.filter(({ state }) => state === "failed" || state === "skipped") ?? [];
}

export interface TeamNeed {
  /** The part; empty for the task itself. */
  readonly who: string;
  readonly reason: string;
  readonly command: string;
}

/** What a team needs of a person: each reason with its command, which may be empty. */
export function needsOfTeam({ task }: TeamBoard): readonly TeamNeed[] {
  const own = task.needs.map(({ brief, command }) => ({ who: "", reason: brief, command }));
  const parts = (task.children?.parts ?? []).filter(({ needsPerson }) => needsPerson);
  const ofParts = parts.map(({ item, why, id }) => ({
    who: oneLine(item),
    reason: why,
    command: `signalbox task explain ${id}`,
  }));
  return [...own, ...ofParts];
}

/** The usage of all agents of a team. */
export function usageOfTeam({ usage }: Pick<TeamBoard, "usage">): Omit<UsageRow, "key" | "name"> {
  const sum = (of: (row: UsageRow) => number) => [...usage.values()].reduce((all, row) => all + of(row), 0);
  return {
    runs: sum(({ runs }) => runs),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
    cost: sum(({ cost }) => cost),
    unknown: sum(({ unknown }) => unknown),
    duration: sum(({ duration }) => duration),
  };
}

/**
 * One screen of a team at work: never more lines than rows, never wider than the terminal. `left` is what the person has
 * left open, and how it is asked again.
 */
export function teamLines(board: TeamBoard, frame: Frame, left = ""): readonly string[] {
  const { columns, rows, paint } = frame;
  const asked = left === "" ? [] : [paint.yellow(clip(left, columns))];
  const head = [...titleLines(board, frame), ...troubleLines(board, frame), ...asked];
  const body = bodyLines(board, frame, Math.max(1, rows - head.length - 3));
  const lines = [...head, "", ...body].slice(0, Math.max(1, rows - 1));
  const blank = Array.from({ length: Math.max(0, rows - 1 - lines.length) }, () => "");
  const foot = paint.dim(
    clip(`Ctrl-C leaves; the work goes on. All about it: signalbox task show ${board.task.id}`, columns),
  );
  return rows < 3 ? lines.slice(0, rows) : [...lines, ...blank, foot];
}

const maxBar = 40;
const minBar = 10;

/** What is built, in which state, and the bar over its parts. */
function titleLines(board: TeamBoard, { columns, paint, now }: Frame): readonly string[] {
  const { task } = board;
  const { children } = task;
  const name = shownTask(task);
  const room = columns - displayWidth(name) - displayWidth(task.status) - 4;
  const title =
    room < 8
      ? clip(`${name} ${task.status}`, columns)
      : `${paint.bold(name)}  ${fill(oneLine(task.summary), room)}  ${paint.cyan(task.status)}`;
  const used = usageOfTeam(board);
  const allFacts = [
    ...(children === null ? [] : [children.parts.length === 0 ? "no parts yet" : describeCounts(children)]),
    ...(used.runs === 0 ? [] : [used.unknown >= used.runs ? "cost unknown" : writeCosts(used)]),
    writeDuration(now - Date.parse(task.createdAt)),
  ];
  const facts = joinFitting(allFacts, columns);
  const width = Math.min(maxBar, columns - displayWidth(facts) - 2);
  if (children === null || children.parts.length === 0) return [title, facts];
  const bar = writeBar(children, width < minBar ? Math.min(maxBar, columns) : width, paint);
  return width < minBar ? [title, bar, facts] : [title, `${bar}  ${facts}`];
}

function troubleLines({ task, notice }: TeamBoard, { trouble, paint, columns }: Frame): readonly string[] {
  if (trouble !== "") return [paint.red(clip(trouble, columns))];
  return [task.paused, notice].flatMap((text) => (text === "" ? [] : [paint.yellow(clip(oneLine(text), columns))]));
}

/** Needs first, then an agent on each line, then the parts without one. */
function bodyLines(board: TeamBoard, frame: Frame, room: number): readonly string[] {
  const { paint, columns } = frame;
  const needs = needsOfTeam(board).flatMap(({ who, reason, command }) => [
    paint.yellow(clip(`!  ${oneLine(`${who === "" ? "" : `${who}: `}${reason}`)}`, columns)),
    ...(command === "" ? [] : [paint.cyan(clip(`   ${command}`, columns))]),
  ]);
  const { children } = board.task;
  const parts = children?.parts ?? [];
  const busy = new Set(atWork(board.runs).map(({ task }) => task));
  const others = parts
    .filter(({ id, needsPerson }) => !busy.has(id) && !needsPerson)
    .toSorted((a, b) => order[a.state] - order[b.state]);
  const first = [...needs, ...agentLines(board, frame)];
  if (first.length + others.length === 0) return waitLines(board, frame).slice(0, room);
  const write = (shown: readonly PartView[]) => shown.map((part) => partLine(part, parts, frame));
  if (first.length + others.length <= room) return [...first, ...write(others)];
  const fitting = Math.max(0, room - first.length - 1);
  const rest = paint.dim(clip(describeRest(others.slice(fitting)), columns));
  return [...first.slice(0, room - 1), ...write(others.slice(0, fitting)), rest];
}

/** Why nothing is at work, and what to do about it. */
function waitLines({ waits }: TeamBoard, { paint, columns }: Frame): readonly string[] {
  const lines = waits.flatMap(({ reason, fix }) => [
    clip(`◌  ${oneLine(reason)}`, columns),
    ...fix.split("\n").flatMap((line) => (line === "" ? [] : [paint.dim(clip(`   ${oneLine(line)}`, columns))])),
  ]);
  return lines.length === 0 ? [paint.dim(clip("Nothing is at work yet.", columns))] : lines;
}

/** `… and 18 waiting, 4 done` */
function describeRest(parts: readonly PartView[]): string {
  if (parts.length === 0) return "… and more agents";
  const states = Object.keys(order) as (keyof typeof order)[];
  const counts = states.flatMap((state) => {
    const count = parts.filter((part) => part.state === state).length;
    return count === 0 ? [] : [`${count} ${state === "running" ? "working" : state}`];
  });
  return `… and ${counts.join(", ")}`;
}

const order = { running: 0, failed: 1, waiting: 2, skipped: 3, done: 4 } as const;

const maxItem = 16;

/** The live feed also reports agents that have just ended. */
function atWork(runs: readonly RunView[]): readonly RunView[] {
  return runs.filter(({ activity }) => activity !== "ended");
}

/** `●  theme  SUBTASK_TESTING  12s  $0.05  Reading theme.css` */
function agentLines({ task, runs, usage }: TeamBoard, { columns, paint, now }: Frame): readonly string[] {
  const parts = new Map((task.children?.parts ?? []).map((part) => [part.id, part]));
  const inOrder = atWork(runs).toSorted((a, b) => (parts.get(a.task)?.number ?? 0) - (parts.get(b.task)?.number ?? 0));
  const rows = inOrder.map((run) => {
    const part = parts.get(run.task);
    const used = usage.get(run.task);
    return {
      mark: run.raised !== "" || run.activity === "asks" ? "!" : run.activity === "busy" ? "●" : "◌",
      item: oneLine(part?.item ?? run.role),
      status: part?.status ?? task.status,
      since: writeAge(run.since, now),
      cost: used === undefined || used.runs === 0 ? "" : writeCosts(used),
      what: oneLine(run.raised || run.what) || run.activity,
    } as const;
  });
  const width = (of: (row: (typeof rows)[number]) => string, most: number) =>
    Math.min(most, Math.max(0, ...rows.map((row) => displayWidth(of(row)))));
  const item = Math.max(
    itemWidth([...parts.values()]),
    width((row) => row.item, maxItem),
  );
  // On a narrow terminal the state goes first, then the cost: what the agent does says more.
  let free = columns - 3 - item - 2 - minWhat;
  const fits = (wanted: number) => {
    if (wanted === 0 || wanted + 2 > free) return 0;
    free -= wanted + 2;
    return wanted;
  };
  const since = fits(width((row) => row.since, 5));
  // A figure is never cut: a column that is too wide is left out.
  const cost = fits(width((row) => row.cost, Number.POSITIVE_INFINITY));
  const status = fits(width((row) => row.status, 22));
  return rows.map((row) => {
    const cells = [
      fill(row.item, item),
      ...(status === 0 ? [] : [paint.cyan(fill(row.status, status))]),
      ...(since === 0 ? [] : [clip(row.since, since).padStart(since)]),
      ...(cost === 0 ? [] : [clip(row.cost, cost).padStart(cost)]),
    ];
    const text = clip(row.what, minWhat + free);
    return clipped(`${paintMark(row.mark, paint)}  ${cells.join("  ")}  ${paint.dim(visible(text))}`, row, columns);
  });
}

const minWhat = 14;

/** A terminal that is too narrow for the columns gets the name alone. */
function clipped(
  line: string,
  { mark, item }: { readonly mark: string; readonly item: string },
  columns: number,
): string {
  return columns < 3 + maxItem + 2 + minWhat ? clip(`${mark}  ${item}`, columns) : line;
}

/** `◌  css  needs theme` */
function partLine(part: PartView, parts: readonly PartView[], { columns, paint }: Frame): string {
  const width = itemWidth(parts);
  const room = columns - 5 - width;
  if (room < 1) return clip(`${partMark(part)}  ${oneLine(part.item)}`, columns);
  const text = clip(oneLine(aboutPart(part)), room);
  const line = `${paintMark(partMark(part), paint)}  ${fill(oneLine(part.item), width)}  `;
  return line + (part.state === "running" ? paint.cyan(text) : paint.dim(text));
}

function itemWidth(parts: readonly PartView[]): number {
  return Math.min(maxItem, Math.max(0, ...parts.map(({ item }) => displayWidth(oneLine(item)))));
}

function aboutPart({ state, status, why, title }: PartView): string {
  if (state === "done") return title;
  if (state === "running") return why === "" ? status : `${status}: ${why}`;
  return why === "" ? status : why;
}

/** A line for the task and for each part, by name, for output without a terminal. */
export function teamTexts(board: TeamBoard): ReadonlyMap<string, string> {
  const { task } = board;
  const { children } = task;
  const counts = children === null || children.parts.length === 0 ? "" : `  ${describeCounts(children)}`;
  const lines = new Map([["", `${shownTask(task)}  ${task.status}${counts}`]]);
  for (const part of children?.parts ?? []) {
    const again = part.try === 1 ? "" : ` (try ${part.try})`;
    // What a part needs of a person has a line of its own.
    const about = part.why === "" || part.needsPerson ? "" : `  ${oneLine(part.why)}`;
    lines.set(part.item, `${oneLine(part.item)}  ${part.status}${again}${about}`);
  }
  for (const { reason, fix } of board.waits)
    lines.set(`waits ${reason}`, `waits: ${oneLine([reason, ...fix.split("\n")].filter(Boolean).join(" → "))}`);
  for (const { who, reason, command } of needsOfTeam(board)) {
    const text = [`needs you: ${who === "" ? "" : `${who}: `}${oneLine(reason)}`, command].filter(Boolean).join(" → ");
    lines.set(`needs ${who} ${reason}`, text);
  }
  return lines;
}

/**
 * The lines of a team without those of needs that have just begun: what the engine mends by itself a moment later calls
 * nobody. Asked again, it adds those that have lasted.
 */
export function createSteadyTexts(now: () => number): (board: TeamBoard) => ReadonlyMap<string, string> {
  let seen: ReadonlyMap<string, number> = new Map();
  return (board) => {
    const lines = teamTexts(board);
    const passing = [...lines.keys()].filter((name) => /^(?:needs|waits) /.test(name));
    seen = new Map(passing.map((name) => [name, seen.get(name) ?? now()]));
    return new Map([...lines].filter(([name]) => now() - (seen.get(name) ?? 0) >= steadyTime));
  };
}
