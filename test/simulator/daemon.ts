import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { noneForge } from "../../src/adapters/no-forge.ts";
import { createCore, type RunningCore } from "../../src/daemon/create-core.ts";
import { notify } from "../../src/daemon/effects/others.ts";
import { askedPullRequests } from "../../src/daemon/forge/pull-request.ts";
import type { ProjectForge } from "../../src/daemon/forge/push-task.ts";
import { type Asked, createHandlers } from "../../src/daemon/handlers.ts";
import { loadJudges } from "../../src/daemon/protection.ts";
import type { ProjectWorkspaces } from "../../src/daemon/workspaces/project-workspaces.ts";
import type { Effect } from "../../src/engine/decision.ts";
import { homePlaces } from "../../src/home/places.ts";
import type { ControlRepository } from "../../src/ports/control-repository.ts";
import type { Git } from "../../src/ports/git.ts";
import type { Harness } from "../../src/ports/harness.ts";
import type { Processes, ProcessOrder, ProcessTable } from "../../src/ports/processes.ts";
import { isCheckout, type Kept } from "../../src/ports/records.ts";
import type { Collection, Project, SavedDecision, Store, StoredTask } from "../../src/ports/store.ts";
import type { Commands, Log } from "../../src/ports/system.ts";
import type { Terminal, WindowOrder } from "../../src/ports/terminal.ts";
import type { WorkspaceKind } from "../../src/ports/workspaces.ts";
import type { ProjectFiles } from "../../src/project-tests/finders.ts";
import type { Programs } from "./agents.ts";
import { checkAgents } from "./crew.ts";
import { checkFamily, checkNewPart, checkParentsRoom } from "./families.ts";
import type { DaemonLife, FaultInjector } from "./faults.ts";
import { emptyMemoryFiles, installMemoryFiles, makeMemoryFolder, memoryRoot } from "./memory-files.ts";
import { remoteAddress } from "./memory-forge.ts";
import { checkDecision, checkDone, checkEffect, checkedTickets, checkMerge, type Known } from "./promises.ts";
import { checkRecord, checkTested } from "./stage-promises.ts";
import { hasStages } from "./stages.ts";
import { hasPlans } from "./team.ts";
import { mainBranch, type SimulatedWorkflow, type World } from "./world.ts";

export const home = join(memoryRoot, "home");
export const repository = join(memoryRoot, "coffee");
export const humanToken = "sbh_person";

/** The parts that all daemons of a life share. */
export interface DaemonPorts {
  readonly world: World;
  readonly injector: FaultInjector;
  readonly store: Store;
  readonly programs: Programs;
  readonly control: ControlRepository;
  readonly kinds: Readonly<Record<WorkspaceKind["kind"], WorkspaceKind>>;
  /** The kind of new workspaces: worktrees where it is missing. */
  readonly kind?: WorkspaceKind["kind"];
  readonly harness: Harness;
  readonly commands: Commands;
  filesIn(folder: string): ProjectFiles;
  died(why: string): void;
}

/** A daemon without its process: the real core over the twins of a world. */
export interface Daemon extends DaemonLife {
  readonly core: RunningCore;
  /** Calls the API with a token, from a folder. */
  ask(route: string, task: string, body: unknown, token: string, folder: string): Promise<unknown>;
}

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent, close: async () => {} };
const person = { name: "Ada", email: "ada@example.org" };
const obeyed = { fingerprint: "same", parts: {} };
const nobody: ProcessTable = {
  identify: async () => undefined,
  isAlive: async () => false,
  familyOf: async () => [],
  bearersOf: async () => [],
  cpuTime: async () => 0,
};

export function startDaemon(ports: DaemonPorts): Daemon {
  const { world, injector, programs, control, kinds, harness } = ports;
  const life: DaemonLife = {
    isDead: false,
    die(why) {
      if (life.isDead) return;
      life.isDead = true;
      world.note(`the daemon dies ${why}`);
      ports.died(why);
    },
  };
  const clock = {
    now: () => world.clock.now() + world.skew,
    after: (milliseconds: number, run: () => void) =>
      world.clock.after(milliseconds, () => {
        if (!life.isDead) run();
      }),
  };
  const heard =
    <T extends unknown[]>(listener: (...args: T) => void) =>
    (...args: T) => {
      if (!life.isDead) listener(...args);
    };
  const store = injector.around("store", ports.store, life);
  const terminal = injector.around(
    "terminal",
    { ...programs.terminal, watch: (tell: () => void) => programs.terminal.watch(heard(tell)) },
    life,
    ["watch", "attachCommand"],
  );
  const processes = injector.around(
    "processes",
    { ...programs.processes, watch: (tell: (id: string) => void) => programs.processes.watch(heard(tell)) },
    life,
    ["watch"],
  );
  const git: Git = {
    openControl: async () => ownControl,
    identityOf: async () => person,
    remoteUrl: async () => (world.forge === undefined ? undefined : remoteAddress),
    fingerprint: async () => obeyed.fingerprint,
    obeyed: async () => obeyed,
    leftBehind: async () => undefined,
    whoMoved: async () => ({
      ...{ isUser: false, isOurs: false, isRenamed: false },
      ...{ movers: [], visitors: [], branches: [], workspaces: [] },
    }),
    isInRemote: async () => false,
    remoteBranchAt: async () => undefined,
    lookAtBranch: async () => undefined,
    brokenBranches: async () => [],
    isAtItsStart: async () => false,
    clone: async () => undefined,
  };
  const ownControl = injector.around("git", control, life);
  const own = {
    worktree: injector.around("git", kinds.worktree, life),
    clone: injector.around("git", kinds.clone, life),
  };
  const places = homePlaces(home);
  const workspaces: ProjectWorkspaces = {
    ...{ git, repository, control: ownControl, kind: own[ports.kind ?? "worktree"] },
    folder: join(places.workspaces, "coffee"),
    kindOf: async (name) => own[name],
  };
  const tickets = injector.around("tickets", checkedTickets(world), life);
  const forge: ProjectForge =
    world.forge === undefined
      ? { kind: "none", forge: noneForge(askedPullRequests({ store, clock }, "coffee")), remote: undefined }
      : { kind: "github", forge: injector.around("forge", world.forge.port, life), remote: remoteAddress };
  const harnesses = new Map([[harness.name, harness]]);
  const tails = {
    open: world.tails.open,
    watch: (folder: string, tell: () => void) => world.tails.watch(folder, heard(tell)),
  };
  const core = createCore({
    ...{ version: "1.0.0", home, store, clock, git, humanToken },
    ids: {
      task: () => `t${world.next()}`,
      secret: () => String(world.next()).padStart(48, "0"),
    },
    log: silent,
    commands: injector.around("commands", ports.commands, life),
    performers: (_, workflowOf) => ({
      notify: notify({
        notifier: { notify: async ({ text }) => world.note(`the person is told: ${text}`) },
        workflowOf,
        outsideOf: async () => ({}),
      }),
    }),
    workspacesOf: async () => workspaces,
    filesIn: ports.filesIn,
    ticketsOf: () => tickets,
    forgeOf: async () => forge,
    agents: { env: {}, table: nobody, tails, harnesses: () => harnesses, ...checkedStarts(world, terminal, processes) },
    config: () => ({ values: world.config, problems: [] }),
    stop: () => undefined,
  });
  const handlers = createHandlers(core);
  return Object.assign(life, {
    core,
    async ask(route: string, task: string, body: unknown, token: string, folder: string) {
      const caller = await core.callers.of(token);
      const asked: Asked<unknown, unknown> = {
        params: { task, project: "coffee" },
        query: {},
        body,
        caller,
        folder,
        lastEvent: "",
      };
      return handlers[route]?.(asked as Asked<never, never>, undefined as never);
    },
  });
}

/** Checks what the daemon knows when it asks for a program: the program itself may start late. */
function checkedStarts(world: World, terminal: Terminal, processes: Processes) {
  const check = async ({ SIGNALBOX_TASK: id = "", SIGNALBOX_RUN: run }: WindowOrder["env"]) => {
    const task = (await world.store.getTask(id))?.task;
    if (task !== undefined && world.workflowOf(task).states[task.status]?.outcome === "cancelled")
      world.violate("a cancelled task starts no program", `${run} of ${id} is started in ${task.status}.`);
  };
  return {
    terminal: {
      ...terminal,
      open(order: WindowOrder) {
        void check(order.env);
        return terminal.open(order);
      },
    },
    processes: {
      ...processes,
      start(order: ProcessOrder) {
        void check(order.env);
        return processes.start(order);
      },
    },
  };
}

/** Makes the folders of a home in memory, which is empty otherwise, and writes these workflows into it. */
export async function furnish(workflows: readonly Pick<SimulatedWorkflow, "workflow" | "text">[]): Promise<void> {
  installMemoryFiles();
  emptyMemoryFiles();
  // A life waits for nothing outside of it, so nothing may be loaded while it goes on.
  await loadJudges();
  const places = homePlaces(home);
  for (const folder of [
    places.run,
    places.workflows,
    places.workspaces,
    places.runs,
    places.logs,
    join(repository, ".signalbox"),
    join(places.control, "coffee.git"),
  ])
    makeMemoryFolder(folder);
  // An empty file, which is cheaper than the error of a missing one.
  writeFileSync(join(repository, ".signalbox", "config.yml"), "");
  for (const { workflow, text } of workflows) writeFileSync(join(places.workflows, `${workflow.name}.yml`), text);
}

/** The project of every life. */
export function coffee(poolSize: number): Project {
  return {
    ...{ name: "coffee", path: repository, defaultBranch: mainBranch, poolSize, workflow: "", harness: "simulated" },
    ...{ reviewHarness: "", branchPrefix: "", workspaces: "clone", createdAt: 0 },
    fullPermissions: "allow",
  };
}

/** The notary: a store that checks the promises after every write. */
export function createNotary(world: World): Store {
  const { store, violate, note } = world;
  const known = new Map<string, Known>();
  const effects = new Map<number, { readonly task: string; readonly effect: Effect }>();
  const learn = <T extends readonly { readonly id: number; readonly task: string; readonly effect: Effect }[]>(
    found: T,
  ): T => {
    for (const { id, task, effect } of found) effects.set(id, { task, effect });
    return found;
  };
  const checked = <T extends Kept>(
    collection: Collection<T>,
    check: (record: T) => Promise<void> | void,
  ): Collection<T> => ({
    ...collection,
    async put(record) {
      await collection.put(record);
      await check(record);
    },
  });

  const saved = async (decision: SavedDecision, stored: StoredTask): Promise<void> => {
    const { task, events, document } = decision;
    const before = known.get(task.id);
    if (!decision.isOpen) world.tasks.open.delete(task.id);
    for (const { type, by, data } of events)
      note(`${task.id} ${type} by ${by}${type === "task.moved" ? ` ${String(data.from)} → ${String(data.to)}` : ""}`);
    if (before === undefined) return;
    checkDecision(world, before, decision);
    checkDone(world, before.task, task, await store.merges.get(task.id));
    if (hasStages(world)) await checkTested(world, before.task, task);
    if (hasPlans(world)) await checkFamily(world, before.task, task, decision.isOpen);
    const authors = document?.authors ?? before.authors;
    if (task.judged !== undefined) before.judged.add(task.judged.commit);
    known.set(task.id, { ...before, task: stored.task, revision: stored.revision, authors });
  };
  return {
    ...store,
    async createTask(project, decide) {
      const stored = await store.createTask(project, decide);
      const { authors } = await store.getDocument(stored.task.id);
      const { task, revision } = stored;
      known.set(task.id, { task, revision, authors, used: new Set(), judged: new Set() });
      if (task.part === undefined) world.tasks.made++;
      world.tasks.open.add(stored.task.id);
      const of = task.part === undefined ? "" : ` for ${task.part.item} of ${task.parent}, try ${task.part.try}`;
      note(`${task.id} is created in ${task.status}${of}`);
      await checkNewPart(world, task);
      return stored;
    },
    async saveDecision(decision) {
      const stored = await store.saveDecision(decision);
      await saved(decision, stored);
      return stored;
    },
    async saveDecisions(decisions) {
      const all = await store.saveDecisions(decisions);
      for (const [i, stored] of all.entries()) {
        const decision = decisions[i];
        if (decision !== undefined) await saved(decision, stored);
      }
      return all;
    },
    async addEvents(task, events, at, merge) {
      await store.addEvents(task, events, at, merge);
      for (const { type, data } of events) if (type.startsWith("pr.")) note(`${task} ${type} ${JSON.stringify(data)}`);
    },
    async saveDocument(task, document, events, at) {
      await store.saveDocument(task, document, events, at);
      const before = known.get(task);
      if (before !== undefined) known.set(task, { ...before, authors: document.authors });
    },
    dueEffects: async (now, limit) => learn(await store.dueEffects(now, limit)),
    listEffects: async (task) => learn(await store.listEffects(task)),
    openEffects: async (task) => learn(await store.openEffects(task)),
    async finishEffect(id, at, failed) {
      const found = effects.get(id);
      const open = found === undefined ? [] : await store.openEffects(found.task);
      await store.finishEffect(id, at, failed);
      if (found === undefined) return;
      note(`${found.task} ${found.effect.action} ${failed === undefined ? "is done" : "failed, and is passed over"}`);
      const first = open.find(({ state }) => state === "owed" || state === "failed");
      if (first !== undefined && first.id < id)
        violate("effects in order", `${found.effect.action} of ${found.task} came before ${first.effect.action}.`);
      const task = (await store.getTask(found.task))?.task;
      if (failed === undefined && task !== undefined) await checkEffect(world, task, found.effect);
    },
    workspaces: checked(store.workspaces, async ({ path, task }) => {
      if (task === "") return;
      const others = (await store.workspaces.list({})).filter((each) => each.path === path && each.task !== "");
      if (others.length > 1) violate("at most one task has a workspace", `${path} is bound ${others.length} times.`);
      const bound = await store.workspaces.list({ task });
      const own = bound.filter((each) => !isCheckout(each));
      const runs = bound.filter(isCheckout).map(({ run }) => run);
      if (new Set(runs).size < runs.length) violate("a judge has one checkout", `${task} has two for one run.`);
      if (own.length > 1) violate("at most one task has a workspace", `${task} has ${own.length} workspaces.`);
      if (hasPlans(world) && own.some((each) => each.path === path)) await checkParentsRoom(world, task);
    }),
    pullRequests: {
      ...store.pullRequests,
      async put(record) {
        const before = await store.pullRequests.get(record.id);
        await store.pullRequests.put(record);
        await checkRecord(world, before, record);
      },
    },
    agents: checked(store.agents, () => checkAgents(world)),
    merges: checked(store.merges, async (merge) => {
      note(`${merge.task} merge ${merge.state}${merge.endedAt === undefined ? "" : ", ended"}`);
      checkMerge(world, merge, known.get(merge.task)?.judged ?? new Set());
    }),
  };
}
