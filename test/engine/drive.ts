import { readFileSync } from "node:fs";
import { parseTaskDocument } from "../../src/documents/task-document.ts";
import { type Creation, createTask } from "../../src/engine/create.ts";
import { decide } from "../../src/engine/decide.ts";
import type { Decision, Effect, Reason, TaskEvent } from "../../src/engine/decision.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { formatProblem } from "../../src/engine/language/problem.ts";
import type { Artifact, FactName, Facts, Request, RunEnd } from "../../src/engine/request.ts";
import { blankIdentity, type Task } from "../../src/engine/task.ts";
import type { Workflow } from "../../src/engine/workflow.ts";

export function builtIn(name: string): Workflow {
  return loadText(readFileSync(new URL(`../../workflows/${name}.yml`, import.meta.url), "utf8"), `${name}.yml`);
}

export function loadText(text: string, file = "test.yml"): Workflow {
  const { workflow, problems } = loadWorkflow(text, file);
  if (workflow === undefined) throw new Error(problems.map(formatProblem).join("\n"));
  return workflow;
}

const identity: Creation = {
  ...blankIdentity,
  id: "t1",
  project: "coffee",
  number: 12,
  branch: "signalbox/t1",
  summary: "Brew coffee",
  workflow: "default",
  harness: "claude",
  reviewHarness: "codex",
};

/** Drives one task through the engine like the daemon, with every effect succeeding immediately. */
export function drive(workflow: Workflow, creation: Partial<Creation> = {}) {
  const sections: Record<string, string> = {};
  const artifacts: Record<string, Artifact> = {};
  const numbers: Partial<Record<FactName, number>> = { workspace: 1 };
  const events: TaskEvent[] = [];
  let effects: Effect[] = [];
  let head = "c1";
  let taskFileTracked = false;
  let poolFull = false;
  let unstarted: readonly string[] = [];
  let settles = true;

  const facts = (): Facts => ({
    document: parseTaskDocument(text()),
    head,
    artifacts,
    numbers,
    taskFileTracked,
    poolFull,
    unstarted,
  });
  const text = () =>
    Object.entries(sections)
      .map(([heading, body]) => `## ${heading}\n\n${body}\n`)
      .join("\n");
  const accept = (decision: Decision): Decision => {
    if (decision.kind !== "moved" && decision.kind !== "stayed") return decision;
    task = decision.task;
    events.push(...decision.events);
    effects = [...decision.effects];
    return decision;
  };
  const created = createTask(workflow, { ...identity, ...creation }, facts());
  if (created.kind !== "moved") throw new Error(JSON.stringify(created));
  let task: Task = created.task;
  accept(created);

  const self = {
    get task() {
      return task;
    },
    get status() {
      return task.status;
    },
    /** Of the last request, and of the engine's own decisions after it. */
    get effects(): readonly Effect[] {
      return effects;
    },
    get actions(): readonly string[] {
      return effects.map((effect) => effect.action);
    },
    events: events as readonly TaskEvent[],
    facts,
    write(heading: string, body: string) {
      sections[heading] = body;
      return self;
    },
    writtenBy(heading: string, artifact: Artifact) {
      artifacts[heading] = artifact;
      return self;
    },
    commit(commit: string) {
      head = commit;
      return self;
    },
    fact(name: FactName, value: number) {
      numbers[name] = value;
      return self;
    },
    trackTaskFile() {
      taskFileTracked = true;
      return self;
    },
    fillPool() {
      poolFull = true;
      numbers.workspace = 0;
      return self;
    },
    /** Runs whose start is still owed. */
    unstarted(...runs: readonly string[]) {
      unstarted = runs;
      return self;
    },
    /** From here on effects stay owed until `settle`. */
    owe() {
      settles = false;
      return self;
    },
    settle() {
      return accept(decide(workflow, task, { kind: "settled", entry: task.entry }, facts()));
    },
    request(request: Request): Decision {
      const decision = accept(decide(workflow, task, request, facts()));
      if (decision.kind !== "moved") return decision;
      const all = [...effects];
      while (settles && task.phase === "entering") {
        self.settle();
        all.push(...effects);
      }
      effects = all;
      return decision;
    },
    ask: (role: string, to: string) => self.request({ kind: "move", to, actor: actorOf(role) }),
    continue: (role = "human") => self.request({ kind: "continue", actor: actorOf(role) }),
    reply: (words: string, role = "human") => self.request({ kind: "reply", text: words, actor: actorOf(role) }),
    respawn: (role = "human") => self.request({ kind: "respawn", actor: actorOf(role) }),
    ended: (name: string, word: RunEnd, answer?: unknown) =>
      self.request({
        kind: "ended",
        run: task.runs[name]?.key ?? `${name}#0`,
        word,
        ...(answer === undefined ? {} : { answer }),
      }),
    idle: (name: string) => self.request({ kind: "idle", run: task.runs[name]?.key ?? `${name}#0` }),
    did: (word: string, reason = "") => self.request({ kind: "did", entry: task.entry, word, reason }),
    children: (word: "ok" | "error") => self.request({ kind: "children", entry: task.entry, word }),
  };
  while (task.phase === "entering" && creation.status === undefined) self.settle();
  return self;

  function actorOf(role: string) {
    const run = task.runs[role]?.key;
    return run === undefined ? { role } : { role, run };
  }
}

/** The reasons of a refusal; fails the test where there was none. */
export function reasonsOf(decision: Decision): readonly Reason[] {
  if (decision.kind !== "rejected") throw new Error(`Expected a refusal, but got ${decision.kind}.`);
  return decision.reasons;
}

export const plan = "APPROACH: pour-over\nTOUCHING: kettle";
export const handoff = "DONE: brewed";
export const pass = "Verdict: PASS\nTasty.";
export const fail = "Verdict: FAIL\nToo weak.";

/** A `default` task whose worker has planned and is at work. */
export function atWork() {
  const task = drive(builtIn("default"));
  task.ask("human", "planning");
  task.write("Plan", plan).ask("worker", "working");
  return task;
}

/** A `default` task in its first review. */
export function inReview() {
  const task = atWork();
  task.write("Handoff", handoff).ask("worker", "agent-review");
  return task;
}
