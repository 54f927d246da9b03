import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { type Config, configFields, type PartialConfig } from "../home/config-fields.ts";
import type { Places } from "../home/places.ts";
import type { Turns } from "../keyed.ts";
import type { Store, StoredTask } from "../ports/store.ts";
import type { Clock, Log } from "../ports/system.ts";
import type { Agents } from "./agents/agents.ts";
import type { AskModel } from "./agents/ask-model.ts";
import { publishAgents } from "./callers.ts";
import type { Repositories } from "./core.ts";
import { type CheckoutFor, createCheckouts } from "./effects/checkout.ts";
import { type ForgeEffectPorts, forgeEffects } from "./effects/forge.ts";
import { gitEffects } from "./effects/workspace.ts";
import type { ForgeOf } from "./forge/push-task.ts";
import { watchIssues } from "./forge/watch-issues.ts";
import { watchPullRequests } from "./forge/watch-pull-requests.ts";
import type { Where } from "./landing-place.ts";
import { createPredictions } from "./merging/conflicts.ts";
import { mergeEffect } from "./merging/merge-effect.ts";
import { createRepositories, type Landing } from "./merging/test-merged.ts";
import type { Performers } from "./perform.ts";
import type { TicketsOf } from "./project.ts";
import { createDiffOf, type DiffOf } from "./prompt-diff.ts";
import { createProtection } from "./protection.ts";
import type { StoppableCommands } from "./stoppable-commands.ts";
import type { Submit } from "./submit.ts";
import { createFollowBranch } from "./workspaces/branch.ts";
import { placeDocuments } from "./workspaces/documents.ts";
import { recoverPools } from "./workspaces/free-workspaces.ts";
import { guardWorkspaces } from "./workspaces/guard-workspaces.ts";
import { createLiveCommits } from "./workspaces/live-commits.ts";
import { createOutside, type OutsideOf } from "./workspaces/outside.ts";
import { deleteSpentBranches } from "./workspaces/own-branches.ts";
import { createParking } from "./workspaces/parking.ts";
import { createPoolRoom, type PoolPorts } from "./workspaces/pool.ts";
import type { SettingsOf } from "./workspaces/project-settings.ts";
import type { WorkspacesOf } from "./workspaces/project-workspaces.ts";
import { fileNameOf, filesOf, placeTaskFiles } from "./workspaces/task-files.ts";
import { followHome } from "./workspaces/trouble.ts";
import { createUpkeepTimer, readLimits, type UpkeepLimits } from "./workspaces/upkeep.ts";
import { createWorkSizes } from "./workspaces/work-sizes.ts";

interface GitPartsPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly inTurn: Turns;
  readonly places: Places;
  readonly commands: StoppableCommands;
  readonly env: Readonly<Record<string, string>>;
  readonly submit: Submit;
  readonly workspacesOf: WorkspacesOf;
  readonly settingsOf: SettingsOf;
  readonly forgeOf: ForgeOf | undefined;
  readonly ticketsOf: TicketsOf;
  readonly landing: Partial<Landing>;
  readonly limits: (() => UpkeepLimits) | undefined;
  workflowOf(task: Task): Promise<Workflow>;
  /** Ends the runs of a task. */
  endRuns(task: string): Promise<void>;
  /** Ends processes that the commands of a task have left behind. */
  endCommands(task: string, folders: readonly string[]): Promise<void>;
  config(): { readonly values: PartialConfig };
  /** A task was changed without `submit`. */
  changed(stored: StoredTask): void;
  /** The problem of a task's workspace has changed. */
  troubled(task: string): void;
  tellPerson(task: Task, message: string, key: string): Promise<void>;
  readonly askModel: AskModel;
  /** Whether a project's pause stops what a person's word began at `wordAt`, or no person began. */
  stopsWork(project: string, wordAt: number | undefined): boolean;
  onError(error: unknown): void;
}

/** The parts that use git: workspaces, merging, pull requests. */
interface GitParts {
  readonly outsideOf: OutsideOf;
  readonly repositories: Repositories;
  readonly pools: PoolPorts;
  readonly forge: ForgeEffectPorts | undefined;
  readonly performers: Performers;
  /** Undefined where there is no forge. */
  readonly forgePerformers: Performers | undefined;
  /** Writes the task's document into its workspace, and returns the name of the role's own file. */
  placeFiles(task: Task, role: string): Promise<string>;
  readonly checkoutFor: CheckoutFor;
  readonly diffOf: DiffOf;
  /** A task has changed. */
  noticed(stored: StoredTask): void;
  /** Collects the commits of agents while they work. */
  followRuns(agents: Pick<Agents, "follow" | "watchOf">): void;
  /** After a start, before tasks continue: puts the pools in order. */
  preparePools(): Promise<void>;
  /** After a start: continues merges and upkeep. */
  recover(): Promise<void>;
  stop(): Promise<void>;
}

export function createGitParts(given: GitPartsPorts): GitParts {
  const { store, clock, log, inTurn, places, config, workflowOf, submit, forgeOf, onError } = given;
  const workspacesOf = guardWorkspaces(
    { ...given, collected: (task, commit) => sizes.collected(task, commit) },
    given.workspacesOf,
  );
  const stopping = new AbortController();
  const setting = <Name extends keyof Config>(name: Name): Config[Name] =>
    config().values[name] ?? configFields[name].default;
  const defaultLimits = () => {
    const [trashDays, trashLimit] = [setting("trashDays"), setting("trashLimit")];
    return readLimits({ trashDays, trashLimit, diskLimit: setting("diskLimit"), keepEnded: setting("keepEnded") });
  };
  const limits = given.limits ?? defaultLimits;
  const where = (): Where => (setting("land") === "remote" ? "remote" : setting("pushMerges") ? "both" : "here");
  const predictions = createPredictions({ store, clock, workspacesOf, onError });
  const parking = createParking({ store, clock, log, inTurn, workspacesOf, settingsOf: given.settingsOf });
  const room = createPoolRoom(clock);
  const { endRuns, endCommands, tellPerson } = given;
  const ending = { endRuns, endCommands, tellPerson };
  const pools = { store, clock, log, inTurn, places, workspacesOf, parking, limits, room, ...ending };
  const upkeepTimer = createUpkeepTimer(pools);
  const live = createLiveCommits({ store, clock, log, workspacesOf });
  const sizes = createWorkSizes({ store, clock, log, workspacesOf, where });
  const protection = createProtection({ ...given, workspacesOf, where });
  const repositories = createRepositories({
    ...{ ...given, workspacesOf, predictions, protection, signal: stopping.signal },
    where,
  });
  const mergeHere = mergeEffect(repositories);
  const forge = forgeOf && {
    ...{ mergeHere, where, store, clock, log, inTurn, submit, workflowOf, workspacesOf, forgeOf, protection },
    ticketsOf: given.ticketsOf,
    stopsWork: given.stopsWork,
    tellPerson,
    mergeMethod: () => setting("forgeMerge"),
    opened: () => watch?.wake(),
  };
  const watch =
    forge &&
    watchPullRequests({
      ...forge,
      interval: () => setting("forgeInterval"),
      changed: given.changed,
    });
  const issues = forgeOf && watchIssues({ ...given, interval: () => setting("forgeInterval") });
  /** Updates the task files, in which agents see the state of the task. */
  const refreshFiles = (id: string) =>
    inTurn(filesOf(id), async () => {
      const stored = await store.getTask(id);
      if (stored === undefined || !stored.isOpen || stored.task.workspace === "") return;
      // The folder may have been released already, and belong to another task.
      const bound = await store.workspaces.list({ task: id });
      if (!bound.some(({ path }) => path === stored.task.workspace)) return;
      const project = await store.getProject(stored.task.project);
      if (project === undefined) return;
      const { kind } = await workspacesOf(project);
      await placeTaskFiles(store, await workflowOf(stored.task), kind, stored.task);
    });
  const underWay = new Set<Promise<void>>();
  /** The last failure of each task. It is retried with every change of the task, and logged once. */
  const failures = new Map<string, string>();
  const inBackground = (id: string, complaint: string, work: Promise<unknown>) => {
    const key = `${id} ${complaint}`;
    const working = work.then(
      () => void failures.delete(key),
      (error) => {
        if (failures.get(key) !== String(error)) log.warn(complaint, { task: id, error });
        failures.set(key, String(error));
      },
    );
    underWay.add(working);
    working.finally(() => underWay.delete(working));
  };
  const refresh = ({ id }: Task) => inBackground(id, "The task file could not be written", refreshFiles(id));
  /** A task that is over no longer needs its branch, unless the branch has work that is nowhere else. */
  const dropBranch = (task: Task) => {
    const drop = async () => {
      const project = await store.getProject(task.project);
      if (project !== undefined) await deleteSpentBranches(pools, project, task);
    };
    inBackground(task.id, "The branch of an ended task could not be deleted", drop());
  };

  return {
    outsideOf: createOutside({
      ...{ store, clock, workspacesOf, where, collected: predictions.collected },
      follow: createFollowBranch({ store, log, submit, workspacesOf, troubled: given.troubled }),
      filesGone: refresh,
    }),
    repositories,
    pools,
    forge,
    performers: {
      ...gitEffects({ ...repositories, ...given, workspacesOf, parking, limits, room }),
      merge: mergeHere,
    },
    forgePerformers: forge && forgeEffects(forge),
    async placeFiles(task, role) {
      const project = await store.getProject(task.project);
      if (project === undefined) return "";
      await refreshFiles(task.id);
      const { kind } = await workspacesOf(project);
      await placeDocuments(store, kind, task);
      return fileNameOf(store, kind, task, role);
    },
    diffOf: createDiffOf({ store, workspacesOf, where }),
    checkoutFor: createCheckouts({
      ...{ ...given, workspacesOf, where, signal: stopping.signal },
      publishAgents: () => publishAgents({ store, places }),
    }),
    noticed(stored) {
      repositories.merging.noticed(stored);
      room.changed(stored.task.id);
      if (stored.task.workspace !== "") refresh(stored.task);
      if (!stored.isOpen) {
        dropBranch(stored.task);
        live.forget(stored.task.id);
      }
      issues?.noticed(stored);
    },
    followRuns(agents) {
      agents.follow((id) => {
        const run = agents.watchOf(id)?.run;
        if (run !== undefined) live.looked(run.task);
      });
    },
    async preparePools() {
      await followHome({ ...pools, submit });
      await recoverPools(pools);
      upkeepTimer.start();
    },
    async recover() {
      await repositories.merging.recover();
      watch?.wake();
      await issues?.recover();
    },
    async stop() {
      stopping.abort();
      room.stop();
      await Promise.all(
        [predictions, upkeepTimer, parking, live, sizes, repositories.merging, watch, issues].map((each) =>
          each?.stop(),
        ),
      );
      await Promise.all(underWay);
    },
  };
}
