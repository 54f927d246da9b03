import type { ChildrenView, PartView } from "../api/tasks.ts";
import { oneLine } from "../text.ts";
import type { Paint } from "./fast/tell.ts";
import { clip, displayWidth, fill, wrapMessage } from "./text.ts";

type PartMark = keyof typeof colours;

const colours = { "!": "yellow", "●": "green", "◌": "dim", "✗": "red", "–": "dim", "✓": "green" } as const;

const marks = { waiting: "◌", running: "●", done: "✓", failed: "✗", skipped: "–" } as const;
/** What people call the states of parts. */
const words = { done: "done", running: "working", waiting: "waiting", failed: "failed", skipped: "skipped" } as const;
const states = Object.keys(words) as readonly (keyof typeof words)[];

/** What the marks behind a summary mean. */
export const partMarks = `${states.map((state) => `${marks[state]} ${words[state]}`).join(", ")}, ! need you`;

export function partMark({ state, needsPerson }: PartView): PartMark {
  return needsPerson ? "!" : marks[state];
}

export function paintMark(mark: PartMark, paint: Paint): string {
  return paint[colours[mark]](mark);
}

/** How many parts are in this state. Those that need a person are counted as such, and not here too. */
function countOf({ parts }: ChildrenView, state: PartView["state"]): number {
  return parts.filter((part) => part.state === state && !part.needsPerson).length;
}

/** `✓12 ●3 ◌24 ✗1 !1` */
export function writePartCounts(children: ChildrenView): string {
  const counts = states.flatMap((state) => {
    const number = countOf(children, state);
    return number === 0 ? [] : [`${marks[state]}${number}`];
  });
  return [...counts, ...(children.needPerson.length === 0 ? [] : [`!${children.needPerson.length}`])].join(" ");
}

/** `12 of 40 done, 3 working, 24 waiting, 1 failed, 1 needs you` */
export function describeCounts(children: ChildrenView): string {
  const { parts, done, needPerson } = children;
  const others = states.flatMap((state) => {
    const number = countOf(children, state);
    return state === "done" || number === 0 ? [] : [`${number} ${words[state]}`];
  });
  const needed = needPerson.length;
  const person = needed === 0 ? [] : [`${needed} ${needed === 1 ? "needs" : "need"} you`];
  return [`${done} of ${parts.length} done`, ...others, ...person].join(", ");
}

/** A bar of this width: what is done, what failed or was skipped, what is at work, and the rest. */
export function writeBar(children: ChildrenView, width: number, paint: Paint): string {
  const { parts, done, failed, skipped, running } = children;
  const until = (count: number) => Math.round((count / Math.max(1, parts.length)) * width);
  const ends = [done, done + failed + skipped, done + failed + skipped + running, parts.length].map(until);
  const [first = 0, second = 0, third = 0, last = 0] = parts.length === 0 ? [0, 0, 0, 0] : ends;
  return [
    paint.green("█".repeat(first)),
    paint.red("×".repeat(second - first)),
    paint.cyan("▒".repeat(third - second)),
    paint.dim("·".repeat(last - third + (parts.length === 0 ? width : 0))),
  ].join("");
}

/** A line for each part: its mark, its name, its task, and what it does, waits for, or why it was not done. */
export function writeParts(
  parts: readonly PartView[],
  { paint, columns }: { readonly paint: Paint; readonly columns: number },
  max = Number.POSITIVE_INFINITY,
): readonly string[] {
  const shown = parts.slice(0, max);
  const width = Math.min(maxItem, Math.max(0, ...shown.map(({ item }) => displayWidth(oneLine(item)))));
  return shown.map((part) => {
    const { item, id, status, why, title } = part;
    const again = part.try === 1 ? "" : ` (try ${part.try})`;
    const head = `  ${paintMark(partMark(part), paint)}  ${fill(oneLine(item), width)}  ${paint.dim(id)}  `;
    const room = columns - (5 + width + 2 + displayWidth(id) + 2);
    const isReason = part.state === "waiting" || part.state === "skipped";
    const said = isReason ? oneLine(why) : oneLine(`${status}${again}${why === "" ? "" : `: ${why}`}`);
    const text =
      part.state === "done" ? clip(oneLine(title), room) : wrapMessage(said, room, " ".repeat(columns - room));
    return head + text;
  });
}

const maxItem = 20;
