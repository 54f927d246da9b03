import type { EventView } from "../api/task-wires.ts";
import type { Context } from "./context.ts";
import { describeEvent } from "./describe-event.ts";
import { displayWidth } from "./display-width.ts";
import { wrapMessage } from "./wrap.ts";
import { writeTime } from "./write-time.ts";

const typeWidth = "dialogue.answered".length;
const byWidth = "reviewer#2".length;

/** One line of history: when, what, who, and what it was about. Where it is of many tasks, also which task. */
export function writeEvent(
  event: EventView,
  { paint, tableWidth }: Pick<Context, "paint" | "tableWidth">,
  ofMany = false,
): string {
  const { type, at, task } = event;
  const colour = loud[type] === undefined ? paint.cyan : paint[loud[type]];
  const time = writeTime(at);
  const who = whoDid(event).padEnd(byWidth);
  const head = [paint.dim(time), ...(ofMany ? [paint.bold(task)] : []), colour(type.padEnd(typeWidth)), who].join("  ");
  const text = describeEvent(event).replace(/\s*\n\s*/g, " ");
  const taken = time.length + (ofMany ? task.length + 2 : 0) + typeWidth + who.length + 6;
  if (taken + displayWidth(text) <= tableWidth || (text === "" && taken - 2 <= tableWidth))
    return `${head}  ${text}`.trimEnd();
  const room = tableWidth - taken;
  if (taken - 2 > tableWidth) {
    const said = `${who.trimEnd()}${text === "" ? "" : `: ${text}`}`;
    return `${head.slice(0, -who.length).trimEnd()}\n    ${wrapMessage(said, tableWidth - 4, "    ")}`;
  }
  if (room >= leastRoom) return `${head}  ${wrapMessage(text, room, " ".repeat(taken))}`;
  return `${head.trimEnd()}\n    ${wrapMessage(text, tableWidth - 4, "    ")}`;
}

/** Beside the rest of a line, text that has less room than this stands below it. */
const leastRoom = 40;

const loud: Readonly<Record<string, "red" | "yellow">> = {
  "task.held": "yellow",
  "request.rejected": "yellow",
  "effect.failed": "red",
  "agent.raised": "yellow",
  "agent.limited": "yellow",
  "message.undelivered": "red",
};

/** The run where it is known, else the role. */
function whoDid({ type, by, data }: EventView): string {
  const asked = type === "request.rejected" ? (data.request as { actor?: { run?: unknown } } | undefined) : undefined;
  // An ended run is what the event is about, not who it is by.
  const run = asked === undefined ? (type === "agent.ended" ? undefined : data.run) : asked.actor?.run;
  return typeof run === "string" && run !== "" ? run : by;
}
