import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Task } from "../engine/task.ts";
import { Fault } from "../fault.ts";
import { createMemo } from "../keyed.ts";
import type { Git } from "../ports/git.ts";
import type { Project, Store, StoredEvent, StoredTask, TaskFilter } from "../ports/store.ts";
import type { Clock } from "../ports/system.ts";
import type { TicketList, Tickets } from "../ports/tickets.ts";
import type { Core } from "./core.ts";
import type { ForgeOf } from "./forge/push-task.ts";

/** The branch that a task's work is merged into, and starts from unless its workflow says otherwise. */
export function targetOf({ defaultBranch }: Project, { base }: Pick<Task, "base">): string {
  return base || defaultBranch;
}

/** The task into whose branch a task is merged, because it is a part of its plan; empty where it is merged elsewhere. */
export function parentOf({ parent = "", part }: Partial<Pick<Task, "parent" | "part">>): string {
  return part === undefined ? "" : parent;
}

/** Whether a branch is one that others use too. */
export function isShared(project: Project, task: Pick<Task, "base">, branch: string): boolean {
  return branch === project.defaultBranch || branch === targetOf(project, task);
}

/** A task as people name it: `coffee#1`. */
export function shownTask({ project, number }: Pick<Task, "project" | "number">): string {
  return `${project}#${number}`;
}

/** The command with which a person names the new path of a moved repository. */
export function whereItIs(project: string): string {
  return `signalbox project update ${project} --path PATH`;
}

/** The fault for a project whose repository folder does not exist; undefined if it does. */
export function movedRepository({ name, path }: Pick<Project, "name" | "path">): Fault | undefined {
  if (existsSync(path)) return undefined;
  return new Fault("git.not-a-repository", `The repository of ${name} is no longer at ${path}.`, {
    hint: `Name its new path: ${whereItIs(name)}`,
  });
}

/** The fault of a task's worktree whose repository does not exist; undefined if it does, or where the task has no worktree. */
export async function missingRepository(
  store: Pick<Store, "workspaces" | "getProject">,
  task: string,
): Promise<Fault | undefined> {
  const worktree = (await store.workspaces.list({ task })).find(({ kind }) => kind === "worktree");
  const project = worktree && (await store.getProject(worktree.project));
  return project && movedRepository(project);
}

/** Why no task gets a workspace. Fewer folders may exist: a task that waits for a person has its place too. */
export function allTaken(project: string, size: number): string {
  const slots = size === 1 ? `The only slot of ${project} is` : `All ${size} slots of ${project} are`;
  return `${slots} taken by ${size === 1 ? "a task that has" : "tasks that have"} begun; a task that waits for a person keeps its slot.`;
}

const pageSize = 500;

/** A task's whole history, from its beginning. */
export async function* eventsOf(store: Store, task: string): AsyncGenerator<StoredEvent> {
  for (let after = 0; ; ) {
    const page = await store.listEvents({ task }, after, pageSize);
    if (page.length === 0) return;
    yield* page;
    after = page.at(-1)?.position ?? 0;
  }
}

/** Every task that matches a filter, the newest first. */
export async function allTasks(store: Pick<Store, "listTasks">, filter: TaskFilter): Promise<readonly StoredTask[]> {
  const found: StoredTask[] = [];
  for (let before: number | undefined; ; ) {
    const limit = pageSize;
    const page = await store.listTasks(filter, before === undefined ? { limit } : { before, limit });
    found.push(...page);
    before = page.at(-1)?.order;
    if (before === undefined) return found;
  }
}

/** The id of the ended task whose work a task continues; empty where it continues none. */
export async function continuedBy(store: Pick<Store, "listEvents">, id: string): Promise<string> {
  const [first] = await store.listEvents({ task: id }, 0, 1);
  return first?.event.type === "task.created" ? String(first.event.data.continues ?? "") : "";
}

/** The project of a task, which must exist. */
export async function projectOf(store: Store, name: string): Promise<Project> {
  const project = await store.getProject(name);
  if (project === undefined) throw new Fault("project.missing", `The project "${name}" no longer exists.`);
  return project;
}

export async function mustHave({ store }: Core, name: string): Promise<Project> {
  const project = await store.getProject(name);
  if (project !== undefined) return project;
  const names = (await store.listProjects()).map((each) => each.name);
  throw new Fault("project.missing", `There is no project "${name}".`, {
    hint: names.length > 0 ? `The projects are: ${names.join(", ")}` : "Add one with signalbox init in a repository.",
  });
}

/** The name of the remote that Signalbox uses. */
export const remoteName = "origin";

/** The address of a project's remote; undefined where it has none. */
export async function remoteOf(
  git: Pick<Git, "remoteUrl">,
  { path }: Project,
  way: "push" | "fetch" = "push",
): Promise<string | undefined> {
  const address = await git.remoteUrl(path, remoteName, way);
  // A relative path is relative to the repository's folder; in anything else, the part before the colon is a host.
  return address === undefined || /^(\/|[^/]*:)/.test(address) ? address : resolve(path, address);
}

/** The tickets of a project. */
export type TicketsOf = (project: Project) => Tickets;

/** For a daemon that has no access to tickets. */
export const noTickets: TicketsOf = () => {
  throw new Fault("ticket.unavailable", "This daemon cannot read tickets.");
};

interface TicketSourcePorts {
  readonly clock: Clock;
  readonly files: TicketsOf;
  readonly forgeOf: ForgeOf;
  /** Read every time, because the configuration may have changed. */
  choice(project: Project): { readonly tickets: "files" | "github"; readonly ticketsLabel: string };
}

/** Milliseconds that a list of issues is cached: a forge is not asked for all its issues whenever an agent is idle. */
const cacheTime = 10_000;

/** The tickets of each project, from the source in its configuration. */
export function createTicketsOf({ clock, files, forgeOf, choice }: TicketSourcePorts): TicketsOf {
  const kept = createMemo<TicketList>({ maxAge: { clock, ms: cacheTime } });
  return (project) => {
    const { tickets, ticketsLabel: label } = choice(project);
    if (tickets === "files") return files(project);
    const key = `${project.name}\n${label}`;
    const issues = async () => (await forgeOf(project)).forge.ticketsWith?.(label) ?? missing(project);
    return {
      place: "issue",
      list: () => kept.get(key, async () => (await issues()).list()),
      get: async (id) => (await issues()).get(id),
      async change(id, change) {
        try {
          return await (await issues()).change(id, change);
        } finally {
          kept.forget(key);
        }
      },
    };
  };
}

function missing({ name, path }: Project): never {
  throw new Fault(
    "ticket.unavailable",
    `${name} has no GitHub repository that Signalbox can access: see the remote of ${path}.`,
    {
      hint: "Log in with gh auth login, or use files: signalbox config set tickets files",
    },
  );
}

/** The time of a note, as `tk` writes it: to the second. */
export function noteTime(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
}

/** `{uuid8}`: constant for the whole task, in its branch and in every prompt. */
export function uuid8Of({ id }: Pick<Task, "id">): string {
  return hash("sha256", id).slice(0, 8);
}
