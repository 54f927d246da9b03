import { relative } from "node:path";
import { readEventLine } from "../../src/adapters/harness/event-line.ts";
import { readScriptedOutput, scriptedCapabilities } from "../../src/adapters/harness/scripted.ts";
import { bodyOf, parseTaskDocument, withSection } from "../../src/documents/task-document.ts";
import type { Facts } from "../../src/engine/request.ts";
import type { Task } from "../../src/engine/task.ts";
import { allHold } from "../../src/engine/when.ts";
import type { Gate, Guard, State, Way, Workflow } from "../../src/engine/workflow.ts";
import type { Harness, HarnessOrder, ScreenState } from "../../src/ports/harness.ts";
import type { Processes, ProcessOrder } from "../../src/ports/processes.ts";
import type { StoredTask } from "../../src/ports/store.ts";
import type { Terminal, WindowOrder } from "../../src/ports/terminal.ts";
import { checkPrompt } from "./families.ts";
import type { Misbehaviour } from "./faults.ts";
import { bringIn, commitAll } from "./memory-workspaces.ts";
import {
  attendStage,
  type CallAsRun,
  chanceOfWork,
  checkCompleted,
  drawName,
  drawStageAnswer,
  handOver,
  hasStages,
  isStageAnswer,
  lifeKind,
} from "./stages.ts";
import { commitsToBring, drawAnswer, hasPlans, isUsable, planWish } from "./team.ts";
import { type Lots, mainBranch, type Program, sign, type World } from "./world.ts";

const alive = { isLive: true, isBusy: true, hasAnswered: false };

/** Guards on counters need none. */
const noFacts = { numbers: {} } as unknown as Facts;

export interface ProgramsPorts {
  readonly world: World;
  /** A program has started. */
  started(program: Program): void;
  /** A text was typed into a session and submitted. */
  told(program: Program, text: string): void;
}

/** The programs in the windows and processes of a world. A started program lives until it is ended. */
export function createPrograms({ world, started, told }: ProgramsPorts) {
  const { terminal, processes, programs } = world;
  const begin = (name: string, env: WindowOrder["env"] | ProcessOrder["env"], folder: string) => {
    const { SIGNALBOX_TASK: task = "", SIGNALBOX_ROLE: role = "", SIGNALBOX_RUN: run = "" } = env;
    const order = world.orders.get(name) ?? world.orders.get(name.replace(/-\d+$/, ""));
    if (order === undefined) throw new Error(`The harness has not prepared the run ${name}.`);
    for (const other of programs.values()) {
      if (!other.isLive) continue;
      const same =
        other.task === task && other.run.slice(0, other.run.lastIndexOf("#")) === run.slice(0, run.lastIndexOf("#"));
      if (same)
        world.violate("at most one agent owns a task", `${run} of ${task} was started while ${other.run} lives.`);
      if (other.task !== task && other.order.folder === folder)
        world.violate("at most one agent owns a task", `${run} of ${task} works in the folder of ${other.task}.`);
    }
    const program: Program = { name, task, role, run, order, ...alive, heard: [], told: [] };
    programs.set(name, program);
    world.note(`${run} of ${task} starts`);
    if (lifeKind(world) !== "short" && order.mode === "turn") checkPrompt(world, program);
    if (hasStages(world)) void checkCompleted(world, program);
    started(program);
  };
  const end = (name: string) => {
    const program = programs.get(name);
    if (program?.isLive !== true) return;
    program.isLive = false;
    world.note(`${program.run} of ${program.task} is over`);
  };
  /** Programs without a window: their end is not visible. */
  const stranded = new Set<string>();
  const boxes = new Map<string, string>();
  terminal.onInput((name, input) => {
    if (input.kind === "paste") return void boxes.set(name, (boxes.get(name) ?? "") + input.text);
    const text = boxes.get(name) ?? "";
    const program = programs.get(name);
    if (!input.keys.includes("Enter") || text === "" || program?.isLive !== true) return;
    boxes.delete(name);
    program.told.push(text);
    told(program, text);
  });

  const ownTerminal: Terminal = {
    ...terminal,
    async open(order) {
      const before = terminal.started.length;
      const pane = await terminal.open(order);
      if (terminal.started.length > before) begin(order.run, order.env, order.cwd);
      return pane;
    },
    async close(run) {
      await terminal.close(run);
      end(run);
    },
    async closeSession(session) {
      const panes = (await terminal.list()).filter((pane) => pane.session === session);
      await terminal.closeSession(session);
      for (const { run } of panes) end(run);
    },
  };
  const ownProcesses: Processes = {
    ...processes,
    async start(order) {
      const before = processes.started.length;
      await processes.start(order);
      if (processes.started.length > before) begin(order.id, order.env, order.cwd);
    },
    async kill(id) {
      await processes.kill(id);
      end(id);
    },
    sweepFolder: async () => {},
    async sweep(_, entry) {
      const left = [...programs.values()].filter(
        ({ name, isLive }) => isLive && entry.endsWith(`/${name}/hooks/events`),
      );
      for (const { name, order } of left) {
        await (order.mode === "session" ? terminal.close(name) : processes.kill(name));
        end(name);
      }
      return left.length > 0;
    },
  };
  return {
    terminal: ownTerminal,
    processes: ownProcesses,
    /** The program ends by itself, or is killed from outside. */
    finish(program: Program, how: { readonly code: number } | { readonly signal: string } | "lost") {
      if (!program.isLive) return;
      end(program.name);
      if (stranded.has(program.name)) return;
      if (program.order.mode === "session") terminal.end(program.name, how === "lost" ? { signal: "SIGKILL" } : how);
      else if (how === "lost") processes.lose(program.name);
      else processes.end(program.name, how);
    },
    /** Whether its screen can still be read. */
    hasWindow: ({ name }: Program) => !stranded.has(name),
    /** The server becomes unreachable, and its programs continue. */
    strandServer() {
      for (const { name, order } of programs.values()) if (order.mode === "session") stranded.add(name);
      terminal.loseServer();
    },
    /** All windows and the server die together. */
    loseServer() {
      for (const program of programs.values()) if (program.order.mode === "session") end(program.name);
      terminal.loseServer();
    },
  };
}

export type Programs = ReturnType<typeof createPrograms>;

export interface AgentPorts {
  readonly world: World;
  readonly programs: Pick<Programs, "finish" | "hasWindow">;
  /** Calls the API with the run's credential. */
  readonly call: CallAsRun;
  /** Asks for a state over the API, with the run's credential. Resolves with the answer, if there is one. */
  ask(program: Program, to: string, task: string): Promise<void>;
}

/** A simulated agent that acts at random: works, commits, writes sections, asks, reports that it is done. */
export interface SimulatedAgent {
  begin(program: Program, how: Misbehaviour | undefined): void;
  /** A message has arrived. */
  hear(program: Program, text: string): void;
  /** The agent commits something, whether or not it has a turn. */
  meddle(): void;
}

const maxTurns = 12;

export function createAgent({ world, programs, call, ask }: AgentPorts): SimulatedAgent {
  const { clock, tails, terminal, processes, repositories } = world;
  const turns = new Map<string, number>();
  const manners = new Map<string, Misbehaviour | undefined>();

  const tell = (program: Program, event: object) => {
    const line = JSON.stringify(event);
    if (program.order.mode === "session") tails.append(`${program.order.runFolder}/hooks/events`, line);
    else processes.print(program.name, `${line}\n`);
  };
  const show = (program: Program, screen: string) => {
    if (program.order.mode === "session" && programs.hasWindow(program)) terminal.show(program.name, screen);
  };
  /** Calls back later, if the agent is still alive then. */
  const later = (program: Program, milliseconds: number, act: () => void) =>
    clock.after(milliseconds, () => {
      if (program.isLive) act();
    });
  const folderOf = (program: Program) => repositories.folders.get(program.order.folder);

  const work = (program: Program, lots: Lots, commits: boolean) => {
    const folder = folderOf(program);
    if (folder === undefined || program.order.permissions === "reduced") return;
    // Shared files, so that tasks conflict.
    const path = lots.chance(hasPlans(world) ? 0.45 : 0.25) ? "recipe.md" : `${program.task}-${lots.between(1, 3)}.md`;
    const content = `work ${world.next()} ${sign(program, world.next())}`;
    folder.files.set(path, content);
    world.made.contents.add(content);
    if (commits) commit(program);
  };
  const commit = (program: Program) => {
    const id = commitAll(world, program.order.folder, "work");
    if (id !== undefined) world.note(`${program.run} of ${program.task} commits ${id.slice(0, 7)}`);
  };
  const write = (program: Program, section: string, body: string) => {
    const folder = folderOf(program);
    if (folder === undefined || program.order.taskFile === "") return;
    const name = relative(program.order.folder, program.order.taskFile);
    const before = parseTaskDocument(folder.taskFiles.get(name) ?? "");
    folder.taskFiles.set(name, bodyOf(withSection(before, section, body)));
    world.note(`${program.run} of ${program.task} writes ## ${section}`);
  };
  const fill = (program: Program, gate: Gate, lots: Lots, isSound: boolean) => {
    const lines = isSound
      ? [
          ...(gate.verdict === undefined ? [] : [`Verdict: ${gate.verdict}`]),
          ...gate.fields.map((field) => `${field}: ${lots.pick(["this", "that", "nothing"]) ?? ""}`),
        ]
      : ["Verdict: perhaps", ...gate.fields.map((field) => `${field}:`)];
    return [...lines, sign(program, world.next())].join("\n");
  };

  /** The states that it may ask for, as the prompt would tell it. */
  const waysFor = async (program: Program, how: Misbehaviour | undefined): Promise<readonly Way[]> => {
    const task = (await world.store.getTask(program.task))?.task;
    const workflow = task && world.workflowOf(task);
    const all = Object.values((task && workflow?.states[task.status])?.out ?? {}).flat();
    // An agent that behaves well knows in which round it is.
    const isKnown = ({ source }: Guard) => source === "counter";
    const holds = ({ when }: Way) =>
      task !== undefined && workflow !== undefined && allHold(when.filter(isKnown), workflow, task, noFacts);
    return how === undefined ? all.filter(holds) : all;
  };
  const isFor = (program: Program, workflow: Workflow, { by, gates, to }: Way) =>
    gates.length > 0 && by !== undefined
      ? by.includes(program.role)
      : gates.some(({ section }) => (workflow.owners[section] ?? []).includes(program.role)) && to !== "";

  async function hand(program: Program, lots: Lots, how: Misbehaviour | undefined, isAgain = false): Promise<void> {
    const all = await waysFor(program, how);
    const task = (await world.store.getTask(program.task))?.task;
    const workflow = task === undefined ? world.workflow : world.workflowOf(task);
    const own = all.filter((way) => (isAgain ? way.gates.length > 0 : isFor(program, workflow, way)));
    const way = lots.pick(!isAgain && (how === "greedy" || how === "forge") ? all : own);
    if (way === undefined || !program.isLive) return;
    // A forger also writes future sections: a verdict that no reviewer has given yet.
    const gated = workflow.ways.filter(({ gates }) => gates.length > 0);
    const gates = how === "forge" ? [...way.gates, ...(lots.pick(gated)?.gates ?? [])] : way.gates;
    for (const gate of gates)
      if (how !== "greedy") write(program, gate.section, fill(program, gate, lots, how !== "nonsense"));
    const other =
      how === "impostor"
        ? lots.pick((await world.store.listTasks({}, { limit: 9 })).map(({ task }) => task.id))
        : undefined;
    if (!program.isLive) return;
    // Without an answer, ask again.
    ask(program, way.to, other ?? ".").catch(() => undefined);
  }

  const workInStage = async (
    program: Program,
    lots: Lots,
    brings: readonly string[] | Promise<readonly string[]>,
  ): Promise<void> => {
    const chance = chanceOfWork(world, (await world.store.getTask(program.task))?.task);
    const all = await brings;
    if (!program.isLive || program.order.permissions === "reduced") return;
    for (const each of all) bringIn(world, program.order.folder, each);
    if (lots.chance(chance)) work(program, lots, lots.chance(0.8));
  };
  const turn = (program: Program, text: string) => {
    const how = manners.get(program.name);
    const count = (turns.get(program.name) ?? 0) + 1;
    turns.set(program.name, count);
    const lots = world.lots(`${program.task} ${program.run} ${program.name} ${count}`);
    program.heard.push(text);
    program.isBusy = true;
    tell(program, { kind: "prompted", text });
    tell(program, { kind: "busy", what: "" });
    show(program, "busy");
    if (how === "hang") return;
    if (how === "die")
      later(program, lots.between(1, 20_000), () =>
        programs.finish(program, lots.chance(0.5) ? { code: 1 } : { signal: "SIGKILL" }),
      );
    const time = lots.between(500, 12_000);
    const hasEnough = count > maxTurns;
    later(program, time, () => {
      if (how === "idle" || hasEnough) return;
      const brings = lots.chance(/conflict/i.test(text) ? 0.9 : 0.3) ? commitsToBring(world, program.task) : [];
      if (hasStages(world)) return void workInStage(program, lots, brings);
      const works = lots.chance(0.85);
      const commits = works && lots.chance(0.8);
      void Promise.resolve(brings).then((all) => {
        if (!program.isLive) return;
        for (const each of all) bringIn(world, program.order.folder, each);
        if (works) work(program, lots, commits);
      });
    });
    if (program.order.mode === "session") {
      later(program, time + 1_000, () => {
        if (how !== "idle" && !hasEnough) void hand(program, lots, how);
      });
      if (how === "busybody")
        for (let more = 1_200; more < 60_000; more += lots.between(500, 4_000))
          later(program, time + more, () => work(program, lots, true));
      // Sections from before a move are spent, so a forger writes the next state's sections in that state.
      if (how === "forge")
        for (const more of [5_000, 9_000, 13_000])
          later(program, time + more, () => void hand(program, lots, how, true));
      later(program, time + 2_500, () => {
        show(program, "ready");
        program.isBusy = false;
        tell(program, { kind: "idle", said: "" });
        if (lots.chance(0.2)) later(program, 1_500, () => programs.finish(program, { code: 0 }));
      });
      return;
    }
    const end = () => {
      const said = lots.chance(0.4) || count > 3 || hasEnough ? "I did it.\nDONE" : "I did a step.";
      if (how === "nonsense") return programs.finish(program, { code: lots.between(0, 2) });
      void world.store.getTask(program.task).then((stored) => {
        if (!program.isLive) return;
        if (program.role === "namer") {
          processes.print(program.name, `${JSON.stringify({ kind: "result", text: drawName(lots) })}\n`);
          return programs.finish(program, { code: 0 });
        }
        const answer = stored && answerOf(stored.task);
        program.hasAnswered = stored !== undefined && canUse(stored.task, answer);
        processes.print(program.name, `${JSON.stringify({ kind: "result", text: said, answer })}\n`);
        programs.finish(program, { code: 0 });
      });
    };
    const answerOf = (task: Task) =>
      hasStages(world) ? drawStageAnswer(world, lots, task, program.role) : drawAnswer(world, lots, task);
    const canUse = (task: Task, answer: unknown) =>
      hasStages(world) ? isStageAnswer(world, task, program.role, answer) : isUsable(world, task, answer);
    if (!hasStages(world)) later(program, time + 2_500, end);
    else
      later(program, time + 1_000, () => {
        const handed = how === "idle" ? Promise.resolve() : handOver(world, program, lots, how, call);
        void handed.then(() => later(program, 1_500, end));
      });
  };

  return {
    begin(program, how) {
      manners.set(program.name, how);
      if (how !== undefined) world.note(`${program.run} of ${program.task} misbehaves: ${how}`);
      show(program, "starting");
      later(program, 800, () => {
        tell(program, { kind: "session", id: program.order.session.id, transcript: "" });
        if (program.order.prompt === "") {
          program.isBusy = false;
          show(program, "ready");
        } else turn(program, program.order.prompt);
      });
    },
    hear: (program, text) => void later(program, 50, () => turn(program, text)),
    meddle() {
      for (const program of world.programs.values())
        if (program.isLive && program.order.mode === "session")
          work(program, world.lots(`${program.name} meddles`), true);
    },
  };
}

const screens: readonly ScreenState[] = ["starting", "ready", "busy", "asks"];

/** The harness of simulated agents. `prepared` is called for every run before it starts. */
export function simulatedHarness(prepared: (order: HarnessOrder) => void): Harness {
  return {
    name: "simulated",
    title: "Simulated agent",
    can: { ...scriptedCapabilities, cost: false, tokens: false },
    isScripted: true,
    detect: async () => ({ found: true, path: "/agent", version: "1", hint: "" }),
    async prepare(order) {
      prepared(order);
      return { argv: ["/agent"], env: order.env, input: "", message: "", session: order.session.id };
    },
    readOutput: readScriptedOutput,
    readEvidence: (line) => {
      const event = readEventLine(line);
      return event === undefined ? [] : [event];
    },
    readTranscript: () => [],
    transcriptOf: async () => "",
    readScreen: (screen) => screens.find((each) => screen.trim().startsWith(each)) ?? "unknown",
  };
}

/** Calls the API as a person. Resolves with the answer, if there is one. */
export type AskAsPerson = (route: string, task: string, body: unknown) => Promise<unknown>;

/** What a person does about a task that may need one: a random allowed action. */
export function attend(world: World, lots: Lots, { task }: StoredTask, ask: AskAsPerson): void {
  const state = world.workflowOf(task).states[task.status];
  if (state === undefined) return;
  const hasAgent = [...world.programs.values()].some((each) => each.isLive && each.task === task.id);
  if (hasStages(world)) return void attendStage(world, lots, task, state, ask);
  const planned = planWish(world, lots, task);
  const asks = task.held !== undefined || state.wait.kind === "human" || (state.wait.kind === "open" && !hasAgent);
  if (!asks && planned === undefined) return;
  const [route, body] = planned ?? wishOf(world, lots, task, state);
  // A person with time looks at what nobody has reviewed, and merges it.
  const isShown = route === "mergeTask" && world.isCalm ? ask("diffTask", task.id, {}) : Promise.resolve();
  isShown.then(() => ask(route, task.id, body)).catch(() => undefined);
}

function wishOf(world: World, lots: Lots, task: Task, state: State): readonly [route: string, body: unknown] {
  const outcomeOf = (name: string) => world.workflowOf(task).states[name]?.outcome;
  const targets = Object.values(state.out)
    .flat()
    .filter(({ by, to }) => (by === undefined || by.includes("human")) && outcomeOf(to) !== "cancelled")
    .map(({ to }) => to);
  const move = () => ["moveTask", { to: lots.pick(targets) ?? task.status }] as const;
  if (task.held !== undefined) {
    const what = lots.between(0, 9);
    if (what < 5) return ["continueTask", {}];
    return what < 8 ? ["retryTask", {}] : move();
  }
  if (targets.some((to) => outcomeOf(to) === "done") && lots.chance(0.7)) {
    if (world.isCalm) makeMergeable(world, task);
    return ["mergeTask", world.isCalm ? { unreviewed: true } : {}];
  }
  return state.wait.kind === "human" && lots.chance(0.5) ? ["continueTask", {}] : move();
}

/** Uncommitted or conflicting files block a merge: a person with time follows the advice of that refusal. */
function makeMergeable(world: World, { id, workspace }: Task): void {
  const rest = commitAll(world, workspace, "rest");
  if (rest !== undefined) world.note(`the person commits what is left of ${id}: ${rest.slice(0, 7)}`);
  const merged = bringIn(world, workspace, world.repositories.branches.get(mainBranch));
  if (merged !== undefined) world.note(`the person brings main into ${id}: ${merged.slice(0, 7)}`);
}
