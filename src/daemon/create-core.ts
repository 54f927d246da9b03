import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import type { PartialConfig } from "../home/config-fields.ts";
import { homePlaces } from "../home/places.ts";
import type { Clock } from "../ports/clock.ts";
import type { Commands } from "../ports/commands.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { Store, StoredTask } from "../ports/store.ts";
import { forgetAgents } from "./agents-at-work.ts";
import { createCallers } from "./caller.ts";
import type { Core } from "./core.ts";
import { createDeadlines } from "./deadlines.ts";
import { killAgent, killSession, returnFolders } from "./effects/end-agents.ts";
import { gitEffects } from "./effects/git-effects.ts";
import { createFacts } from "./facts.ts";
import { createNews, tellingStore } from "./news.ts";
import { createPerformer, type Performers } from "./perform.ts";
import { rememberProjects } from "./remember-projects.ts";
import { rememberTasks } from "./remember-tasks.ts";
import { createScheduler } from "./scheduler.ts";
import { createSubmit } from "./submit.ts";
import { createTally } from "./tally.ts";
import { createTurns } from "./turns.ts";
import { createWorkflowCache } from "./workflow-cache.ts";
import { createFollowBranch } from "./workspaces/follow-branch.ts";
import { createOutside } from "./workspaces/outside.ts";
import type { WorkspacesOf } from "./workspaces/project-workspaces.ts";
import { takeUpPools } from "./workspaces/take-up-pools.ts";
import { placeTaskFiles } from "./workspaces/task-files.ts";
import { createTrashTimer } from "./workspaces/trash-timer.ts";
import { type UpkeepLimits, upkeepLimits } from "./workspaces/upkeep-limits.ts";

export interface CorePorts {
  readonly version: string;
  readonly home: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly commands: Commands;
  readonly humanToken: string;
  /** Made once the folders and the workflows of tasks can be asked for. */
  performers(folderOf: (task: Task) => Promise<string>, workflowOf: (task: Task) => Promise<Workflow>): Performers;
  /** How much may lie around; the usual where it is missing. */
  limits?(): UpkeepLimits;
  /** How projects' working copies are made; where it is missing, actions that need one are not available. */
  readonly workspacesOf?: WorkspacesOf;
  config(): { readonly values: PartialConfig; readonly problems: readonly string[] };
  address(): string;
  stop(): void;
}

export interface RunningCore extends Core {
  /** Lets every open task go on from where it was left. */
  recover(): Promise<void>;
  /** Takes nothing new on, and waits for what is under way. Agents go on. */
  close(): Promise<void>;
}

/** Puts together what moves tasks. */
export function createCore(ports: CorePorts): RunningCore {
  const { log, clock, config, address, stop, workspacesOf } = ports;
  const places = homePlaces(ports.home);
  const onError = (error: unknown) => log.error("Something failed that nobody foresaw", { error });
  const news = createNews(ports.store, onError);
  const { store, projects } = rememberProjects(rememberTasks(tellingStore(ports.store, news.wake)));
  const workflows = createWorkflowCache(store);
  const tally = createTally(workflows);
  const workflowOf = (task: Task) => workflows.get(task.workflowHash);
  const poolSize = async (project: string) => (await projects.get(project))?.poolSize ?? 1;
  const factsOf = createFacts(store, (task) => scheduler.isFull(task.project, task.id));
  const inTurn = createTurns();
  const submit = createSubmit({
    inTurn,
    store,
    clock,
    workflowOf,
    factsOf,
    changed: (stored, mayGoOn) => changed(stored, mayGoOn),
    ...(workspacesOf === undefined
      ? {}
      : { outsideOf: createOutside(store, workspacesOf, (task, branch) => followBranch(task, branch)) }),
  });
  const followBranch = createFollowBranch({ store, log, submit });
  const folderOf = async (task: Task) => task.workspace || ((await projects.get(task.project))?.path ?? ports.home);
  const limits = ports.limits ?? (() => upkeepLimits);
  const pools = workspacesOf && { store, clock, log, inTurn, places, workspacesOf, limits };
  const trashTimer = pools && createTrashTimer(pools);
  const callers = createCallers(store, clock, ports.humanToken);
  const performers: Performers = {
    kill_agent: killAgent({ store, places, clock, callers }),
    kill_session: killSession({ store, places, clock, callers }),
    ...(workspacesOf === undefined
      ? { release_workspace: returnFolders({ store, places }) }
      : gitEffects({ store, clock, inTurn, log, submit, places, workflowOf, workspacesOf, limits })),
    spawn_next: async () => scheduler.wake(),
    ...ports.performers(folderOf, workflowOf),
  };
  const performer = createPerformer({ store, clock, submit, performers, onError });
  const scheduler = createScheduler({ store, clock, workflowOf, submit, poolSize, onError });
  const deadlines = createDeadlines({ store, clock, workflowOf, submit, onError });

  const notice = (stored: StoredTask) =>
    Promise.all([
      scheduler.noticed(stored),
      deadlines.noticed(stored),
      tally.noticed(stored),
      stored.isOpen ? undefined : forgetAgents({ store, callers, places, clock }, stored.task.id),
    ]);
  /** Agents see in their files where the task is. */
  const refreshFiles = (id: string) =>
    inTurn(`files ${id}`, async () => {
      const stored = await store.getTask(id);
      if (stored === undefined || !stored.isOpen || stored.task.workspace === "") return;
      const project = await projects.get(stored.task.project);
      if (project === undefined || workspacesOf === undefined) return;
      const { kind } = await workspacesOf(project);
      await placeTaskFiles(store, await workflowOf(stored.task), kind, stored.task);
    });
  const changed = (stored: StoredTask, mayGoOn = true) => {
    if (workspacesOf !== undefined && stored.task.workspace !== "")
      refreshFiles(stored.task.id).catch((error) =>
        log.warn("The task file could not be written", { task: stored.task.id, error }),
      );
    if (mayGoOn) performer.wake(stored.task.id);
    notice(stored).catch(onError);
  };

  return {
    version: ports.version,
    home: ports.home,
    places,
    startedAt: clock.now(),
    store,
    clock,
    ids: ports.ids,
    log,
    commands: ports.commands,
    callers,
    workflows,
    factsOf,
    submit,
    inTurn,
    workspacesOf,
    pools,
    performer,
    scheduler,
    deadlines,
    tally,
    news,
    config,
    changed,
    address,
    stop,
    async recover() {
      for (let before: number | undefined; ; ) {
        const page = await store.listTasks({ isOpen: true }, before === undefined ? { limit } : { before, limit });
        for (const stored of page) {
          // One whose workflow does not load any more must not keep the others from going on.
          await Promise.all([scheduler.recall(stored), deadlines.noticed(stored), tally.noticed(stored)]).catch(
            (error) => log.error("A task cannot be taken up", { task: stored.task.id, error }),
          );
        }
        before = page.at(-1)?.order;
        if (before === undefined) break;
      }
      if (pools !== undefined) await takeUpPools(pools);
      trashTimer?.start();
      await performer.recover();
      scheduler.wake();
    },
    async close() {
      news.stop();
      // All of them at once: what is cut short from here on has not failed.
      await Promise.all([performer.stop(), scheduler.stop(), deadlines.stop(), trashTimer?.stop()]);
    },
  };
}

const limit = 500;
