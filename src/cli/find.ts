import { execFileSync } from "node:child_process";
import { realpathSync, statSync } from "node:fs";
import { basename, dirname, resolve, sep } from "node:path";
import type { Call } from "../api/client.ts";
import { type ProjectView, routes } from "../api/routes.ts";
import type { TaskView } from "../api/tasks.ts";
import type { SlotView } from "../api/tickets.ts";
import { didYouMean } from "../engine/language/problem.ts";
import { type AgentCommand, whyNotFrom } from "../engine/reconcile.ts";
import { Fault } from "../fault.ts";
import { findProgram } from "../find-program.ts";
import { checkedOutBranch, gitFoldersOf } from "../git-folder.ts";
import { contains } from "../home/agents-at-work.ts";
import { resolveConfig } from "../home/config.ts";
import { findRepository, shownPath } from "../home/places.ts";
import { findWorkflow } from "../home/workflows.ts";
import { createCall } from "./connect.ts";
import { type Context, configLayers } from "./context.ts";
import { loadSound } from "./findings.ts";

/** The titles of the agent programs that people also run in their own terminals, by harness name. */
export const agentTitles = {
  claude: "Claude Code",
  codex: "Codex",
  gemini: "Gemini CLI",
  opencode: "OpenCode",
} as const;

export type AgentName = keyof typeof agentTitles;

export const agentNames = Object.keys(agentTitles) as readonly AgentName[];

/** The agent programs on the PATH. */
export function findAgents(path: string): readonly AgentName[] {
  return agentNames.filter((name) => findProgram(name, path) !== "");
}

/**
 * The project that a command changes: the named one, otherwise this folder's. It is never guessed: work that starts in
 * the wrong repository cannot be undone.
 */
export async function findProject(call: Call, named: string | undefined): Promise<ProjectView> {
  const { projects } = await call(routes.listProjects);
  if (named !== undefined) return projectNamed(projects, named);
  const here = projectAt(projects, process.cwd());
  if (here !== undefined) return here;
  throw noProjectHere(projects, process.cwd());
}

/** The project that a command shows. Outside of git this is the only project, since reading changes nothing. */
export async function findProjectToShow(call: Call, named: string | undefined): Promise<ProjectView> {
  const { projects } = await call(routes.listProjects);
  const [only, another] = projects;
  const isAlone = only !== undefined && another === undefined && findRepository(realPath(process.cwd())) === undefined;
  return named === undefined && isAlone ? only : findProject(call, named);
}

/** The project of this folder, if it is in one. */
export async function projectHere(call: Call): Promise<ProjectView | undefined> {
  const { projects } = await call(routes.listProjects);
  return projectAt(projects, process.cwd());
}

/**
 * The project whose repository contains a folder. A worktree belongs to its main repository. A submodule, or any other
 * repository inside a project, is a separate repository.
 */
export function projectAt(projects: readonly ProjectView[], folder: string): ProjectView | undefined {
  const real = realPath(folder);
  const repository = findRepository(real);
  const around = innermost(projects, real);
  if (around !== undefined && (repository === undefined || contains(repository, realPath(around.path)))) return around;
  const main = mainRepository(real);
  return projects.find(({ path }) => realPath(path) === main);
}

export function projectNamed(projects: readonly ProjectView[], name: string): ProjectView {
  const found = projects.find((project) => project.name === name);
  if (found !== undefined) return found;
  const names = projects.map((project) => project.name);
  throw new Fault("project.missing", `There is no project "${name}".`, {
    hint: `${didYouMean(name, names)}\nTo see them: signalbox project list`,
  });
}

export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Why a folder has no project, and what to do instead. */
export function noProjectHere(projects: readonly ProjectView[], folder: string): Fault {
  const repository = findRepository(realPath(folder));
  const names = projects.map(({ name }) => name).join(", ");
  if (repository !== undefined) {
    const around = innermost(projects, realPath(folder));
    const inside = around === undefined ? "" : `, although it is in the folder of "${around.name}"`;
    const other = projects.length === 0 ? "" : `\nTo use another project, add --project with its name: ${names}`;
    return new Fault("project.missing", `The git repository ${shownPath(repository)} is not a project${inside}.`, {
      hint: `To make it one: signalbox init${other}`,
    });
  }
  if (projects.length === 0) {
    return new Fault("project.missing", "There is no project yet.", {
      hint: "To register a repository, run in it: signalbox init",
    });
  }
  return new Fault("usage", "This folder is not in a project.", {
    hint: `Go to a project's folder, or add --project with its name: ${names}`,
  });
}

function innermost(projects: readonly ProjectView[], folder: string): ProjectView | undefined {
  return projects
    .filter(({ path }) => `${folder}${sep}`.startsWith(`${realPath(path).replace(/[/\\]$/, "")}${sep}`))
    .sort((a, b) => b.path.length - a.path.length)[0];
}

interface FoundSlot {
  readonly project: string;
  readonly slot: SlotView;
}

/** A named agent to change, of the named project or of this folder's. */
export async function findSlot(call: Call, named: string | undefined, name: string): Promise<FoundSlot> {
  return slotOf(call, await findProject(call, named), name);
}

/** A named agent to show. */
export async function findSlotToShow(call: Call, named: string | undefined, name: string): Promise<FoundSlot> {
  return slotOf(call, await findProjectToShow(call, named), name);
}

async function slotOf(call: Call, { name: project }: ProjectView, name: string): Promise<FoundSlot> {
  const { agents } = await call(routes.getCrew, { params: { project } });
  const slot = agents.find((each) => each.name === name);
  if (slot !== undefined) return { project, slot };
  const names = agents.map((each) => each.name);
  throw new Fault("agent.missing", `${project} has no agent "${name}".`, {
    hint: names.length === 0 ? "Create some: signalbox crew spawn 3" : didYouMean(name, names),
  });
}

/** The current or last task of an agent: its output can be read afterwards, too. */
export function lastTaskOf({ name, lastTask }: SlotView): string {
  if (lastTask !== "") return lastTask;
  throw new Fault("agent.idle", `${name} has had no task yet.`, {
    hint: `Give it one: signalbox crew assign ${name} TICKET`,
  });
}

/** Refuses a command that does not apply in the agent's state. */
export function mustSuit(command: AgentCommand, { name, state }: SlotView): void {
  const refusal = whyNotFrom(command, name, state);
  if (refusal !== undefined) throw new Fault("agent.state", refusal.text, { hint: refusal.fix });
}

/** The branch that is checked out in a folder's repository; undefined outside a repository, or with a detached HEAD. */
export function branchAt(folder: string): string | undefined {
  const repository = findRepository(folder);
  const found = repository === undefined ? undefined : gitFoldersOf(repository);
  return found && checkedOutBranch(found.gitFolder);
}

/** The main repository of a folder, also of a worktree; undefined if the folder is in none. */
export function mainRepository(folder: string): string | undefined {
  const repository = findRepository(folder);
  const found = repository === undefined ? undefined : gitFoldersOf(repository);
  if (!found?.isLinked) return found && repository;
  // A bare repository is the repository itself.
  return basename(found.commonFolder) === ".git" ? dirname(found.commonFolder) : found.commonFolder;
}

/** Whether a repository has a commit that agents can start from. */
export function hasCommits(root: string): boolean {
  return succeeds("-C", root, "rev-parse", "--quiet", "--verify", "HEAD^{commit}");
}

/** Creates the first commit, even without files. */
export const firstCommit = 'git commit --allow-empty -m "The beginning"';

export const unknownAuthor = "git does not know your name and email, and cannot commit without them.";

/** Commands that set git's author; none if it is set. An author that git would guess does not count. */
export function identityCommands(folder: string): readonly string[] {
  const isKnown = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"].every((name) =>
    succeeds("-C", folder, "-c", "user.useConfigOnly=true", "var", name),
  );
  return isKnown ? [] : ['git config --global user.name "Your Name"', "git config --global user.email you@example.org"];
}

function succeeds(...args: readonly string[]): boolean {
  try {
    execFileSync("git", args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** A task reference, as the routes take it. */
export interface NamedTask {
  readonly params: { readonly task: string };
  readonly query: { readonly project?: string };
}

/** Resolves a reference. Numbers and branches are those of this folder's project; other forms name the task. */
export async function nameTask(call: Call, reference: string): Promise<NamedTask> {
  const task = asReference(reference);
  // The daemon knows a run's project, and answers a run about its own task only.
  if (process.env.SIGNALBOX_TOKEN) return { params: { task }, query: {} };
  if (reference === "." || /^.+#\d+$/.test(reference)) return { params: { task }, query: {} };
  const { projects } = await call(routes.listProjects);
  const here = projectAt(projects, process.cwd());
  const plain = { params: { task }, query: here === undefined ? {} : { project: here.name } };
  const named = (await inProject(call, projects, reference, plain)) ?? plain;
  if (here === undefined && named === plain) await refuseForeign(call, plain, projects);
  return named;
}

/** Refuses a number or branch in a repository that is not a project: it could be meant for that repository. */
async function refuseForeign(call: Call, named: NamedTask, projects: readonly ProjectView[]): Promise<void> {
  const { task: reference } = named.params;
  const [, number] = /^#(\d+)$/.exec(reference) ?? [];
  if (number !== undefined) {
    throw new Fault("usage", `"${number}" is the number of a task in a project, and this folder is not in one.`, {
      hint: `Name the project: ${projects.map(({ name }) => `${name}#${number}`).join(", ") || "there is none yet"}`,
    });
  }
  if (findRepository(realPath(process.cwd())) === undefined) return;
  const found = await call(routes.getTask, named).catch(() => undefined);
  if (found === undefined || found.task.id === reference) return;
  const shown = shownTask(found.task);
  throw new Fault("usage", `"${reference}" is the branch of ${shown}, and this is another repository.`, {
    hint: `If you mean that task, write ${shown}`,
  });
}

/** `coffee/stronger`, a terminal's title: a project and its branch. A branch with this whole name takes precedence. */
async function inProject(call: Call, projects: readonly ProjectView[], reference: string, plain: NamedTask) {
  const named = projects.find(({ name }) => reference.startsWith(`${name}/`));
  if (named === undefined) return undefined;
  const isThere = await call(routes.getTask, plain).then(
    () => true,
    () => false,
  );
  if (isThere) return undefined;
  return { params: { task: reference.slice(named.name.length + 1) }, query: { project: named.name } };
}

/** A bare number is a task's number, because shells treat `#12` as a comment. */
export function asReference(reference: string): string {
  return /^\d+$/.test(reference) ? `#${reference}` : reference;
}

/** `12:state=working` is `#12:state=working`. */
export function asDependency(dependency: string): string {
  return dependency.replace(/^[^:]*/, asReference);
}

/** `coffee#12` */
export function shownTask({ project, number }: Pick<TaskView, "project" | "number">): string {
  return `${project}#${number}`;
}

/** The states of the workflow that new tasks of a project get. */
export function statesHere(context: Context, project: ProjectView | undefined): readonly string[] {
  const repository = project?.path ?? context.repository;
  const { workflow } = resolveConfig(configLayers(context, repository, project));
  return Object.keys(loadSound(findWorkflow({ home: context.home, repository }, workflow.value)).states);
}

/** What `pause` and `resume` apply to: a project, or everything. */
export async function whosePause(
  call: Call,
  { project, all }: { readonly project?: string; readonly all: boolean },
): Promise<{ readonly project?: string; readonly all?: boolean }> {
  if (all && project !== undefined)
    throw new Fault("usage", "--project and --all cannot both be given.", { hint: "Leave one of them out." });
  return all ? { all } : { project: (await findProject(call, project)).name };
}

/** A workflow for the daemon, which runs in another folder: paths are made absolute. */
export function workflowReference(reference: string): string {
  return reference.includes("/") || /\.ya?ml$/.test(reference) ? resolve(reference) : reference;
}

interface FoundWorkspace {
  readonly task: TaskView;
  readonly folder: string;
}

/** The workspace of a task; throws if its folder does not exist. */
export async function workspaceOf(context: Context, reference: string): Promise<FoundWorkspace> {
  const call = createCall(context);
  const { task } = await call(routes.getTask, await nameTask(call, reference));
  const folder = task.workspace;
  if (folder === "") throw noWorkspace(task);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return { task, folder };
  throw new Fault("workspace.gone", `The workspace of ${shownTask(task)}, ${folder}, no longer exists.`, {
    hint: `Its collected commits are safe. See what can be done: signalbox task explain ${task.id}`,
  });
}

function noWorkspace(task: TaskView): Fault {
  const name = shownTask(task);
  if (task.phase === "over")
    return new Fault("workspace.none", `${name} is over, and its workspace is released.`, {
      hint: `See what it changed: signalbox task diff ${task.id}`,
    });
  return new Fault("workspace.none", `${name} has no workspace yet: it gets one when it starts.`, {
    hint: `See what it waits for: signalbox task explain ${task.id}`,
  });
}
