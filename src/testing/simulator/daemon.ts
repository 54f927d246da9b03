import { join } from "node:path";
import { noneForge } from "../../adapters/forge/none/none-forge.ts";
import type { Asked } from "../../daemon/asked.ts";
import { createCore, type RunningCore } from "../../daemon/create-core.ts";
import { notify } from "../../daemon/effects/notify.ts";
import { askedPullRequests } from "../../daemon/forge/asked-pull-requests.ts";
import { createHandlers } from "../../daemon/handlers.ts";
import type { ProjectWorkspaces } from "../../daemon/workspaces/project-workspaces.ts";
import { homePlaces } from "../../home/places.ts";
import type { Commands } from "../../ports/commands.ts";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Git } from "../../ports/git.ts";
import type { Harness } from "../../ports/harness.ts";
import type { Log } from "../../ports/log.ts";
import type { ProcessTable } from "../../ports/processes.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { WorkspaceKind } from "../../ports/workspaces.ts";
import type { DaemonLife, FaultInjector } from "./fault-injector.ts";
import { memoryRoot } from "./memory-files.ts";
import type { Programs } from "./programs.ts";
import { checkedTickets } from "./promises.ts";
import { mainBranch, type World } from "./world.ts";

export const home = join(memoryRoot, "home");
export const repository = join(memoryRoot, "coffee");
export const humanToken = "sbh_person";

/** What is the same for every daemon of a life. */
export interface DaemonPorts {
  readonly world: World;
  readonly injector: FaultInjector;
  readonly store: Store;
  readonly programs: Programs;
  readonly control: ControlRepository;
  readonly kinds: Readonly<Record<WorkspaceKind["kind"], WorkspaceKind>>;
  readonly harness: Harness;
  readonly commands: Commands;
  died(why: string): void;
}

/** A daemon without its process: the real core over what a world has. */
export interface Daemon extends DaemonLife {
  readonly core: RunningCore;
  /** Asks over the API, with a token, from a folder. */
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
    remoteUrl: async () => undefined,
    fingerprint: async () => obeyed.fingerprint,
    obeyed: async () => obeyed,
    leftBehind: async () => undefined,
    clone: async () => undefined,
  };
  const ownControl = injector.around("git", control, life);
  const own = {
    worktree: injector.around("git", kinds.worktree, life),
    clone: injector.around("git", kinds.clone, life),
  };
  const places = homePlaces(home);
  const workspaces: ProjectWorkspaces = {
    ...{ git, repository, control: ownControl, kind: own.worktree },
    folder: join(places.workspaces, "coffee"),
    kindOf: async (name) => own[name],
  };
  const tickets = injector.around("tickets", checkedTickets(world), life);
  const forge = noneForge(askedPullRequests({ store, clock }, "coffee"));
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
      notify: notify({ notifier: { notify: async () => undefined }, workflowOf, outsideOf: async () => ({}) }),
    }),
    workspacesOf: async () => workspaces,
    ticketsOf: () => tickets,
    forgeOf: async () => ({ kind: "none", forge, remote: undefined }),
    agents: { env: {}, table: nobody, tails, harnesses: () => harnesses, terminal, processes },
    config: () => ({ values: world.config, problems: [] }),
    address: () => "",
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

/** The project of every life. */
export function coffee(poolSize: number): Project {
  return {
    ...{ name: "coffee", path: repository, defaultBranch: mainBranch, poolSize, workflow: "", harness: "simulated" },
    ...{ reviewHarness: "", branchPrefix: "", createdAt: 0 },
    fullPermissions: "allow",
  };
}
