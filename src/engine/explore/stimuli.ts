import { sampleAnswers } from "../../answers/read-answer.ts";
import { ownsSection } from "../gate.ts";
import type { FactName } from "../request.ts";
import { specOf } from "../run-spec.ts";
import type { Task } from "../task.ts";
import { isTemporary, waitWords, workWords } from "../when.ts";
import type { Gate, Guard, Mode, RunSpec, State, Way, Workflow } from "../workflow.ts";
import type { Step } from "./step.ts";
import type { World } from "./world.ts";

/** Every step that can happen next. The order depends only on the order of the file. */
export function stimuli(workflow: Workflow, world: World): readonly Step[] {
  const { task } = world;
  const state = workflow.states[task.status];
  if (state === undefined || task.phase === "over") return [];
  // Owed effects are performed first; only a person's request can come before their end.
  const steps =
    task.phase === "entering"
      ? [settle, ...humanMoves(workflow, task, state)]
      : [...machineSteps(workflow, world, state), ...agentSteps(task, state), ...humanSteps(workflow, task, state)];
  return steps.flatMap((step) => withFacts(workflow, world, state, step));
}

const settle: Step = { what: "settled", by: "engine" };

function machineSteps(workflow: Workflow, world: World, state: State): readonly Step[] {
  const { task } = world;
  if (task.phase === "doing")
    return ["ok", ...workWords(state.do)].map((word) => ({ what: "did", by: "engine", word }));
  const ends = Object.keys(task.runs).flatMap((name) => endings(workflow, task, state, name));
  if (task.held !== undefined)
    return [...ends, ...(isTemporary(task.held.word) ? [{ what: "continue", by: "engine" } as const] : [])];
  const { wait } = state;
  const limits = (["time", "cost"] as const).filter((word) => state.limits[word] !== undefined);
  const waits: Step[] = wait.kind === "slot" || wait.kind === "time" ? [{ what: "continue", by: "engine" }] : [];
  const children: Step[] =
    wait.kind === "fan_out" ? ["ok", "error"].map((word) => ({ what: "children", by: "engine", word })) : [];
  return [...ends, ...waits, ...children, ...limits.map((word): Step => ({ what: "limit", by: "engine", word }))];
}

/** The ways in which one live run can end in this state. */
function endings(workflow: Workflow, task: Task, state: State, name: string): readonly Step[] {
  const mode: Mode = task.runs[name]?.mode ?? "session";
  const spec = runSpec(state, name) ?? { ...specOf(workflow, state, name), mode };
  const ended = (word: string): Step => ({ what: "ended", by: name, word });
  const words = waitWords({ wait: { kind: "agent", run: spec }, limits: state.limits }, []);
  // Limits of the state are separate steps; these are limits of the run.
  const isStates = (word: string) => (word === "time" || word === "cost") && state.limits[word] !== undefined;
  const failures = words.filter((word) => !isStates(word) && word !== "steps" && word !== "rounds").map(ended);
  if (mode === "session") {
    const silent = ended("exit");
    const isAwaited = state.wait.kind === "agent" ? state.wait.run.role === name : state.wait.kind === "open";
    if (!isAwaited) return [silent];
    const idle: Step = { what: "idle", by: name };
    const produced = artifactsFor(state).flatMap((sections) => [
      { ...silent, sections },
      { ...idle, sections, untilLeft: true },
    ]);
    return [...failures, { ...idle, untilLeft: true }, ...produced];
  }
  const answers = spec.result === undefined ? [undefined] : samples(workflow, state, spec.result);
  const good = answers.map((answer): Step => ({ ...ended("ok"), ...(answer === undefined ? {} : { answer }) }));
  const toTheLimit = mode === "steps" && words.includes("steps") ? [{ ...ended("step"), untilLeft: true }] : [];
  return [...good, ...toTheLimit, ...failures];
}

function runSpec(state: State, name: string): RunSpec | undefined {
  const { wait } = state;
  if (wait.kind === "panel") return name === wait.judge.role ? wait.judge : wait.member;
  return (wait.kind === "agent" || wait.kind === "human") && wait.run?.role === name ? wait.run : undefined;
}

/** Answers that differ in the fields that rules read; for a fan-out, with and without items. */
function samples(workflow: Workflow, state: State, result: string): readonly unknown[] {
  const schema = workflow.schemas[result];
  if (schema === undefined) return [{}];
  const fields = new Set(state.rules.flatMap((rule) => Object.keys(rule.result ?? {})));
  if (state.wait.kind === "agent") for (const field of Object.keys(state.wait.run.until ?? {})) fields.add(field);
  const answers = sampleAnswers(schema, [...fields]);
  const fanOut = Object.values(workflow.states).find(
    (each) => each.wait.kind === "fan_out" && each.wait.from.result === result,
  )?.wait;
  if (fanOut?.kind !== "fan_out") return answers;
  const item = { id: "1", title: "One", description: "One part", needs: [] };
  return [...answers.map((answer) => ({ ...(answer as object), [fanOut.from.field]: [item] })), ...answers];
}

function agentSteps(task: Task, state: State): readonly Step[] {
  if (state.wait.kind === "human" && !task.attended) return [];
  return Object.keys(task.runs).flatMap((name) => {
    const role = name.split("/")[0] ?? name;
    return asks(state, (way) => way.by === undefined || way.by.includes(role)).map((way) => askStep(name, way, true));
  });
}

function humanMoves(workflow: Workflow, task: Task, state: State): readonly Step[] {
  const writers = ["human", ...Object.keys(task.runs).map((name) => name.split("/")[0] ?? name)];
  const canWrite = (section: string) => writers.some((role) => ownsSection(workflow, role, section));
  return asks(state, (way) => way.by === undefined || way.by.includes("human")).map((way) =>
    askStep(
      "human",
      way,
      way.gates.every((gate) => canWrite(gate.section)),
    ),
  );
}

function humanSteps(workflow: Workflow, task: Task, state: State): readonly Step[] {
  const isWaiting =
    task.held !== undefined || state.wait.kind === "human" || state.wait.kind === "slot" || state.wait.kind === "time";
  const steps: Step[] = [...humanMoves(workflow, task, state)];
  if (task.phase === "waiting" && isWaiting) steps.unshift({ what: "continue", by: "human" });
  if (task.phase === "waiting" && state.respawn !== undefined && task.runs[state.respawn.role] === undefined)
    steps.push({ what: "respawn", by: "human" });
  if (task.wait.turn === "reply") steps.push({ what: "reply", by: "human", text: "the answer" });
  if (task.wait.turn === "confirm")
    steps.push({ what: "reply", by: "human", text: "yes" }, { what: "reply", by: "human", text: "not yet" });
  const agentCouldAsk = Object.keys(task.runs).some(
    (name) => asks(state, (way) => way.by === undefined || way.by.includes(name)).length > 0,
  );
  if (state.wait.kind === "human" && !task.attended && agentCouldAsk)
    steps.push({ what: "reply", by: "human", text: "the answer" });
  return steps;
}

function asks(state: State, may: (way: Way) => boolean): readonly Way[] {
  return Object.values(state.out).flatMap((ways) => ways.filter(may));
}

function askStep(by: string, way: Way, writes: boolean): Step {
  const step: Step = { what: "move", by, to: way.to };
  return way.gates.length > 0 && writes ? { ...step, sections: satisfying(way.gates) } : step;
}

/** One set of sections for each gate and rule of a state, so that each can be satisfied. */
function artifactsFor(state: State): readonly Readonly<Record<string, string>>[] {
  const gates = [
    ...Object.values(state.out).flatMap((ways) => ways.map((way) => way.gates)),
    ...state.rules.flatMap(({ artifact }) => (artifact === undefined || artifact === "none" ? [] : [[artifact]])),
  ].filter((each) => each.length > 0);
  const sets = gates.map(satisfying);
  return sets.filter((set, i) => sets.findIndex((other) => JSON.stringify(other) === JSON.stringify(set)) === i);
}

function satisfying(gates: readonly Gate[]): Readonly<Record<string, string>> {
  const sections: Record<string, string> = Object.create(null);
  for (const gate of gates) {
    const verdict = gate.verdict === undefined ? [] : [`Verdict: ${gate.verdict}`];
    const fields = gate.fields.slice(0, 1).map((field) => `${field}: written`);
    const lines = [...verdict, ...fields];
    sections[gate.section] = lines.length > 0 ? lines.join("\n") : "written";
  }
  return sections;
}

/** Repeats a step for every combination of the facts that its conditions read. */
function withFacts(workflow: Workflow, world: World, state: State, step: Step): readonly Step[] {
  const names = factsRead(workflow, state, step);
  let steps: readonly Step[] = [step];
  for (const [name, values] of names) {
    const possible = name === "workspace" ? (world.workspace ? [1, 0] : [0]) : [...values];
    steps = steps.flatMap((each) => possible.map((value) => ({ ...each, facts: { ...each.facts, [name]: value } })));
  }
  return steps;
}

const switches: ReadonlySet<string> = new Set(["dirty", "merged", "protected", "workspace"]);

function factsRead(workflow: Workflow, state: State, step: Step): ReadonlyMap<FactName, ReadonlySet<number>> {
  const found = new Map<FactName, Set<number>>();
  const look = (guards: readonly Guard[]) => {
    for (const guard of guards) {
      if (guard.source !== "fact") continue;
      const name = guard.field as FactName;
      const values = found.get(name) ?? new Set<number>();
      const constant = typeof guard.value === "number" ? guard.value : 1;
      for (const value of switches.has(name) ? [0, 1] : [constant - 1, constant, constant + 1])
        if (value >= 0) values.add(value);
      found.set(name, values);
    }
  };
  if (step.what === "settled" && state.wait.kind !== "none" && state.unless.length === 0) return found;
  if (step.what === "reply" || step.what === "respawn") return found;
  const targets = step.what === "move" ? [step.to ?? ""] : Object.keys(state.out);
  if (step.what !== "move") for (const rule of state.rules) look(rule.when);
  if (step.what === "ended" || step.what === "did") look(state.evidence);
  for (const to of targets) {
    for (const way of state.out[to] ?? []) look(way.when);
    look(workflow.states[to]?.unless ?? []);
  }
  return found;
}
