import type { EventView } from "../../api/task-wires.ts";
import type { State, Workflow } from "../../engine/workflow.ts";
import { listed } from "../count.ts";
import { describeEvent } from "../describe-event.ts";

/** A time that a task was in a state. Times are milliseconds. */
export interface Stay {
  readonly status: string;
  readonly from: number;
  /** Undefined where it is still there, or has come to its end. */
  readonly until: number | undefined;
}

/** What an event adds: the task's stays so far, from all of its events. */
export function withStay(stays: readonly Stay[], { type, data, at }: Pick<EventView, "type" | "data" | "at">) {
  const status = type === "task.created" ? data.status : type === "task.moved" ? data.to : undefined;
  if (typeof status !== "string") return stays;
  const now = Date.parse(at);
  const last = stays.at(-1);
  const before = last === undefined ? [] : [...stays.slice(0, -1), { ...last, until: now }];
  return [...before, { status, from: now, until: undefined }];
}

/** One thing that happened, in words for somebody who looks on. */
export interface Happening {
  readonly text: string;
  readonly mood: "plain" | "good" | "bad" | "person";
}

/** Undefined for what only those want to know who look into the history. */
export function happeningOf(event: EventView, workflow: Workflow): Happening | undefined {
  const { type, by, data } = event;
  const text = (name: string) => (typeof data[name] === "string" ? data[name] : "");
  switch (type) {
    case "task.created":
      return { text: `created, with the workflow ${text("workflow")}`, mood: "plain" };
    case "task.moved":
      return moved(event, workflow);
    case "agent.started":
      return { text: `${text("run")} starts in a terminal of its own`, mood: "plain" };
    case "agent.ended":
      // That it is gone, and how the wait for it ended, are two events.
      return text("run") === "" ? undefined : { text: `${text("run")} has died`, mood: "bad" };
    case "document.changed":
      return by === "human" ? { text: `a person writes ${describeEvent(event)}`, mood: "person" } : undefined;
    case "message.sent":
      return { text: `${text("to")} is told: ${text("text")}`, mood: "plain" };
    case "person.called":
      return { text: `you would be called: ${describeEvent(event)}`, mood: "person" };
    case "merge.asked":
      return { text: "a person merges it", mood: "person" };
    case "merge.landed":
      return { text: `merged ${describeEvent(event)}`, mood: "good" };
    default:
      return loud.includes(type) ? { text: `${type}: ${describeEvent(event)}`, mood: "bad" } : undefined;
  }
}

/** What should not happen in a demo, and would be of interest if it did. */
const loud = ["task.held", "request.rejected", "effect.failed", "agent.raised", "message.undelivered", "merge.waits"];

/** `agent-review → working, by reviewer#2 with ## Review: FAIL` */
function moved({ by, data }: EventView, workflow: Workflow): Happening {
  const [from, to] = [String(data.from), String(data.to)];
  const evidence = Array.isArray(data.evidence) ? (data.evidence as readonly { section: string }[]) : [];
  const sections = listed(evidence.map(({ section }) => `## ${section}`));
  const [verdict] = evidence.flatMap(({ section }) => verdictOf(workflow, { from, to, section }) ?? []);
  const run = typeof data.run === "string" && data.run !== "" ? data.run : by;
  const who = run === "human" ? "a person" : run === "engine" ? "the engine" : run;
  const shown = `${sections === "" ? "" : ` with ${sections}`}${verdict === undefined ? "" : `: ${verdict}`}`;
  return { text: `${from} → ${to}, by ${who}${shown}`, mood: moodOf(workflow.states[to], verdict) };
}

/** The verdict that a section must have for a way. */
export function verdictOf(
  workflow: Workflow,
  { from, to, section }: { readonly from: string; readonly to: string; readonly section: string },
): "PASS" | "FAIL" | undefined {
  const gates = workflow.ways.filter((way) => way.from === from && way.to === to).flatMap((way) => way.gates);
  return gates.find((gate) => gate.section === section)?.verdict;
}

function moodOf(state: State | undefined, verdict: "PASS" | "FAIL" | undefined): Happening["mood"] {
  if (verdict === "FAIL") return "bad";
  if (verdict === "PASS" || state?.outcome === "done") return "good";
  return state?.wait.kind === "human" ? "person" : "plain";
}
