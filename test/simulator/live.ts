import { createHash } from "node:crypto";
import { join } from "node:path";
import { Refusal } from "../../src/api/client.ts";
import { awaitsChildren } from "../../src/engine/children.ts";
import type { Task } from "../../src/engine/task.ts";
import { homePlaces } from "../../src/home/places.ts";
import { attend, createAgent, createPrograms, simulatedHarness } from "./agents.ts";
import { closesTickets, create, createSimulatedCrew } from "./crew.ts";
import { coffee, createNotary, type Daemon, furnish, home, humanToken, startDaemon } from "./daemon.ts";
import { cancelTree, checkNothingLeft } from "./families.ts";
import {
  type Crowd,
  createFaultInjector,
  describeFault,
  type PlannedFault,
  troubled,
  type WorldEvent,
  watchSeats,
} from "./faults.ts";
import { createMemoryForge } from "./memory-forge.ts";
import { createMemoryControl, filesIn } from "./memory-repositories.ts";
import { createMemoryWorkspaces } from "./memory-workspaces.ts";
import { checkDiscarded, checkNothingLost, checkTold } from "./promises.ts";
import { checkCommented, checkHistory, checkMerging, checkOpened } from "./stage-promises.ts";
import { drawIssues, hasStages, lifeKind, meddle } from "./stages.ts";
import { drawFamilies, hasPlans } from "./team.ts";
import { createWorld, mainBranch, type Program, type SimulatedWorkflow, start, type World } from "./world.ts";

export interface Life {
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  /** The hash of the trace: equal for equal lives. */
  readonly hash: string;
  /** How many tasks ended, and how many ask for a person. */
  readonly ended: number;
  readonly asking: number;
  readonly calls: number;
  readonly deaths: number;
  /** How often the program of an idle run was ended to make room. */
  readonly slept: number;
}

export interface LifeOrder extends Omit<SimulatedWorkflow, "name"> {
  readonly seed: number;
  readonly faults: readonly PlannedFault[];
  /** Missing if there are few tasks, with seats for all of them. */
  readonly crowd?: Crowd | undefined;
}

/** How long the person attends to everything after the faults, and how long the person then stays away; milliseconds. */
const attended = 40 * 60_000;
const attendedCrowd = 120 * 60_000;
const alone = 15 * 60_000;
/** How long the simulator keeps watching once all tasks have ended. */
const afterwards = 20_000;
/** Ten times more than any life needs; beyond this it never ends. */
const maxSteps = 30_000;

/** Runs the tasks of one small project from their creation to their end, with the planned faults. */
export async function live({ seed, faults, crowd, ...chosen }: LifeOrder): Promise<Life> {
  const all = [chosen, ...(chosen.others ?? [])];
  await furnish(all);
  const places = homePlaces(home);
  const world = createWorld(seed, chosen);
  if (hasPlans(world) && world.lots("tests").chance(0.2)) world.config = {};
  if (hasStages(world)) furnishForge(world);
  const { clock, store, repositories } = world;
  for (const fault of faults) world.note(`planned: ${describeFault(fault)}`);

  const changed = (what: string) => checkNothingLost(world, what);
  const discarded = (_: unknown, contents: readonly string[]) => checkDiscarded(world, contents);
  const kinds = {
    worktree: createMemoryWorkspaces({ repositories, changed, discarded }, "worktree"),
    clone: createMemoryWorkspaces({ repositories, changed, discarded }, "clone"),
  };
  const misbehaving = new Map(
    faults.flatMap((each) => (each.kind === "run" ? [[each.number, each.how] as const] : [])),
  );
  let runs = 0;
  const programs = createPrograms({
    world,
    started: (program) => agent.begin(program, world.isCalm ? undefined : misbehaving.get(++runs)),
    told(program, message) {
      void checkTold(world, program, message);
      agent.hear(program, message);
    },
  });
  let daemon: Daemon | undefined;
  let deaths = 0;
  const lots = world.lots("world");
  const injector = createFaultInjector(world, faults);
  const failingTests = new Set(faults.flatMap((each) => (each.kind === "tests" ? [each.number] : [])));
  const meddledWith = new Set(faults.flatMap((each) => (each.kind === "meddling" ? [each.number] : [])));
  let tests = 0;
  const notary = createNotary(world);
  const begin = () => {
    const begun = startDaemon({
      ...{ world, injector, programs, kinds, store: notary },
      control: createMemoryControl(repositories, join(places.control, "coffee.git"), changed),
      harness: simulatedHarness((order) => void world.orders.set(order.run, order)),
      commands: {
        run: async ({ cwd }) => {
          const number = ++tests;
          const folder = repositories.folders.get(cwd);
          const commit = folder === undefined ? "" : repositories.head(folder);
          if (meddledWith.has(number))
            clock.after(1_000, () => (hasStages(world) ? void meddle(world, cwd) : agent.meddle()));
          await new Promise<void>((done) => void clock.after(2_000, done));
          const isFailing = failingTests.has(number);
          world.tests.set(commit, (world.tests.get(commit) ?? new Set()).add(!isFailing));
          return isFailing ? failed : passed;
        },
      },
      filesIn: (folder) => filesIn(repositories, folder),
      died() {
        deaths++;
        daemon = undefined;
        clock.after(lots.between(50, 4_000), begin);
      },
    });
    daemon = begun;
    world.note("a daemon starts");
    // Parsed once for all daemons of all lives, since the text is the same.
    const { workflows } = begun.core;
    Promise.all(all.map(({ workflow, text }) => workflows.keep(workflow, text)))
      .then(begun.core.recover)
      .catch((error) => begun.die(`at its start: ${String(error)}`));
  };

  const badRequests = new Map(
    faults.flatMap((each) => (each.kind === "request" ? [[each.number, each.how] as const] : [])),
  );
  let requests = 0;
  /** Without an answer, the person asks again after a while, as the command line does. */
  const request = async (
    route: string,
    task: string,
    body: unknown,
    token: string,
    folder: string,
  ): Promise<unknown> => {
    const how = world.isCalm ? undefined : badRequests.get(++requests);
    if (how !== undefined) world.note(`a request is ${how}`);
    const send = async () => {
      for (let tries = 0; daemon === undefined && tries < 3; tries++)
        await new Promise<void>((done) => void clock.after(3_000, done));
      return daemon?.ask(route, task, body, token, folder);
    };
    if (how === "lost") await new Promise<void>((done) => void clock.after(5_000, done));
    if (how === "doubled" || how === "unanswered") await send().catch(() => undefined);
    return send();
  };
  const agent = createAgent({
    world,
    programs,
    async call(program, route, task, body) {
      const { SIGNALBOX_TOKEN: token = "" } = program.order.env;
      world.note(`${program.run} of ${program.task} calls ${route}${task === "." ? "" : ` of ${task}`}`);
      const late = new Promise<undefined>((done) => void clock.after(15_000, () => done(undefined)));
      const asked = request(route, task, body, token, program.order.folder).then(
        (answer) => (answer === undefined ? undefined : ("accepted" as const)),
        (error) => {
          if (!(error instanceof Refusal)) return undefined;
          world.note(
            `${program.run} of ${program.task} is refused: ${error.reasons.map(({ code }) => code).join(", ")}`,
          );
          return "refused" as const;
        },
      );
      return Promise.race([asked, late]);
    },
    async ask(program, to, task) {
      const { SIGNALBOX_TOKEN: token = "" } = program.order.env;
      world.note(`${program.run} of ${program.task} asks for ${to}${task === "." ? "" : ` of ${task}`}`);
      try {
        const answer = await request("moveTask", task, { to }, token, program.order.folder);
        if (answer !== undefined && task !== "." && task !== program.task)
          world.violate("no agent decides about another's task", `${program.run} of ${program.task} moved ${task}.`);
      } catch (error) {
        const codes = error instanceof Refusal ? error.reasons.map(({ code }) => code) : [String(error)];
        world.note(`${program.run} of ${program.task} is refused: ${codes.join(", ")}`);
      }
    },
  });
  const asPerson = (route: string, task: string, body: unknown) => {
    world.note(`the person asks: ${route} ${task} ${JSON.stringify(body)}`);
    if (route === "cancelTask") world.cancelled.add(task);
    return request(route, task, body, humanToken, "");
  };

  const crew =
    closesTickets(world) && !hasStages(world) && world.lots("crew").chance(0.5)
      ? createSimulatedCrew({
          ...{ world, lots: world.lots("tickets"), daemon: () => daemon },
          ...{ ask: (route, body) => asPerson(route, "", body), minTickets: crowd?.tasks },
        })
      : undefined;
  const openTasks = async () => store.listTasks({ isOpen: true }, { limit: 500 });
  const drawn = crowd?.tasks ?? lots.pick([1, 1, 2, 2, 3]) ?? 1;
  const numbered = Array.from({ length: crew === undefined ? drawn : 0 }, (_, index) => ({ id: `k${index + 1}` }));
  const issues = hasStages(world) ? drawIssues(world, drawn) : numbered;
  const wanted = hasPlans(world) ? drawFamilies(world, crowd) : issues;
  let steps = 0;
  let overAt: number | undefined;
  const pass = async (until: number) => {
    for (;;) {
      await settled();
      if (world.violations.length > 0) return;
      if (world.tasks.open.size > 0 || world.tasks.made < wanted.length || daemon === undefined) overAt = undefined;
      else if (overAt === undefined && (await crew?.isWanted()) !== true) overAt = clock.now();
      const next = clock.next();
      if (next === undefined || next > Math.min(until, (overAt ?? until) + afterwards)) return;
      if (++steps > maxSteps * (lifeKind(world) === "short" ? 1 : 4) * (crowd?.tasks ?? 1))
        return world.violate("every life ends", `It was not over after ${steps} steps.`);
      clock.step();
    }
  };
  let isAttended = true;
  const visit = () => {
    if (!isAttended) return;
    clock.after(lots.between(5_000, world.isCalm ? 10_000 : 20_000), visit);
    void openTasks().then((open) => {
      for (const each of open) if (world.isCalm || lots.chance(0.5)) attend(world, lots, each, asPerson);
    });
  };

  await notary.addProject(coffee(crowd?.pool ?? lots.between(1, hasPlans(world) ? 4 : 3)));
  if (crowd !== undefined) watchSeats(world, crowd, () => daemon);
  begin();
  await settled();
  for (const [index, each] of wanted.entries())
    clock.after(index === 0 ? 0 : lots.between(0, 40_000), () => void create(world, each, () => daemon));
  for (const fault of faults) {
    if (fault.kind === "event") clock.after(fault.at, () => happen(fault.what));
    if (fault.kind === "hurried") hurry(fault.every);
    if (fault.kind !== "full") continue;
    clock.after(fault.at, () => {
      world.isDiskFull = true;
      world.note("the disk is full");
    });
    clock.after(fault.at + fault.milliseconds, () => {
      world.isDiskFull = false;
      world.note("the disk has room again");
    });
  }
  crew?.begin();
  visit();
  await pass(start + troubled);
  world.isCalm = true;
  world.isDiskFull = false;
  repositories.usersChanges.clear();
  // A person notices a hanging agent in its window, and ends it.
  for (const program of world.programs.values())
    if (program.isLive && program.order.mode === "session") programs.finish(program, { signal: "SIGKILL" });
  if (world.violations.length === 0) await pass(start + troubled + (crowd === undefined ? attended : attendedCrowd));
  isAttended = false;
  let left = world.violations.length === 0 ? await openTasks() : [];
  if (left.length > 0) {
    await pass(clock.now() + alone);
    left = await openTasks();
    const hasSlotLeft = daemon?.core.scheduler.isLeft("coffee") ?? false;
    const behind: string[] = [];
    for (const { task } of left)
      if ((await checkAsks(world, task, left.length > 1 || hasSlotLeft)) === "behind") behind.push(task.id);
    if (behind.length === left.length && left.length > 0 && !hasSlotLeft)
      world.violate("every task ends or asks for a person", `${behind.join(", ")} wait for each other.`);
  }
  await settled();
  checkNothingLost(world, "at the end");
  if (world.violations.length === 0) await crew?.check();
  if (world.violations.length === 0) await checkNothingLeft(world);
  if (hasStages(world)) await checkHistory(world);
  for (const program of world.programs.values())
    if (program.isLive && (await store.getTask(program.task))?.isOpen === false)
      world.violate("at most one agent owns a task", `${program.run} of ${program.task} outlives its task.`);
  daemon?.die("at the end");
  for (const damage of await store.check()) world.violate("no transition lost or doubled", damage);
  const tasks = await store.listTasks({}, { limit: 500 });
  return {
    ...{ violations: world.violations, trace: world.trace, calls: injector.calls(), deaths },
    hash: createHash("sha256").update(world.trace.join("\n")).digest("hex").slice(0, 16),
    ended: tasks.length - left.length,
    asking: left.length,
    slept: (await store.listEvents({}, 0, Number.MAX_SAFE_INTEGER)).filter(({ event }) => event.type === "agent.slept")
      .length,
  };

  function hurry(every: number): void {
    if (world.isCalm) return;
    commitToMain(world, lots.chance(0.1) ? "recipe.md" : "other.md");
    clock.after(every, () => hurry(every));
  }

  function happen(what: WorldEvent): void {
    if (world.isCalm) return;
    world.note(`it happens: ${what}`);
    const alive = [...world.programs.values()].filter((each) => each.isLive);
    switch (what) {
      case "forwards":
        world.skew += lots.between(1_000, 7_200_000);
        return;
      case "backwards":
        world.skew -= lots.between(1_000, 7_200_000);
        return;
      case "kill": {
        const victim = lots.pick(alive);
        if (victim !== undefined) programs.finish(victim, { signal: "SIGKILL" });
        return;
      }
      case "terminal":
        // Sometimes its programs survive it.
        if (alive.length % 2 === 1) programs.strandServer();
        else programs.loseServer();
        return;
      case "reboot":
        daemon?.die("with the machine");
        for (const each of alive) if (each.order.mode !== "session") programs.finish(each, "lost");
        programs.loseServer();
        return;
      case "main":
        commitToMain(world, lots.pick(["recipe.md", "other.md"]) ?? "");
        return;
      case "changes":
        repositories.usersChanges.add(lots.pick(["recipe.md", "other.md"]) ?? "");
        return;
      case "doubled":
        for (const each of alive) tellAgain(world, each);
        return;
      case "cancel":
        void openTasks().then((open) => {
          const one = lots.pick(open);
          if (one !== undefined) asPerson("cancelTask", one.task.id, {}).catch(() => undefined);
        });
        return;
      case "tree":
        void openTasks().then((open) => {
          const one = lots.pick(open.filter(({ task }) => task.part === undefined));
          if (one !== undefined) cancelTree(world, one.task.id, asPerson).catch(() => undefined);
        });
        return;
    }
  }
}

/** Resolves when the microtask queue is empty: everything that can happen without time passing has happened. */
function settled(): Promise<void> {
  return new Promise((done) => process.nextTick(done));
}

const passed = { code: 0, timedOut: false, output: "ok" };
const failed = { code: 1, timedOut: false, output: "1 failed" };

/** After everything has worked for long without a person, an open task must have asked for one. */
async function checkAsks(world: World, task: Task, mayWait: boolean): Promise<"asks" | "behind" | undefined> {
  const workflow = world.workflowOf(task);
  const state = workflow.states[task.status];
  const isTalking = task.wait.turn === "reply" || task.wait.turn === "confirm";
  const isWaiting = task.held !== undefined || state?.wait.kind === "human" || state?.wait.kind === "open" || isTalking;
  const runs = await world.store.runs.list({ task: task.id });
  const isRaised = runs.some(({ endedAt, started }) => endedAt === undefined && (started?.raised ?? "") !== "");
  const merge = await world.store.merges.get(task.id);
  // A task without a slot waits for the others, or for a person if the workflow does not start the next one.
  const isBehind = (state?.wait.kind === "slot" || awaitsChildren(workflow, task)) && mayWait;
  if (isWaiting || isRaised || merge?.state === "waits") return "asks";
  if (isBehind) return "behind";
  const where = `${task.status}, ${task.phase}, ${JSON.stringify(task.runs)}`;
  world.violate("every task ends or asks for a person", `${task.id} is in ${where}, and nothing happens.`);
  return undefined;
}

/** In most lives with stages the project has a forge, and in some of these its branch demands an approval. */
function furnishForge(world: World): void {
  const lots = world.lots("forge");
  if (!lots.chance(0.7)) return;
  const { branches, remote } = world.repositories;
  remote.set(mainBranch, branches.get(mainBranch) ?? "");
  world.forge = createMemoryForge({
    repositories: world.repositories,
    needsApproval: lots.chance(0.3),
    opened: (pull) => checkOpened(world, pull),
    commented: (pull) => checkCommented(world, pull),
    merging: (pull, head) => checkMerging(world, pull, head),
  });
}

function commitToMain({ repositories, next }: World, path: string): void {
  const { branches, remote, commits } = repositories;
  const at = remote.get(mainBranch) ?? branches.get(mainBranch);
  if (at === undefined) return;
  const tree = new Map(commits.get(at).tree).set(path, `the person's ${next()}`);
  const commit = commits.add([at], tree, "the person's");
  branches.set(mainBranch, commit);
  if (remote.has(mainBranch)) remote.set(mainBranch, commit);
}

/** The harness repeats its reports. */
function tellAgain({ tails }: World, { order, heard }: Program): void {
  const text = heard.at(-1);
  if (text !== undefined && order.mode === "session")
    tails.append(`${order.runFolder}/hooks/events`, JSON.stringify({ kind: "busy", what: "" }));
}
