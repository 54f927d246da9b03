import type { EventView } from "../api/task-wires.ts";
import type { Context } from "./context.ts";
import { describeEvent } from "./describe-event.ts";
import { writeTime } from "./write-time.ts";

const typeWidth = "dialogue.answered".length;
const byWidth = "reviewer#2".length;

/** One line of history: when, what, who, and what it was about. Where it is of many tasks, also which task. */
export function writeEvent(event: EventView, { paint }: Pick<Context, "paint">, ofMany = false): string {
  const { type, at, task } = event;
  const colour = loud[type] === undefined ? paint.cyan : paint[loud[type]];
  const cells = [
    paint.dim(writeTime(at)),
    ...(ofMany ? [paint.bold(task)] : []),
    colour(type.padEnd(typeWidth)),
    whoDid(event).padEnd(byWidth),
    describeEvent(event),
  ];
  return cells
    .join("  ")
    .replace(/\s*\n\s*/g, " ")
    .trimEnd();
}

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
