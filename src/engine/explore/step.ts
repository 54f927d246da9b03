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
    | "limit"
    | "task-limit"
    | "unsettled"
    | "ticket"
    | "complete";
  /** `human`, `engine`, or the name of a live run. */
  readonly by: string;
  readonly to?: string;
  readonly word?: string;
  readonly answer?: unknown;
  readonly text?: string;
  /** Sections written just before. */
  readonly sections?: Readonly<Record<string, string>>;
  readonly facts?: Readonly<Partial<Record<FactName, number>>>;
  /** All workspaces of the project are taken. */
  readonly poolFull?: true;
  /** A run ended for good, whatever attempts are left. */
  readonly isFinal?: true;
  /** A person has written the sections: no live run may. */
  readonly helped?: true;
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
      const final = step.isFinal ? ({ isFinal: true } as const) : {};
      return "answer" in step ? { ...ended, ...final, answer: step.answer } : { ...ended, ...final };
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
    case "task-limit":
      return { kind: "limit", word: step.word === "cost" ? "cost" : "time" };
    case "unsettled":
      return { kind: "unsettled", entry: task.entry, action: "an effect", reason: "It failed." };
    case "ticket":
      return { kind: "ticket", reason: "Its ticket was closed." };
    case "complete":
      return {
        kind: "complete",
        actor: actorOf(step, task),
        summary: "Done.",
        outcome: "done",
        reason: "",
        documents: [],
      };
  }
}

function actorOf(step: Step, task: Task) {
  const run = task.runs[step.by];
  return run === undefined ? { role: step.by } : { role: step.by.split("/")[0] ?? step.by, run: run.key };
}

/**
 * What causes a step: a person, an agent's request, a changed condition outside, a mishap that no file can prevent, or the
 * engine itself.
 */
export type Driver = "human" | "agent" | "outside" | "mishap" | "machine";

const mishaps: ReadonlySet<Step["what"]> = new Set(["task-limit", "unsettled", "ticket"]);
/** A run that was lost with its machine, or whose program nobody has logged in to. */
const lostWords: ReadonlySet<string | undefined> = new Set(["lost", "login"]);

export function driverOf(step: Step, task: Task): Driver {
  if (step.by === "human" || step.helped) return "human";
  if (mishaps.has(step.what) || lostWords.has(step.word)) return "mishap";
  if (step.what === "continue" && task.held !== undefined) return "outside";
  return step.what === "move" ? "agent" : "machine";
}

/** A step as a line for people. */
export function writeStep(step: Step): string {
  const facts = Object.entries(step.facts ?? {}).map(([name, value]) => `${name} = ${value}`);
  const sections = Object.entries(step.sections ?? {}).map(([name, body]) => `## ${name} (${body.split("\n")[0]})`);
  const by = step.helped ? " by a person" : "";
  const written = sections.length === 0 ? "" : `${sections.join(" and ")} is written${by}, then `;
  if (step.poolFull) facts.push("all workspaces are taken");
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
      if (step.isFinal) return `${step.by} ends with ${step.word}, which no retry would help`;
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
    case "task-limit":
      return `the limit on ${step.word} of the whole task is reached`;
    case "unsettled":
      return "a hook fails";
    case "ticket":
      return "the task's ticket is closed elsewhere";
    case "complete":
      return `${step.by} says that its work is complete`;
  }
}
