import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { type Config, configFields, type PartialConfig } from "../home/config-fields.ts";
import type { Places } from "../home/places.ts";
import type { Clock } from "../ports/clock.ts";
import type { Commands } from "../ports/commands.ts";
import type { Log } from "../ports/log.ts";
import type { Store, StoredTask } from "../ports/store.ts";
import type { Repositories } from "./core.ts";
import { type ForgeEffectPorts, forgeEffects } from "./effects/forge-effects.ts";
import { gitEffects } from "./effects/git-effects.ts";
import type { ForgeOf } from "./forge/project-forge.ts";
import { watchPullRequests } from "./forge/watch-pull-requests.ts";
import { createRepositories, type Landing } from "./merging/create-repositories.ts";
import type { Where } from "./merging/find-tips.ts";
import { createPredictions } from "./merging/predict-conflicts.ts";
import type { Performers } from "./perform.ts";
import type { Submit } from "./submit.ts";
import type { Turns } from "./turns.ts";
import { deleteMergedBranches } from "./workspaces/ended-branches.ts";
import { createFollowBranch } from "./workspaces/follow-branch.ts";
import { guardWorkspaces } from "./workspaces/guard-workspaces.ts";
import { followHome } from "./workspaces/moved-folders.ts";
import { createOutside, type OutsideOf } from "./workspaces/outside.ts";
import { createParking } from "./workspaces/parking.ts";
import type { PoolPorts } from "./workspaces/pool-ports.ts";
import { createPoolRoom } from "./workspaces/pool-room.ts";
import type { SettingsOf } from "./workspaces/project-settings.ts";
import type { WorkspacesOf } from "./workspaces/project-workspaces.ts";
import { takeUpPools } from "./workspaces/take-up-pools.ts";
import { fileNameOf, filesOf, placeTaskFiles } from "./workspaces/task-files.ts";
import { readLimits, type UpkeepLimits } from "./workspaces/upkeep-limits.ts";
import { createUpkeepTimer } from "./workspaces/upkeep-timer.ts";

export interface GitPartsPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly inTurn: Turns;
  readonly places: Places;
  readonly commands: Commands;
  readonly env: Readonly<Record<string, string>>;
  readonly submit: Submit;
  readonly workspacesOf: WorkspacesOf;
  readonly settingsOf: SettingsOf;
  readonly forgeOf: ForgeOf | undefined;
  readonly landing: Partial<Landing>;
  readonly limits: (() => UpkeepLimits) | undefined;
  workflowOf(task: Task): Promise<Workflow>;
  /** Ends what still runs for a task. */
  endRuns(task: string): Promise<void>;
  /** Ends what the commands of a task have left behind. */
  endCommands(task: string): Promise<void>;
  config(): { readonly values: PartialConfig };
  /** A task was changed by somebody else than `submit`. */
  changed(stored: StoredTask): void;
  /** What is wrong with the workspace of a task has changed. */
  troubled(task: string): void;
  tellPerson(task: Task, message: string, key: string): Promise<void>;
  /** Whether a person has paused a project. */
  isPaused(project: string): boolean;
  onError(error: unknown): void;
}

/** What is done with git: workspaces, merging, pull requests. */
export interface GitParts {
  readonly outsideOf: OutsideOf;
  readonly repositories: Repositories;
  readonly pools: PoolPorts;
  readonly forge: ForgeEffectPorts | undefined;
  readonly performers: Performers;
  /** Writes the task's document into its workspace, and gives the name of a role's own file. */
  placeFiles(task: Task, role: string): Promise<string>;
  /** A task has changed. */
  noticed(stored: StoredTask): void;
  /** After a start, before tasks go on: puts the pools in order. */
  takeUp(): Promise<void>;
  /** And when they go on. */
  recover(): Promise<void>;
  stop(): Promise<void>;
}

export function createGitParts(given: GitPartsPorts): GitParts {
  const { store, clock, log, inTurn, places, config, workflowOf, submit, forgeOf, onError } = given;
  const workspacesOf = guardWorkspaces(store, inTurn, given.workspacesOf);
  const stopping = new AbortController();
  const setting = <Name extends keyof Config>(name: Name): Config[Name] =>
    config().values[name] ?? configFields[name].default;
  const usualLimits = () => {
    const [trashDays, trashLimit] = [setting("trashDays"), setting("trashLimit")];
    return readLimits({ trashDays, trashLimit, diskLimit: setting("diskLimit"), keepEnded: setting("keepEnded") });
  };
  const limits = given.limits ?? usualLimits;
  const where = (): Where => (setting("land") === "remote" ? "remote" : setting("pushMerges") ? "both" : "here");
  const predictions = createPredictions({ store, clock, workspacesOf, onError });
  const parking = createParking({ store, clock, log, workspacesOf, settingsOf: given.settingsOf });
  const room = createPoolRoom(clock);
  const { endRuns, endCommands } = given;
  const pools = { store, clock, log, inTurn, places, workspacesOf, parking, limits, room, endRuns, endCommands };
  const upkeepTimer = createUpkeepTimer(pools);
  const repositories = createRepositories({
    ...{ ...given, workspacesOf, predictions, signal: stopping.signal },
    where,
  });
  const forge = forgeOf && {
    ...{ store, clock, log, inTurn, submit, workflowOf, workspacesOf, forgeOf },
    mergeMethod: () => setting("forgeMerge"),
    opened: () => watch?.wake(),
  };
  const watch =
    forge &&
    watchPullRequests({
      ...forge,
      interval: () => setting("forgeInterval"),
      changed: given.changed,
      tellPerson: given.tellPerson,
    });
  /** Agents see in their files where the task is. */
  const refreshFiles = (id: string) =>
    inTurn(filesOf(id), async () => {
      const stored = await store.getTask(id);
      if (stored === undefined || !stored.isOpen || stored.task.workspace === "") return;
      // Its folder may have been given back already, and be another task's.
      const bound = await store.workspaces.list({ task: id });
      if (!bound.some(({ path }) => path === stored.task.workspace)) return;
      const project = await store.getProject(stored.task.project);
      if (project === undefined) return;
      const { kind } = await workspacesOf(project);
      await placeTaskFiles(store, await workflowOf(stored.task), kind, stored.task);
    });
  const underWay = new Set<Promise<void>>();
  /** What failed last for a task. It is tried again with every change of the task; the log says it once. */
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
  /** A merged task needs its branch no more. */
  const dropBranch = (task: Task) => {
    const drop = async () => {
      const merge = await store.merges.get(task.id);
      const project = merge?.state === "merged" ? await store.getProject(task.project) : undefined;
      if (project !== undefined) await deleteMergedBranches(pools, project, task);
    };
    inBackground(task.id, "The branch of a merged task could not be deleted", drop());
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
      ...(forge === undefined ? {} : forgeEffects(forge)),
    },
    async placeFiles(task, role) {
      const project = await store.getProject(task.project);
      if (project === undefined) return "";
      await refreshFiles(task.id);
      return fileNameOf((await workspacesOf(project)).kind, task, role);
    },
    noticed(stored) {
      repositories.merging.noticed(stored);
      room.changed(stored.task.id);
      if (stored.task.workspace !== "") refresh(stored.task);
      if (!stored.isOpen) dropBranch(stored.task);
    },
    async takeUp() {
      await followHome({ ...pools, submit });
      await takeUpPools(pools);
      upkeepTimer.start();
    },
    async recover() {
      await repositories.merging.recover();
      watch?.wake();
    },
    async stop() {
      stopping.abort();
      room.stop();
      await Promise.all([predictions, upkeepTimer, parking, repositories.merging, watch].map((each) => each?.stop()));
      await Promise.all(underWay);
    },
  };
}
