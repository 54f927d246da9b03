import { Refusal, type Route } from "../api/client.ts";
import type { Reason } from "../engine/decision.ts";
import { nearest } from "../engine/language/problem.ts";
import type { Actor, Request } from "../engine/request.ts";
import type { Task } from "../engine/task.ts";
import { Fault } from "../fault.ts";
import { contains } from "../home/agents-at-work.ts";
import type { StoredTask } from "../ports/store.ts";
import { shellWord } from "../shell-quote.ts";
import type { Caller } from "./callers.ts";
import type { Core } from "./core.ts";
import type { Asked } from "./handlers.ts";

type About = Pick<
  Asked<{ readonly project?: string; readonly task?: string }, unknown>,
  "params" | "query" | "caller" | "folder"
>;

/**
 * Refuses a request whose caller may not make it, by the `access` of its route, before the daemon reads the request's
 * body. Requests that change a run's own task pass: their handlers know what was asked for, and call `actorFor`.
 */
export function createAuthorise(core: Core) {
  return (route: Route, about: About, isSocket: boolean): Promise<void> => authorise(core, route, about, isSocket);
}

async function authorise(core: Core, route: Route, about: About, isSocket: boolean): Promise<void> {
  const { caller } = about;
  if (route.access === "anyone" && isSocket) return;
  // A page of ours has sent it: its origin was checked.
  if (route.access === "page" && !isSocket && caller.kind === "nobody") return;
  if (caller.kind === "human") return mustBeOutside(core, route, about);
  const isChangeOfTask = route.access === "run" && route.method !== "GET";
  if (isChangeOfTask && isSocket) return;
  if (caller.kind === "nobody" || caller.isOver) {
    core.refusals.stranger();
    const why = caller.kind === "nobody" ? caller.why : "The run is over.";
    throw new Fault("caller.unknown", `This needs a credential. ${why}`, { hint: howToAsk });
  }
  if (isChangeOfTask) return;
  const { task } = caller.credential;
  const isOwn = (route.access === "run" || route.access === "anyone") && (await isAbout(core, about, task));
  if (isOwn) return;
  const reason = route.access === "run" ? otherTask(task) : onlyPersons;
  const own = await core.store.getTask(task);
  if (own !== undefined) await core.refusals.note(own.task, { kind: route.name, actor: claimOf(caller) }, [reason]);
  throw new Fault("caller.denied", reason.text, { hint: reason.fix });
}

const howToAsk =
  "People: run the command outside of workspaces and agents. Browsers: open the link that signalbox web prints. Programs: send Authorization: Bearer <token>. Agents: use the token the run was started with.";

const onlyPersons: Reason = {
  code: "only-human",
  text: "Only a person may do this.",
  fix: "Ask the person who runs Signalbox.",
};

function otherTask(own: string): Reason {
  const text = `This credential belongs to another task, ${own}.`;
  return { code: "other-task", text, fix: "Ask only about your own task." };
}

/** Whether a request is about this task; one that names no task concerns none. */
async function isAbout(core: Core, { params, query, caller, folder }: About, task: string): Promise<boolean> {
  const reference = params.task ?? query.task;
  if (reference === undefined) return true;
  const about = { params: { task: reference }, query, caller, folder, body: {}, lastEvent: "" };
  return (await lookUp(core, about))?.task.id === task;
}

/** In a workspace nobody acts for a person, whatever the token. */
async function mustBeOutside(core: Core, { name, access, method }: Route, { folder }: About): Promise<void> {
  if (access !== "person" || method === "GET") return;
  const id = await taskOfFolder(core.store, folder);
  const own = id === undefined ? undefined : await core.store.getTask(id);
  if (own === undefined) return;
  const reason = inWorkspace(folder);
  await core.refusals.note(own.task, { kind: name, actor: { role: "human" } }, [reason]);
  throw new Refusal([reason]);
}

function inWorkspace(folder: string): Reason {
  const text = `${folder} is inside a workspace, where commands speak for the agent, not for a person.`;
  return { code: "in-workspace", text, fix: "Run the command from your own checkout of the repository." };
}

/**
 * The actor of a request about a task. A caller who is not authorised is refused before the engine is asked, and the
 * refusal goes into the task's history like every other.
 */
export async function actorFor(
  core: Core,
  { task }: StoredTask,
  { caller, folder }: Pick<Asked<unknown, unknown>, "caller" | "folder">,
  request: (actor: Actor) => Request,
): Promise<Actor> {
  const actor = claimOf(caller);
  const reason = await whyNot(core, task, caller, folder);
  if (reason === undefined) return actor;
  await core.refusals.note(task, request(actor), [reason]);
  if (caller.kind === "nobody") {
    core.refusals.stranger();
    throw new Fault("caller.unknown", reason.text, { hint: reason.fix });
  }
  throw new Refusal([reason]);
}

/** The actor that a caller claims to be, authorised or not. */
export function claimOf(caller: Caller): Actor {
  if (caller.kind === "human") return { role: "human" };
  if (caller.kind === "nobody") return { role: "nobody" };
  return { role: caller.credential.role, run: caller.credential.run };
}

async function whyNot(core: Core, task: Task, caller: Caller, folder: string): Promise<Reason | undefined> {
  if (caller.kind === "nobody") {
    return {
      code: "no-credential",
      text: `This needs a credential. ${caller.why}`,
      fix: howToAsk,
    };
  }
  if (caller.kind === "human") {
    const own = await taskOfFolder(core.store, folder);
    if (own === undefined) return undefined;
    return inWorkspace(folder);
  }
  const { credential, isOver } = caller;
  if (credential.task !== task.id) return otherTask(credential.task);
  // A run that the workflow has ended may not write into the task file either, which the engine does not check.
  const isLive = Object.values(task.runs).some(({ key }) => key === credential.run);
  if (isOver || !isLive) {
    const text = `The run ${credential.run} is over; it can no longer ask for anything.`;
    return { code: "run-over", text, fix: "Stop here." };
  }
  const run = await core.store.runs.get(`${task.id}/${credential.run}`);
  if (run !== undefined && run.folder !== "" && folder !== "" && !contains(run.folder, folder)) {
    const text = `The run ${credential.run} works in ${run.folder}, but this was asked from ${folder}.`;
    return { code: "other-folder", text, fix: `Ask from ${run.folder}.` };
  }
  return undefined;
}

/**
 * The task that a request is about. A run learns nothing about other tasks, not even whether there is one of that name: it
 * is refused as for any other task.
 */
export async function findTask(
  core: Pick<Core, "store" | "refusals">,
  about: Asked<{ readonly project?: string }, unknown>,
): Promise<StoredTask> {
  const { params, query, caller } = about;
  const stored = await lookUp(core, about);
  if (stored !== undefined) return stored;
  const { task: reference = "" } = params;
  if (caller.kind === "run") {
    const reason = otherTask(caller.credential.task);
    const own = await core.store.getTask(caller.credential.task);
    if (own !== undefined) await core.refusals.note(own.task, { kind: "find", actor: claimOf(caller) }, [reason]);
    throw new Refusal([reason]);
  }
  if (reference === ".")
    throw new Fault("task.missing", "This folder belongs to no task.", {
      hint: "Name the task, or run this inside its workspace. List tasks with signalbox task list.",
    });
  const where = query.project === undefined ? "" : ` in ${query.project}`;
  throw new Fault("task.missing", `There is no task ${JSON.stringify(reference)}${where}.`, {
    hint: `${await meant(core.store, reference, query.project, caller)}${names}\nTo see them all: signalbox task list --all --open --closed`,
  });
}

/**
 * The task that a request names, if there is one. `.` is the task of the caller's credential, or of the workspace that the caller is
 * in.
 */
async function lookUp(
  { store }: Pick<Core, "store">,
  { params, query, caller, folder }: Asked<{ readonly project?: string }, unknown>,
): Promise<StoredTask | undefined> {
  const { task: reference = "" } = params;
  if (reference !== ".") return store.findTask(reference, query.project ?? (await projectOf(store, caller)));
  const own = caller.kind === "run" ? caller.credential.task : await taskOfFolder(store, folder);
  return own === undefined ? undefined : store.getTask(own);
}

/** The id, name or branch that was probably meant. A run is not told about tasks of others. */
async function meant(
  store: Core["store"],
  reference: string,
  project: string | undefined,
  caller: Caller,
): Promise<string> {
  if (caller.kind === "run") return "";
  const known = await store.listTasks(project === undefined ? {} : { project }, { limit: maxMeant });
  const candidates = known.flatMap(({ task, isOpen }) => [
    ...[task.id, `${task.project}#${task.number}`],
    ...(isOpen ? [task.branch] : []),
  ]);
  const found = nearest(reference, candidates);
  return found === undefined ? "" : `Did you mean ${JSON.stringify(found)}?\n`;
}

/** The newest tasks are compared; older ones are rarely named. */
const maxMeant = 500;

/** Numbers and branches that a run names are those of its own project. */
async function projectOf(store: Core["store"], caller: Caller): Promise<string | undefined> {
  return caller.kind === "run" ? (await store.getTask(caller.credential.task))?.task.project : undefined;
}

const names =
  "A task is named by its id or project#number; in its project's folder also by its number, or while it is open its branch.";

/** The task whose workspace contains a folder. */
async function taskOfFolder(store: Core["store"], folder: string): Promise<string | undefined> {
  if (folder === "") return undefined;
  const inside = (await store.workspaces.list({})).filter(({ path }) => contains(path, folder));
  return inside.find(({ task }) => task !== "")?.task;
}

/** The ids of tasks that are named in any of the accepted ways. */
export function idsOf(core: Core, references: readonly string[], project: string): Promise<readonly string[]> {
  const about = { query: { project }, caller: { kind: "human" as const }, folder: "", body: {}, lastEvent: "" };
  return Promise.all(references.map(async (task) => (await findTask(core, { ...about, params: { task } })).task.id));
}

/** Refuses a task that is over: it cannot be reopened, but its branch can be continued in a new task. */
export function mustBeOpen({ task, isOpen }: Pick<StoredTask, "task" | "isOpen">): void {
  if (isOpen) return;
  const text = `The task is in "${task.status}", which is the end.`;
  const fix = `Continue its branch in a new task: signalbox task create --from ${task.id}`;
  throw new Refusal([{ code: "terminal", text, fix }]);
}

/** Refuses to merge or publish a task that is over. If its work is done and not merged, says how to get it. */
export async function mustBeUnfinished(core: Core, stored: Pick<StoredTask, "task" | "isOpen">): Promise<void> {
  const { task, isOpen } = stored;
  const work = isOpen ? undefined : await unmergedWork(core, task);
  if (work === undefined) return mustBeOpen(stored);
  const text = `The task is in "${task.status}", which is the end. ${work.text}`;
  throw new Refusal([{ code: "terminal", text, fix: work.fix }]);
}

/** Where the work of a task is that is done, and that Signalbox has not merged, and how to get it. */
export async function unmergedWork(
  { store, workflows }: Pick<Core, "store" | "workflows">,
  task: Task,
): Promise<{ readonly text: string; readonly fix: string; readonly isUndone?: true } | undefined> {
  const { id, branch, prUrl, part, status } = task;
  const state = (await workflows.get(task.workflowHash)).states[status];
  // The work of a part is in its parent's branch.
  if (state?.outcome !== "done" || branch === "" || part !== undefined) return undefined;
  const merge = await store.merges.get(id);
  // The target still has the commits of a merge that was undone, so git would not merge them again.
  if (merge?.state === "undone")
    return {
      text: `Its merge into "${merge.target}" was undone.`,
      fix: `To bring its work back in a new task: signalbox task create --from ${id}`,
      isUndone: true,
    };
  if (merge?.state === "merged" || (await store.pullRequests.get(id))?.state === "merged") return undefined;
  const fix = `To merge it into the branch that you have checked out: signalbox task fetch ${id} && git merge ${shellWord(branch)}`;
  return {
    text: `Its work is on the branch "${branch}".`,
    fix: prUrl === "" ? fix : `To review and merge it: ${prUrl}`,
  };
}
