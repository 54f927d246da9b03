import type { FactName, Request, RunEnd } from "../request.ts";
import type { Task } from "../task.ts";

/**
 * One thing that can happen to a task, independent of the particular task: runs are named by role, and the stay is the
 * present one. It can be written to a file and replayed later.
 */
export interface Step {
  readonly what:
    | "move"
    | "continue"
    | "reply"
    | "respawn"
    | "ended"
    | "idle"
    | "settled"
    | "did"
    | "children"
    | "limit";
  /** `human`, `engine`, or the name of a live run. */
  readonly by: string;
  readonly to?: string;
  readonly word?: string;
  readonly answer?: unknown;
  readonly text?: string;
  /** Sections written just before. */
  readonly sections?: Readonly<Record<string, string>>;
  readonly facts?: Readonly<Partial<Record<FactName, number>>>;
  /** Repeats until the task leaves the state or is held. */
  readonly untilLeft?: boolean;
}

export function requestOf(step: Step, task: Task): Request {
  const run = task.runs[step.by]?.key ?? `${step.by}#0`;
  switch (step.what) {
    case "move":
      return { kind: "move", to: step.to ?? "", actor: actorOf(step, task) };
    case "continue":
      return { kind: "continue", actor: actorOf(step, task) };
    case "reply":
      return { kind: "reply", actor: actorOf(step, task), text: step.text ?? "" };
    case "respawn":
      return { kind: "respawn", actor: actorOf(step, task) };
    case "ended": {
      const ended = { kind: "ended", run, word: step.word as RunEnd } as const;
      return "answer" in step ? { ...ended, answer: step.answer } : ended;
    }
    case "idle":
      return { kind: "idle", run };
    case "settled":
      return { kind: "settled", entry: task.entry };
    case "did":
      return { kind: "did", entry: task.entry, word: step.word ?? "ok" };
    case "children":
      return { kind: "children", entry: task.entry, word: step.word === "ok" ? "ok" : "error" };
    case "limit":
      return { kind: "limit", word: step.word === "cost" ? "cost" : "time", entry: task.entry };
  }
}

function actorOf(step: Step, task: Task) {
  const run = task.runs[step.by];
  return run === undefined ? { role: step.by } : { role: step.by.split("/")[0] ?? step.by, run: run.key };
}

/** What causes a step: a person, an agent's request, a changed condition outside, or the engine itself. */
export type Driver = "human" | "agent" | "outside" | "machine";

export function driverOf(step: Step, task: Task): Driver {
  if (step.by === "human") return "human";
  if (step.what === "continue" && task.held !== undefined) return "outside";
  return step.what === "move" ? "agent" : "machine";
}

/** A step as a line for people. */
export function writeStep(step: Step): string {
  const facts = Object.entries(step.facts ?? {}).map(([name, value]) => `${name} = ${value}`);
  const sections = Object.entries(step.sections ?? {}).map(([name, body]) => `## ${name} (${body.split("\n")[0]})`);
  const written = sections.length === 0 ? "" : `${sections.join(" and ")} is written, then `;
  return `${written}${act(step)}${facts.length === 0 ? "" : `, with ${facts.join(", ")}`}`;
}

function act(step: Step): string {
  const again = step.untilLeft ? " repeatedly" : "";
  switch (step.what) {
    case "move":
      return `${step.by} asks for ${step.to}`;
    case "continue":
      return step.by === "human" ? "the person continues" : "the engine continues";
    case "reply":
      return `the person answers "${step.text}"`;
    case "respawn":
      return "the person starts the agent again";
    case "ended":
      return `${step.by} ends with ${step.word}${"answer" in step ? ` ${JSON.stringify(step.answer)}` : ""}${again}`;
    case "idle":
      return `${step.by} goes idle${again}`;
    case "settled":
      return "the hooks are done";
    case "did":
      return `the work ends with ${step.word}`;
    case "children":
      return `the children end with ${step.word}`;
    case "limit":
      return `the limit on ${step.word} is reached`;
  }
}
