import type { RunView } from "../../api/agent-wires.ts";
import type { TaskView } from "../../api/task-wires.ts";
import { markOf } from "../agent-table.ts";
import type { Paint } from "../paint.ts";
import { visible } from "../visible.ts";
import { cut } from "../wrap.ts";
import type { Happening, Stay } from "./story.ts";
import type { DemoTask } from "./tasks.ts";

export interface ShownTask {
  readonly planned: DemoTask;
  /** Undefined before it is created. */
  readonly task: TaskView | undefined;
  readonly stays: readonly Stay[];
  /** Those that are at work for it. */
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

/** The live view as lines, each at most so wide and all together at most so many. */
export function draw({ tasks, happenings, began, now }: View, width: number, height: number, paint: Paint) {
  const clock = writeSeconds(now - began);
  const title = cut("Signalbox demo: four scripted agents; git, tmux and daemon are real", width - clock.length - 2);
  const head = `${paint.bold(title)}${" ".repeat(width - title.length - clock.length)}${paint.dim(clock)}`;
  const blocks = tasks.map((task, i) => drawTask(task, i + 1, now, width, paint));
  // What happened last is worth more than empty lines.
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
  const line = cut(plain(text), width - time.length - 6);
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

/** The states so far, the last one as it is now; where there is no room for all, the first ones go. */
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

/** Who is at work for it, and at what. */
function writeNow(task: TaskView | undefined, runs: readonly RunView[], width: number, paint: Paint): string {
  if (task === undefined) return "";
  if (task.outcome !== null) return paint.green("    ✓ merged into main");
  // Whoever is busy says more than who waits.
  const [run] = [...runs].sort((a, b) => Number(b.activity === "busy") - Number(a.activity === "busy"));
  const who = run === undefined ? "" : `${markOf(run)} ${run.key}  `;
  const what = run === undefined ? "" : (tools[run.what] ?? plain(run.what || run.activity));
  if (task.needsPerson) return paint.yellow(cut(`    ! waits for a person   ${who}${what}`, width));
  return run === undefined ? "" : cut(`    ${who}${what}`, width);
}

/** The scripted agent's tools, in words for somebody who looks on. */
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

/** On one line, and nothing in it that a terminal would obey. */
function plain(text: string): string {
  return visible(text).replace(/\s+/g, " ").trim();
}
