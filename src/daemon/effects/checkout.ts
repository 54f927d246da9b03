import { join } from "node:path";
import { givenCommit } from "../../engine/judging.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Turns } from "../../keyed.ts";
import { isCheckout, type Workspace } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import { placeOf, type Where } from "../landing-place.ts";
import { projectOf } from "../project.ts";
import { keptWork } from "../task-work.ts";
import { noTask, saveWorkspace } from "../workspaces/pool.ts";
import type { SettingsOf } from "../workspaces/project-settings.ts";
import { type ProjectWorkspaces, type WorkspacesOf, withoutPipes } from "../workspaces/project-workspaces.ts";
import { isStuck, takeOut } from "../workspaces/unsaved-workspaces.ts";
import type { CommandPorts } from "./commands.ts";
import { type FurnishPorts, furnish } from "./furnishing.ts";

interface CheckoutPorts extends FurnishPorts, CommandPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly inTurn: Turns;
  readonly workspacesOf: WorkspacesOf;
  readonly settingsOf: SettingsOf;
  where(): Where;
}

/** A judge's run that needs a checkout. */
export interface JudgesRun {
  readonly task: Task;
  /** `reviewer#2`. */
  readonly run: string;
  /** The key of the effect that starts it. */
  readonly key: string;
  /** The folder of the run whose session it resumes; empty for a new session. */
  readonly resumes: string;
}

/** Gives a judge's run a folder of its own with the commit that was handed over. Does nothing where the run has it already. */
export type CheckoutFor = (judge: JudgesRun) => Promise<string>;

/**
 * The checkouts of judges: clones with a git configuration of ours, apart from the project's pool. One is free as soon as
 * its run has ended, so that nothing has to be released.
 */
export function createCheckouts(ports: CheckoutPorts): CheckoutFor {
  return async ({ task, run, key, resumes }) => {
    const project = await projectOf(ports.store, task.project);
    const settings = ports.settingsOf(project);
    const own = await ports.workspacesOf(project);
    let bound = await bind(ports, project, own.folder, task, run, resumes);
    if (bound.readyFor === run) return bound.path;
    const place = await placeOf({ store: ports.store, where: ports.where() }, own, project, task);
    const base = await place.start();
    const commit = (await knownCommit(own, givenCommit(task))) ?? (await keptWork(own, project, task)) ?? base;
    if (commit === undefined)
      throw new Fault("workspace.no-base", `${project.path} has no commit that could be judged.`, {
        hint: "Make a first commit there.",
      });
    // The conversation that is resumed is about the files as they are.
    const isResumed = resumes === bound.path && bound.commit === commit;
    if (!isResumed) {
      const order = {
        ...{ branch: branchFor(task, run), base: base ?? commit, lastAt: commit },
        ...{ baseBranch: place.branch, existing: true, showsAll: true, keep: settings.keep },
      };
      bound = await checkOut(ports, own, bound, order).catch(async (error) => {
        if (!isStuck(error)) throw error;
        await takeOut(ports, own, bound, error.message);
        return checkOut(ports, own, await bind(ports, project, own.folder, task, run, ""), order);
      });
    }
    await furnish(ports, own.kind, settings, task, bound, key);
    await ports.store.workspaces.put({ ...bound, commit, readyFor: run });
    await ports.publishAgents();
    return bound.path;
  };
}

/** No branch of the task's own has such a name, and in a clone it is nobody else's. */
function branchFor({ id }: Task, run: string): string {
  return `signalbox-review/${id}-${run.slice(run.lastIndexOf("#") + 1)}`;
}

async function knownCommit({ control }: ProjectWorkspaces, commit: string): Promise<string | undefined> {
  if (commit === "") return undefined;
  try {
    await control.isAncestor(commit, commit);
    return commit;
  } catch (error) {
    if (error instanceof Fault && error.retry !== "later") return undefined;
    throw error;
  }
}

/** The run's own checkout, else that of the session it resumes, else a free one, else a new one. */
function bind(
  { store, clock, inTurn }: CheckoutPorts,
  project: Project,
  folder: string,
  task: Task,
  run: string,
  resumes: string,
): Promise<Workspace> {
  return inTurn(`checkouts ${project.name}`, async () => {
    const recorded = await store.workspaces.list({ project: project.name });
    const all = recorded.filter((each) => isCheckout(each) && each.unsaved === undefined);
    const own = all.find((each) => each.task === task.id && each.run === run);
    if (own !== undefined) return own;
    const free: Workspace[] = [];
    for (const each of all) if (!(await isUsed(store, each))) free.push(each);
    const chosen = free.find(({ path, task: last }) => path === resumes && last === task.id) ?? free[0];
    const workspace = {
      ...(chosen ?? newCheckout(project, folder, recorded, clock.now())),
      task: task.id,
      run,
      readyFor: "",
    };
    await store.workspaces.put(workspace);
    return workspace;
  });
}

/** The program of a run that its task no longer needs may take a while to end. */
async function isUsed(store: Store, { task: id, run = "" }: Workspace): Promise<boolean> {
  const task = id === "" ? undefined : (await store.getTask(id))?.task;
  if (task !== undefined && Object.values(task.runs).some(({ key }) => key === run)) return true;
  return (await store.runs.list({ task: id })).some(({ key, endedAt }) => key === run && endedAt === undefined);
}

function newCheckout({ name }: Project, folder: string, all: readonly Workspace[], at: number): Workspace {
  let number = 1;
  while (all.some(({ id }) => id === `${name}/review-${number}`)) number++;
  const path = join(folder, `review-${number}`);
  return { id: `${name}/review-${number}`, project: name, task: "", at, path, kind: "clone", run: "" };
}

/** Saves what the last judge left there. That is nobody's work, but nothing is ever deleted. */
async function checkOut(
  ports: CheckoutPorts,
  own: ProjectWorkspaces,
  workspace: Workspace,
  given: Omit<Parameters<ProjectWorkspaces["kind"]["prepare"]>[0], "salvaged" | "folder">,
): Promise<Workspace> {
  const { kind } = own;
  const { path } = workspace;
  const order = { ...given, folder: path };
  const found = await withoutPipes(kind, path, () => kind.inspect(path));
  const isLeft = found.kind === "there" && (found.dirty || !found.parked);
  const save = async () => {
    const salvage = await saveWorkspace(ports, own, path, noTask);
    return { salvaged: true, holds: (salvage?.refused.length ?? 0) > 0 };
  };
  const left = isLeft ? await save() : { salvaged: false };
  await withoutPipes(kind, path, () => kind.prepare({ ...order, ...left })).catch(async (error) => {
    const isUnsaved = error instanceof Fault && ["workspace.dirty", "workspace.unsaved"].includes(error.code);
    if (isLeft || !isUnsaved) throw error;
    return kind.prepare({ ...order, ...(await save()) });
  });
  return workspace;
}
