import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Task } from "../../engine/task.ts";
import type { RunSpec } from "../../engine/workflow.ts";
import type { Harness, HarnessOrder } from "../../ports/harness.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import type { Agents, AgentsPorts } from "./agents.ts";
import { countedUpTo, type ReadEnd, readTurnOutput } from "./read-turn.ts";
import { makeRunFolder, runEnvironment, runRecordId } from "./run-order.ts";
import { hookCommand } from "./run-programs.ts";
import { sessionId } from "./start-run.ts";

/** A short question to a model, apart from the task's runs: it has no tools, no credential and no part in the workspace. */
export interface ModelQuestion {
  readonly task: Task;
  /** `[a-z]+`, unique in the task: the same question is asked once, whatever happens to the daemon. */
  readonly name: string;
  /** Empty for the harness's default. */
  readonly model: string;
  readonly prompt: string;
  /** Milliseconds. */
  readonly timeLimit: number;
}

/** The model's answer; undefined where there is none, for whatever reason. */
export type AskModel = (question: ModelQuestion) => Promise<string | undefined>;

const outputLimit = 1024 ** 2;
const pollInterval = 100;
/** For the supervisor, which enforces the time limit, to record the end. */
const timeToRecord = 2_000;

/**
 * Asks in a turn of the task's harness. A daemon that was killed meanwhile finds the turn again and reads its answer. What it
 * used is counted once.
 */
export function createAskModel(agents: () => Agents | undefined): AskModel {
  return async (question) => {
    const known = agents();
    const harness = known?.ports.harnesses().get(question.task.harness);
    if (known === undefined || harness === undefined || !harness.can.turn) return undefined;
    const asked = recordOf(question, harness, known.ports.clock.now());
    try {
      const found = await ask(known, harness, asked, question);
      if (found === undefined) return undefined;
      await count(known, asked, found);
      const { end, turn } = found;
      return end.cause === "exit" && turn.error === undefined ? turn.text : undefined;
    } catch (error) {
      known.ports.log.warn("A model could not be asked", { task: question.task.id, question: question.name, error });
      return undefined;
    }
  };
}

interface AskedRun extends Run {
  readonly started: StartedRun;
}

function recordOf({ task, name, model }: ModelQuestion, harness: Harness, at: number): AskedRun {
  const key = `${name}#0`;
  return {
    ...{ id: runRecordId(task.id, key), project: task.project, task: task.id, at, key, role: name },
    ...{ harness: harness.name, model, session: "", folder: "", pid: 0, endedAt: at, word: "ok" },
    started: {
      ...{ name: `${task.id}-${name}`, mode: "turn", window: "", at, entry: task.entry, part: 0 },
      ...{ isResumed: false, transcript: "", transcriptFrom: 0, raised: "" },
    },
  };
}

async function ask(
  { ports, book }: Agents,
  harness: Harness,
  { started }: AskedRun,
  question: ModelQuestion,
): Promise<ReadEnd | undefined> {
  const { processes, places, clock } = ports;
  const { name } = started;
  const { runFolder, events } = await makeRunFolder(places, name);
  if ((await processes.look(name)).kind === "absent") {
    if (ports.pauses.why(question.task.project) !== undefined || !(await harness.detect()).found) return undefined;
    book.check(question.task, clock.now());
    await start(ports, harness, question, name, runFolder, events);
  }
  const reading = readTurnOutput(processes, harness, started, runFolder, 0);
  for (let waited = 0; waited < question.timeLimit + timeToRecord; waited += pollInterval) {
    const state = await reading.process();
    if (state === "ended") return reading.end();
    if (state !== "running") return undefined;
    await new Promise<void>((resolve) => void clock.after(pollInterval, resolve));
  }
  await processes.kill(name);
  return reading.end();
}

async function start(
  ports: AgentsPorts,
  harness: Harness,
  { task, name: role, model, prompt, timeLimit }: ModelQuestion,
  name: string,
  runFolder: string,
  events: string,
): Promise<void> {
  // A sandbox is made only around a repository.
  const folder = join(runFolder, "work");
  await mkdir(join(folder, ".git"), { recursive: true });
  const spec: RunSpec = {
    ...{ role, mode: "turn", harness: "task", prompt: undefined, model, permissions: "reduced", tools: [] },
    ...{ result: undefined, window: undefined, keep: false, stepPrompt: undefined, marker: "", until: undefined },
    ...{ confirm: false, limits: {} },
  };
  const run = { token: "", task: task.id, role, run: `${role}#0`, taskFile: "", events, port: undefined };
  const order: HarnessOrder = {
    ...{ run: name, mode: "turn", prompt, system: "", folder, runFolder, model, effort: "" },
    ...{ permissions: "reduced", tools: [], taskFile: "", testCommand: [], cli: "signalbox" },
    ...{ session: { kind: "new", id: sessionId(ports.ids) }, schema: undefined, mcp: undefined, costLimit: undefined },
    hook: hookCommand(ports.places, events),
    env: runEnvironment(ports.environment, run),
  };
  const launch = await harness.prepare(order);
  const { argv, env, input } = await ports.confine({ project: task.project, spec, harness, order, launch });
  await ports.processes.start({ id: name, argv, cwd: folder, env, input, timeLimit, outputLimit });
}

/** Its usage is that of a run, and is counted once: a daemon that was killed before counts it when it reads the answer again. */
async function count({ ports, book }: Agents, asked: AskedRun, { end, events, position }: ReadEnd): Promise<void> {
  if (book.of(asked.id) !== undefined) return;
  const run: Run = { ...asked, endedAt: end.at, word: end.cause === "exit" && end.code === 0 ? "ok" : "error" };
  await ports.store.runs.put(run);
  const used = events.flatMap((event) => (event.kind === "usage" ? [event.usage] : []));
  if (used.length === 0) return book.close(run, end.at);
  await book.add(run, used, countedUpTo(asked.started, position, true), end.at);
}
