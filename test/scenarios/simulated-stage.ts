import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Task } from "../../src/engine/task.ts";
import { Fault } from "../../src/fault.ts";
import { homePlaces } from "../../src/home/places.ts";
import type { Store, StoredTask } from "../../src/ports/store.ts";
import { root } from "../documents.ts";
import { createPrograms, simulatedHarness } from "../simulator/agents.ts";
import { coffee, createNotary, furnish, home, humanToken, startDaemon } from "../simulator/daemon.ts";
import { checkNothingLeft } from "../simulator/families.ts";
import { createFaultInjector } from "../simulator/faults.ts";
import { createMemoryControl, filesIn, type Tree } from "../simulator/memory-repositories.ts";
import { bringIn, commitAll, createMemoryWorkspaces } from "../simulator/memory-workspaces.ts";
import { checkDiscarded, checkNothingLost } from "../simulator/promises.ts";
import { commitsToBring } from "../simulator/team.ts";
import { createWorld, type Program, type SimulatedWorkflow, type World } from "../simulator/world.ts";
import { loaded } from "./table.ts";

/** What an agent does in one run. Files are committed. */
export interface Turn {
  readonly writes?: Readonly<Record<string, string>>;
  /** Files that it does not commit. */
  readonly leaves?: Readonly<Record<string, string>>;
  readonly deletes?: readonly string[];
  /** It first moves its branch back to the default branch. */
  readonly restarts?: true;
  /** It first merges the parent's branch, or for a parent the parts that are done, and resolves conflicts. */
  readonly merges?: true;
  /** What it says over the API, after its other work: the name of a route, and the body. */
  readonly calls?: readonly (readonly [route: string, body: object])[];
  readonly answer?: unknown;
  /** Its program exits with 1. */
  readonly fails?: true;
  /** Its program reports an error of this kind, and exits with 1. */
  readonly error?: string;
  /** It never ends by itself. */
  readonly hangs?: true;
}

const hang: Turn = { hangs: true };
export const hangs: readonly Turn[] = [hang];
export const fails: readonly Turn[] = [{ fails: true }];
export const nonsense: readonly Turn[] = [{ answer: { nonsense: true } }];

interface TestRun {
  readonly task: string;
  readonly status: string;
  readonly files: Tree;
}

/** How the surroundings of a scenario differ from a project with four workspaces whose tests pass. */
export interface Surroundings {
  /** Whether the project has a test command. */
  readonly hasTests?: false;
  /** Whether the tests pass; `hang` for tests that take an hour, `absent` for a command that cannot be started. */
  tests?(run: TestRun): boolean | "hang" | "killed";
  readonly poolSize?: number;
  /** The workspaces are clones, not worktrees. */
  readonly hasClones?: true;
  /** Operations of git and of the forge that fail while a task is in a status, each with that status. */
  readonly breaks?: Readonly<Record<string, string>>;
  /** The code of their faults; where it is missing, one that says something about the work. */
  readonly fault?: string;
  /** A file that something left behind writes into the workspace after each commit of the daemon's. */
  readonly litter?: string;
}

/** How long a scenario may take, in real milliseconds; it takes less than 300. */
export const testTimeout = 20_000;
/** How long a wait may take, in simulated milliseconds: no scenario needs a tenth of it. */
const timeout = 3_600_000;
/** How long a decision about a task is held back while a person or the parent asks for its end, in simulated milliseconds. */
const pause = 5_000;

const folder = process.env.SCENARIO_WORKFLOWS ?? join(root, "workflows");

export function readPlayed(name: string): SimulatedWorkflow {
  const text = readFileSync(join(folder, `${name}.yml`), "utf8");
  return { name, workflow: loaded(text), text };
}

interface StageOrder {
  /** The workflow of the scenario's task comes first. */
  readonly workflows: readonly [SimulatedWorkflow, ...SimulatedWorkflow[]];
  readonly scene: Surroundings;
  /** The turns of a run's role in the status that its task has now; the last one is repeated. */
  turnsOf(task: Task, program: Program, number: number): readonly Turn[];
  /** Called before the daemon starts. */
  furnish?(world: World): void;
}

/** A project in a simulated world: the daemon's core, over twins of everything outside, and agents that take given turns. */
export async function openSimulatedStage({ workflows, scene, turnsOf, ...order }: StageOrder) {
  const { poolSize = 4, hasTests = true } = scene;
  const [first, ...others] = workflows;
  await furnish(workflows);
  const world = createWorld(1, { ...first, others });
  if (!hasTests) world.config = {};
  order.furnish?.(world);
  const { clock, store, repositories, processes } = world;
  const places = homePlaces(home);
  const changed = (what: string) => checkNothingLost(world, what);
  const discarded = (_: unknown, contents: readonly string[]) => checkDiscarded(world, contents);
  const counts = new Map<string, number>();
  const tested: string[] = [];

  const write = (path: string, texts: Readonly<Record<string, string>> = {}) => {
    for (const [name, text] of Object.entries(texts)) {
      repositories.folders.get(path)?.files.set(name, text);
      world.made.contents.add(text);
    }
  };
  const act = async (program: Program, task: Task, turn: Turn) => {
    const { folder: path } = program.order;
    const at = repositories.folders.get(path);
    if (turn.restarts && at !== undefined) {
      const main = repositories.branches.get("main") ?? "";
      repositories.setHead(at, main);
      at.files = new Map(repositories.commits.get(main).tree);
    }
    if (turn.merges) for (const commit of await commitsToBring(world, task.id)) bringIn(world, path, commit);
    for (const name of turn.deletes ?? []) at?.files.delete(name);
    write(path, turn.writes);
    if (turn.leaves === undefined || turn.writes !== undefined) commitAll(world, path, "work");
    write(path, turn.leaves);
    const { SIGNALBOX_TOKEN: token = "" } = program.order.env;
    for (const [route, body] of turn.calls ?? []) await daemon.ask(route, ".", body, token, path);
    const print = (line: object) => processes.print(program.name, `${JSON.stringify(line)}\n`);
    const isFailed = turn.fails === true || turn.error !== undefined;
    if (turn.error !== undefined)
      print({ kind: "failed", error: { kind: turn.error, message: `It says ${turn.error}.` } });
    else if (turn.answer !== undefined || !isFailed)
      print({ kind: "result", text: "DONE", ...(turn.answer === undefined ? {} : { answer: turn.answer }) });
    programs.finish(program, { code: isFailed ? 1 : 0 });
  };
  const programs = createPrograms({
    world,
    told() {},
    started(program) {
      program.heard.push(program.order.prompt);
      clock.after(1_000, async () => {
        const task = (await store.getTask(program.task))?.task;
        if (task === undefined || !program.isLive) return;
        const key = `${task.id} ${task.status} ${program.role}`;
        const number = counts.get(key) ?? 0;
        counts.set(key, number + 1);
        const turns = turnsOf(task, program, number);
        const turn = turns[Math.min(number, turns.length - 1)] ?? hang;
        if (!turn.hangs) await act(program, task, turn).catch((error) => world.violate("acted", String(error)));
      });
    },
  });

  let interruption: { readonly status: string; act(task: Task): void } | undefined;
  const notary = createNotary(world);
  const held: Store = {
    ...notary,
    // Held back after a move that a scenario waits for: a request that is made meanwhile is decided next.
    async saveDecision(decision) {
      const saved = await notary.saveDecision(decision);
      const { task, events } = decision;
      const moved = events.some(
        ({ type, data }) =>
          (type === "task.moved" && data.to === interruption?.status) ||
          (type === "task.migrated" && data.status === interruption?.status),
      );
      if (!moved || interruption === undefined) return saved;
      const { act } = interruption;
      interruption = undefined;
      act(task);
      await new Promise<void>((done) => void clock.after(pause, done));
      return saved;
    },
  };
  const breaking = <T extends object>(port: T): T => {
    const broken = Object.entries(scene.breaks ?? {}).flatMap(([name, status]) => {
      const run: unknown = Reflect.get(port, name);
      if (typeof run !== "function") return [];
      const attempt = async (...args: readonly unknown[]) => {
        const open = await store.listTasks({ isOpen: true }, { limit: 99 });
        if (open.some(({ task }) => task.status === status))
          throw new Fault(scene.fault ?? "workspace.operation", `${name} is broken.`);
        return run.apply(port, args);
      };
      return [[name, attempt] as const];
    });
    return { ...port, ...Object.fromEntries(broken) };
  };
  if (world.forge !== undefined) world.forge = { ...world.forge, port: breaking(world.forge.port) };
  const kindOf = (name: "worktree" | "clone") => {
    const kind = createMemoryWorkspaces({ repositories, changed, discarded }, name);
    return breaking({
      ...kind,
      async commitAll(asked: Parameters<typeof kind.commitAll>[0]) {
        const commit = await kind.commitAll(asked);
        if (scene.litter !== undefined) write(asked.folder, { [scene.litter]: `litter ${world.next()}` });
        return commit;
      },
    });
  };
  const daemon = startDaemon({
    ...{ world, programs, store: held, injector: createFaultInjector(world, []) },
    ...(scene.hasClones ? { kind: "clone" as const } : {}),
    kinds: { worktree: kindOf("worktree"), clone: kindOf("clone") },
    control: breaking({
      ...createMemoryControl(repositories, join(places.control, "coffee.git"), changed),
      mergeOf: async (commit: string, tip: string) => mergeOf(world, commit, tip),
    }),
    harness: simulatedHarness((order) => void world.orders.set(order.run, order)),
    commands: {
      async run({ cwd, env, signal }) {
        const { SIGNALBOX_TASK: task = "", SIGNALBOX_STATUS: status = "" } = env ?? {};
        const found = repositories.folders.get(cwd);
        const commit = found === undefined ? "" : repositories.head(found);
        tested.push(status);
        const result = scene.tests?.({ task, status, files: found?.files ?? new Map() }) ?? true;
        await new Promise<void>((done) => {
          clock.after(result === "hang" ? timeout : 2_000, done);
          signal?.addEventListener("abort", () => done());
        });
        const code = signal?.aborted || result === "killed" ? undefined : result === true ? 0 : 1;
        if (code !== undefined) world.tests.set(commit, (world.tests.get(commit) ?? new Set()).add(code === 0));
        return { code, timedOut: false, output: result === true ? "ok" : "1 failed" };
      },
    },
    filesIn: (path) => filesIn(repositories, path),
    died() {},
  });
  const request = (route: string, task: string, body: object = {}) => {
    if (route === "cancelTask") world.cancelled.add(task);
    return daemon.ask(route, task, body, humanToken, "");
  };
  await notary.addProject(coffee(poolSize));
  for (const { workflow, text } of workflows) await daemon.core.workflows.keep(workflow, text);
  await daemon.core.recover();

  const stored = async (id: string): Promise<StoredTask> => (await store.getTask(id)) ?? expect.fail(`${id} is gone`);
  const tell = async () =>
    `${world.trace.slice(-40).join("\n")}\n${JSON.stringify(await store.listTasks({}, { limit: 9 }))}`;
  /** Lets time pass until something is so. */
  const until = async <T>(look: () => Promise<T | undefined>, within = timeout): Promise<T> => {
    const end = clock.now() + within;
    for (;;) {
      await settled();
      const found = await look();
      if (found !== undefined) return found;
      const next = clock.next();
      if (next === undefined || next > end) throw new Error(`It did not come to that.\n${await tell()}`);
      clock.step();
    }
  };
  const stage = {
    ...{ world, request, until, stored },
    /** The states in which tests were run, one for each run. */
    tested,
    /** The messages to the person. */
    told: () => world.trace.flatMap((line) => /the person is told: (.*)/s.exec(line)?.[1] ?? []),
    /** The person asks for something. Time passes until the answer is there. */
    async ask(route: string, task: string, body: object = {}): Promise<unknown> {
      const answer = request(route, task, body).then(
        (value) => () => value,
        (error) => () => {
          throw error;
        },
      );
      let isThere = false;
      void answer.then(() => {
        isThere = true;
      });
      await until(async () => (isThere ? true : undefined));
      return (await answer)();
    },
    /** Lets time pass, in milliseconds. */
    async passes(milliseconds: number) {
      const end = clock.now() + milliseconds;
      clock.after(milliseconds, () => {});
      await until(async () => (clock.now() >= end ? true : undefined));
    },
    /** What a task calls a person for. */
    callsOf: async (id: string) => (await daemon.core.needs.of(await stored(id))).map(({ text }) => text),
    /** A person commits files in a workspace. */
    write(path: string, files: Readonly<Record<string, string>>) {
      for (const [name, text] of Object.entries(files)) repositories.folders.get(path)?.files.set(name, text);
      commitAll(world, path, "by hand");
    },
    /** Whether no workspace belongs to a task. */
    hasFreed: async () => (await store.workspaces.list({})).every(({ task }) => task === ""),
    /** Waits until a task is in a state, with its effects performed; with work of its own, until that has begun. */
    comesTo: (id: string, status: string) =>
      until(async () => {
        const { task } = await stored(id);
        return task.status === status && task.phase !== "entering" ? task : undefined;
      }),
    /** Waits until the agent of a task works. */
    works: (task: Task) =>
      until(async () => [...world.programs.values()].find((each) => each.isLive && each.task === task.id)),
    /** Waits until a task is held for a person, who is called. */
    async waitsForPerson(id: string) {
      const task = await until(async () => {
        const { task } = await stored(id);
        return task.held === undefined ? undefined : task;
      });
      expect(await daemon.core.needs.of(await stored(id))).not.toEqual([]);
      return task;
    },
    /** Waits until a task has ended, and checks how. */
    async endsIn(id: string, status: string) {
      const { task } = await until(async () => {
        const now = await stored(id);
        return now.isOpen ? undefined : now;
      });
      expect(task).toMatchObject({ status, workspace: "", runs: {} });
      return task;
    },
    /** When a task comes into a state, asks for this before anything else happens there. */
    interrupt(status: string, ask: (task: Task) => Promise<unknown>) {
      interruption = { status, act: (task) => void ask(task).catch((error) => world.violate("asked", String(error))) };
    },
    live: () => [...world.programs.values()].filter(({ isLive }) => isLive),
    prompts: (id: string) =>
      [...world.programs.values()].filter(({ task }) => task === id).flatMap(({ heard }) => heard),
    /** The events of a task with this type. */
    async events(id: string, type: string) {
      const all = await store.listEvents({ task: id }, 0, 10_000);
      return all.flatMap(({ event }) => (event.type === type ? [event] : []));
    },
    /** `from → to (who cause)` for each move of a workflow's tasks. */
    async moves(workflow: string): Promise<readonly string[]> {
      const tasks = (await store.listTasks({}, { limit: 99 })).filter(({ task }) => task.workflow === workflow);
      const events = await Promise.all(tasks.map(({ task }) => stage.events(task.id, "task.moved")));
      return events.flat().map(({ by, data }) => `${data.from} → ${data.to} (${by} ${data.cause})`);
    },
    /** Cancels what is left. Nothing may remain of any task, and no work may be lost. */
    async end() {
      const open = await store.listTasks({ isOpen: true }, { limit: 99 });
      for (const { task } of open) if (task.part === undefined) await stage.ask("cancelTask", task.id).catch(() => {});
      await until(async () =>
        (await store.listTasks({ isOpen: true }, { limit: 9 })).length === 0 ? true : undefined,
      );
      await settled();
      checkNothingLost(world, "at the end");
      await checkNothingLeft(world);
      expect(world.violations).toEqual([]);
      expect(stage.live()).toEqual([]);
      daemon.die("at the end");
    },
  };
  return stage;
}

/** The merge that brought a commit into a branch. The simulator's agents drop changes at random, so its twin knows none. */
function mergeOf({ repositories: { commits } }: World, commit: string, tip: string) {
  for (let after = tip; after !== commit; ) {
    const { parents } = commits.get(after);
    const [before] = parents;
    if (before === undefined) return undefined;
    if (!commits.isAncestor(commit, before)) return parents.length > 1 ? { before, after } : undefined;
    after = before;
  }
  return undefined;
}

/** Resolves when nothing can happen any more without time passing. */
function settled(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}
