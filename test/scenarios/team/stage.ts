import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Task } from "../../../src/engine/task.ts";
import type { Settings } from "../../../src/engine/workflow.ts";
import { Fault } from "../../../src/fault.ts";
import { homePlaces } from "../../../src/home/places.ts";
import { taskRef } from "../../../src/ports/control-repository.ts";
import type { Store, StoredTask } from "../../../src/ports/store.ts";
import { root } from "../../documents.ts";
import { createPrograms, simulatedHarness } from "../../simulator/agents.ts";
import { coffee, createNotary, furnish, home, humanToken, startDaemon } from "../../simulator/daemon.ts";
import { checkNothingLeft } from "../../simulator/families.ts";
import { createFaultInjector } from "../../simulator/faults.ts";
import { createMemoryControl, filesIn, type Tree } from "../../simulator/memory-repositories.ts";
import { bringIn, commitAll, createMemoryWorkspaces } from "../../simulator/memory-workspaces.ts";
import { checkDiscarded, checkNothingLost } from "../../simulator/promises.ts";
import { commitsToBring } from "../../simulator/team.ts";
import { createWorld, type Program, type SimulatedWorkflow, type World } from "../../simulator/world.ts";
import { loaded, tableOf } from "../table.ts";

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
  readonly answer?: unknown;
  /** Its program exits with 1. */
  readonly fails?: true;
  /** It never ends by itself. */
  readonly hangs?: true;
}

interface Item {
  readonly id: string;
  readonly needs?: readonly string[];
}

interface TestRun {
  readonly task: string;
  readonly status: string;
  readonly files: Tree;
}

/** How a scenario differs from a plan with the one part "cup" in which everything succeeds. */
export interface Scene {
  readonly settings?: Settings;
  readonly plan?: readonly Item[];
  /** The turns of the runs in a status, of each task; the last one is repeated. */
  readonly turns?: Readonly<Record<string, readonly Turn[]>>;
  /** The turn of a part's engineer; undefined for the usual one. */
  engineer?(task: Task): Turn | undefined;
  /** Whether the project has a test command. */
  readonly hasTests?: false;
  /** Whether the tests pass; `hang` for tests that take an hour, `absent` for a command that cannot be started. */
  tests?(run: TestRun): boolean | "hang" | "killed";
  readonly poolSize?: number;
  /** The workspaces are clones, not worktrees. */
  readonly hasClones?: true;
  readonly autostart?: false;
  /** Operations of git that fail while a task is in a status, each with that status. */
  readonly breaks?: Readonly<Record<string, string>>;
  /** The code of their faults; where it is missing, one that says something about the work. */
  readonly fault?: string;
}

const hang: Turn = { hangs: true };
export const hangs: readonly Turn[] = [hang];
export const fails: readonly Turn[] = [{ fails: true }];
export const nonsense: readonly Turn[] = [{ answer: { nonsense: true } }];

/** How long a scenario may take, in real milliseconds; it takes less than 300. */
const testTimeout = 20_000;
/** How long a wait may take, in simulated milliseconds: no scenario needs a tenth of it. */
const timeout = 3_600_000;
/** How long a decision about a task is held back while a person or the parent asks for its end, in simulated milliseconds. */
const pause = 5_000;

const folder = process.env.SCENARIO_WORKFLOWS ?? join(root, "workflows");
const read = (name: string): SimulatedWorkflow => {
  const text = readFileSync(join(folder, `${name}.yml`), "utf8");
  return { name, workflow: loaded(text), text };
};
const [team, subtask] = [read("team"), read("team-subtask")];

type Life = Awaited<ReturnType<typeof begin>>;

/** A parent of the workflow `team` in a simulated world: the daemon's core, over twins of everything outside. */
async function begin(scene: Scene) {
  const { settings = {}, plan = [{ id: "cup" }], poolSize = 4, autostart = true, hasTests = true } = scene;
  const workflows = [team, subtask];
  await furnish(workflows);
  const world = createWorld(1, { ...team, others: [subtask] });
  if (!hasTests) world.config = {};
  const { clock, store, repositories, processes } = world;
  const places = homePlaces(home);
  const changed = (what: string) => checkNothingLost(world, what);
  const discarded = (_: unknown, contents: readonly string[]) => checkDiscarded(world, contents);
  const counts = new Map<string, number>();
  const tested: string[] = [];

  const act = async (program: Program, { task, ...turn }: Turn & { readonly task: Task }) => {
    const at = repositories.folders.get(program.order.folder);
    if (turn.restarts && at !== undefined) {
      const main = repositories.branches.get("main") ?? "";
      repositories.setHead(at, main);
      at.files = new Map(repositories.commits.get(main).tree);
    }
    if (turn.merges)
      for (const commit of await commitsToBring(world, task.id)) bringIn(world, program.order.folder, commit);
    const write = (texts: Readonly<Record<string, string>> = {}) => {
      for (const [path, text] of Object.entries(texts)) {
        repositories.folders.get(program.order.folder)?.files.set(path, text);
        world.made.contents.add(text);
      }
    };
    for (const path of turn.deletes ?? []) at?.files.delete(path);
    write(turn.writes);
    commitAll(world, program.order.folder, "work");
    write(turn.leaves);
    if (turn.answer !== undefined || !turn.fails) {
      const answer = turn.answer === undefined ? {} : { answer: turn.answer };
      processes.print(program.name, `${JSON.stringify({ kind: "result", text: "DONE", ...answer })}\n`);
    }
    programs.finish(program, { code: turn.fails ? 1 : 0 });
  };
  const programs = createPrograms({
    world,
    told() {},
    started(program) {
      program.heard.push(program.order.prompt);
      clock.after(1_000, async () => {
        const task = (await store.getTask(program.task))?.task;
        if (task === undefined || !program.isLive) return;
        const key = `${task.id} ${task.status}`;
        const number = counts.get(key) ?? 0;
        counts.set(key, number + 1);
        const own = program.role === "swe" && task.part !== undefined ? scene.engineer?.(task) : undefined;
        const turns = scene.turns?.[task.status] ?? [own ?? usual(task, plan, number)];
        const turn = turns[Math.min(number, turns.length - 1)] ?? hang;
        if (!turn.hangs) await act(program, { task, ...turn });
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
  const daemon = startDaemon({
    ...{ world, programs, store: held, injector: createFaultInjector(world, []) },
    ...(scene.hasClones ? { kind: "clone" as const } : {}),
    kinds: {
      worktree: breaking(createMemoryWorkspaces({ repositories, changed, discarded }, "worktree")),
      clone: breaking(createMemoryWorkspaces({ repositories, changed, discarded }, "clone")),
    },
    control: breaking({
      ...createMemoryControl(repositories, join(places.control, "coffee.git"), changed),
      mergeOf: async (commit: string, tip: string) => mergeOf(world, commit, tip),
    }),
    harness: simulatedHarness((order) => void world.orders.set(order.run, order)),
    commands: {
      async run({ cwd, env, signal }) {
        const { SIGNALBOX_TASK: task = "", SIGNALBOX_STATUS: status = "" } = env ?? {};
        const files = repositories.folders.get(cwd)?.files ?? new Map<string, string>();
        tested.push(status);
        const result = scene.tests?.({ task, status, files }) ?? true;
        await new Promise<void>((done) => {
          clock.after(result === "hang" ? timeout : 2_000, done);
          signal?.addEventListener("abort", () => done());
        });
        const code = signal?.aborted || result === "killed" ? undefined : result === true ? 0 : 1;
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
  const create = async (): Promise<string> => {
    const given = { skip_clarification: true, failure_policy: "continue", ...settings };
    const body = { project: "coffee", summary: "Brew a cup", workflow: "team", autostart, settings: given };
    return ((await request("createTask", "", body)) as { readonly task: { readonly id: string } }).task.id;
  };
  const parent = await create();

  const stored = async (id: string): Promise<StoredTask> => (await store.getTask(id)) ?? expect.fail(`${id} is gone`);
  const parts = async () => (await store.listTasks({ parent }, { limit: 99 })).map(({ task }) => task);
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
  /** The newest try of a part; undefined while there is none. */
  const newest = async (item: string) => (await parts()).findLast(({ part }) => part?.item === item);
  const life = {
    ...{ world, parent, request, until, parts, create },
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
    /** A task as it is now: the parent, unless another one is named. */
    now: async (id = parent) => (await stored(id)).task,
    /** Lets time pass, in milliseconds. */
    async passes(milliseconds: number) {
      const end = clock.now() + milliseconds;
      clock.after(milliseconds, () => {});
      await until(async () => (clock.now() >= end ? true : undefined));
    },
    /** Waits until the architect has asked the person something. */
    asks: () =>
      until(async () => {
        const { task } = await stored(parent);
        return task.wait.turn === "reply" || task.wait.turn === "confirm" ? task : undefined;
      }),
    /** What a task calls a person for. */
    calls: async (id = parent) => (await daemon.core.needs.of(await stored(id))).map(({ text }) => text),
    /** A person commits files in a workspace. */
    write(path: string, files: Readonly<Record<string, string>>) {
      for (const [name, text] of Object.entries(files)) repositories.folders.get(path)?.files.set(name, text);
      commitAll(world, path, "by hand");
    },
    /** Somebody moves the branch of a parent without a workspace back to its beginning, and commits other files there. */
    loseParts(id: string, files: Readonly<Record<string, string>>) {
      const main = repositories.branches.get("main") ?? "";
      const tree = new Map([...repositories.commits.get(main).tree, ...Object.entries(files)]);
      repositories.moveRef(taskRef(id), repositories.commits.add([main], tree, "by hand"));
    },
    /** Whether no workspace belongs to a task. */
    hasFreed: async () => (await store.workspaces.list({})).every(({ task }) => task === ""),
    /** The newest try of a part as it is now. */
    part: async (item = "cup") => (await newest(item)) ?? expect.fail(`There is no part ${item}.`),
    /** Waits until the parent is in a state, with its effects performed; with work of its own, until that has begun. */
    reaches: (status: string) =>
      until(async () => {
        const { task } = await stored(parent);
        return task.status === status && task.phase !== "entering" ? task : undefined;
      }),
    partReaches: (status: string, item = "cup") =>
      until(async () => {
        const task = await newest(item);
        return task?.status === status && task.phase !== "entering" ? task : undefined;
      }),
    /** Waits until the agent of a task works. */
    works: (task: Task) =>
      until(async () => [...world.programs.values()].find((each) => each.isLive && each.task === task.id)),
    /** Waits until a task is held for a person, who is called. */
    async isHeld(id = parent) {
      const task = await until(async () => {
        const { task } = await stored(id);
        return task.held === undefined ? undefined : task;
      });
      expect(await daemon.core.needs.of(await stored(id))).not.toEqual([]);
      return task;
    },
    /** Waits until the parent has ended, and checks how. */
    async ends(status: string) {
      const { task } = await until(async () => {
        const now = await stored(parent);
        return now.isOpen ? undefined : now;
      });
      expect(task).toMatchObject({ status, workspace: "", runs: {} });
      return task;
    },
    async partEnds(status: string, item = "cup") {
      const task = await until(async () => {
        const found = await newest(item);
        return found !== undefined && !(await stored(found.id)).isOpen ? found : undefined;
      });
      expect(task).toMatchObject({ status, workspace: "", runs: {} });
      return task;
    },
    /** When a task comes into a state, asks for this before anything else happens there. */
    interrupt(status: string, ask: (task: Task) => Promise<unknown>) {
      interruption = { status, act: (task) => void ask(task).catch((error) => world.violate("asked", String(error))) };
    },
    isOver: async (id: string) => id !== "" && !(await stored(id)).isOpen,
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
      const events = await Promise.all(tasks.map(({ task }) => life.events(task.id, "task.moved")));
      return events.flat().map(({ by, data }) => `${data.from} → ${data.to} (${by} ${data.cause})`);
    },
    /** Cancels what is left. Nothing may remain of any task, and no work may be lost. */
    async end() {
      const open = await store.listTasks({ isOpen: true }, { limit: 99 });
      for (const { task } of open) if (task.part === undefined) await life.ask("cancelTask", task.id).catch(() => {});
      await until(async () =>
        (await store.listTasks({ isOpen: true }, { limit: 9 })).length === 0 ? true : undefined,
      );
      await settled();
      checkNothingLost(world, "at the end");
      await checkNothingLeft(world);
      expect(world.violations).toEqual([]);
      expect(life.live()).toEqual([]);
      daemon.die("at the end");
    },
  };
  return life;
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

/** The turn of an agent that does what it should. */
function usual({ status, part, id }: Task, plan: readonly Item[], number: number): Turn {
  const writes = { [`${part?.item ?? "whole"}.md`]: `${id} ${status} ${number}` };
  switch (status) {
    case "CLARIFYING":
      return { answer: { status: "ready", message: "A cup of tea" } };
    case "PLANNING":
      return {
        answer: { subtasks: plan.map((item) => ({ title: `The ${item.id}`, description: "Make it", ...item })) },
      };
    case "SUBTASK_CLAIMING":
      return { answer: { passed: true } };
    case "SUBTASK_REVIEWING":
    case "SUBTASK_ASKING":
      return { answer: { approved: true } };
    case "SUBTASK_RESOLVING":
    case "RESOLVING":
      return { merges: true, writes };
    default:
      return { writes };
  }
}

/** The moves that the scenarios of a file have made. */
const seen = new Set<string>();

/** One scenario. If its name begins with a move, such as `a → b (human asked): …`, a task of the workflow must make that move. */
export function scenarioOf(workflow: "team" | "team-subtask") {
  return (name: string, scene: Scene, play: (life: Life) => Promise<void>): void => {
    test(
      name,
      async () => {
        const life = await begin(scene);
        await play(life);
        const moves = await life.moves(workflow);
        const move = /^([\w-]+ → [\w-]+ \([\w -]+\)): /.exec(name)?.[1];
        if (move !== undefined) expect(moves).toContain(move);
        await life.end();
        for (const each of moves) seen.add(each);
      },
      testTimeout,
    );
  };
}

/** The last test of a file: every possible move of the workflow was made in some scenario, and no other. */
export function everyMoveWasMade(workflow: "team" | "team-subtask"): void {
  test("every possible move was made, by each actor and cause, and no other", () => {
    expect([...seen].sort()).toEqual(tableOf(workflow === "team" ? team.text : subtask.text));
  });
}

export type { Life };
