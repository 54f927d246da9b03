import type { RunView } from "../../api/agents.ts";
import type { TaskView } from "../../api/tasks.ts";
import { oneLine } from "../../text.ts";
import { type Paint, visible } from "../fast/tell.ts";
import { agentMarkOf } from "../tables.ts";
import { cut } from "../text.ts";
import type { Happening, Stay } from "./play.ts";
import type { DemoTask } from "./stage.ts";

interface ShownTask {
  readonly planned: DemoTask;
  /** Undefined before it is created. */
  readonly task: TaskView | undefined;
  readonly stays: readonly Stay[];
  /** The working runs of the task. */
  readonly runs: readonly RunView[];
}

export interface ShownHappening extends Happening {
  /** Milliseconds since the demo began. */
  readonly at: number;
  readonly number: number;
}

export interface View {
  readonly tasks: readonly ShownTask[];
  readonly happenings: readonly ShownHappening[];
  readonly began: number;
  readonly now: number;
}

/** The live view as at most `height` lines, each at most `width` wide. */
export function draw({ tasks, happenings, began, now }: View, width: number, height: number, paint: Paint) {
  const clock = writeSeconds(now - began);
  const title = cut("Signalbox demo: four scripted agents; git, tmux and daemon are real", width - clock.length - 2);
  const head = `${paint.bold(title)}${" ".repeat(width - title.length - clock.length)}${paint.dim(clock)}`;
  const blocks = tasks.map((task, i) => drawTask(task, i + 1, now, width, paint));
  // The latest events are worth more than empty lines.
  const isRoomy = height >= 2 + blocks.length * 4 + 4;
  const body = blocks.flatMap((block) => (isRoomy ? [...block, ""] : block));
  const above = isRoomy ? [head, "", ...body] : [head, ...body];
  const room = Math.max(0, height - above.length);
  const last = room === 0 ? [] : happenings.slice(-room);
  return [...above, ...last.map((each) => writeHappening(each, width, paint))].slice(0, height);
}

/** `  3.2s  #2  agent-review → working, by reviewer#2 with ## Review: FAIL` */
export function writeHappening({ at, number, text, mood }: ShownHappening, width: number, paint: Paint): string {
  const time = writeSeconds(at).padStart(6);
  const line = cut(oneLine(text), width - time.length - 6);
  return `${paint.dim(time)}  #${number}  ${moods(paint)[mood](line)}`;
}

function moods(paint: Paint): Readonly<Record<Happening["mood"], (text: string) => string>> {
  return { plain: (text) => text, good: paint.green, bad: paint.red, person: paint.yellow };
}

function drawTask({ planned, task, stays, runs }: ShownTask, number: number, now: number, width: number, paint: Paint) {
  const about = cut(planned.about, Math.floor(width / 2) - 2);
  const name = cut(`#${number}  ${planned.summary}`, width - about.length - 2);
  const title = `${paint.bold(name)}${" ".repeat(width - name.length - about.length)}${paint.dim(about)}`;
  return [title, writeTrail(task, stays, now, width, paint), writeNow(task, runs, width, paint)];
}

/** The states so far, ending with the current one; without room for all, the first ones are left out. */
function writeTrail(task: TaskView | undefined, stays: readonly Stay[], now: number, width: number, paint: Paint) {
  const last = stays.at(-1);
  if (task === undefined || last === undefined) return paint.dim("    not created yet");
  const isOver = task.outcome !== null;
  const end = isOver ? last.status : `${last.status} ${writeSeconds(now - last.from)}`;
  const before = stays.slice(0, -1).map(({ status, from, until = from }) => `${status} ${writeSeconds(until - from)}`);
  const room = width - 4;
  let shown = before;
  const lengthOf = (words: readonly string[]) => [...words, end].join(" › ").length;
  while (shown.length > 0 && lengthOf(shown.length < before.length ? ["…", ...shown] : shown) > room)
    shown = shown.slice(1);
  const words = shown.length < before.length ? ["…", ...shown] : shown;
  const colour = isOver ? paint.green : task.needsPerson ? paint.yellow : paint.cyan;
  return `    ${paint.dim(words.map((word) => `${word} › `).join(""))}${colour(cut(end, room))}`;
}

/** The task's agent, and what it is doing. */
function writeNow(task: TaskView | undefined, runs: readonly RunView[], width: number, paint: Paint): string {
  if (task === undefined) return "";
  if (task.outcome !== null) return paint.green("    ✓ merged into main");
  // A busy run is more interesting than a waiting one.
  const [run] = [...runs].sort((a, b) => Number(b.activity === "busy") - Number(a.activity === "busy"));
  const who = run === undefined ? "" : `${agentMarkOf(run)} ${run.key}  `;
  const what = run === undefined ? "" : (tools[run.what] ?? oneLine(run.what || run.activity));
  if (task.needsPerson) return paint.yellow(cut(`    ! waits for a person   ${who}${what}`, width));
  return run === undefined ? "" : cut(`    ${who}${what}`, width);
}

/** The scripted agent's tools, described for a viewer. */
const tools: Readonly<Record<string, string>> = {
  section: "Writing its task file",
  cli: "Asking the engine",
  write: "Writing a file",
  append: "Writing a file",
  commit: "Committing",
};

/** `3.2s`, `75.0s` */
export function writeSeconds(milliseconds: number): string {
  return `${(Math.max(0, milliseconds) / 1000).toFixed(1)}s`;
}

/** Lines that are redrawn in place, below the earlier output of the terminal. */
interface Screen {
  show(lines: readonly string[]): void;
  /** Erases the lines; the cursor returns to where they began. */
  clear(): void;
}

type Terminal = Pick<NodeJS.WriteStream, "write" | "on" | "off">;

/** Writes its own control sequences; of those in the lines only our styles are kept. */
export function createScreen(terminal: Terminal): Screen {
  let shown = 0;
  let isOpen = false;
  const top = () => (shown > 1 ? `\u001b[${shown - 1}A\r` : "\r");
  // After a resize the terminal has rewrapped the lines, so their number is unknown.
  const forget = () => {
    terminal.write("\u001b[H\u001b[2J");
    shown = 0;
  };
  return {
    show(lines) {
      if (!isOpen) terminal.on("resize", forget);
      const begin = isOpen ? "" : hideCursor;
      isOpen = true;
      const text = lines.map((line) => `${visible(line)}${endOfLine}`).join("\n");
      // A synchronised update, for terminals that support it, so that no half-drawn screen is visible.
      terminal.write(`${begin}\u001b[?2026h${top()}${text}${endOfScreen}\u001b[?2026l`);
      shown = lines.length;
    },
    clear() {
      if (!isOpen) return;
      terminal.off("resize", forget);
      terminal.write(`${top()}${endOfScreen}${showCursor}`);
      isOpen = false;
      shown = 0;
    },
  };
}

const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";
const endOfLine = "\u001b[K";
const endOfScreen = "\u001b[J";
