import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { findWorkflow, isPath } from "../../home/workflows.ts";
import type { Project, StoredTask } from "../../ports/store.ts";
import { shellWord } from "../../shell-quote.ts";
import { harnessNamed } from "../agents/harnesses.ts";
import { chooseWorkflow, continueHeld, setPermissions } from "../choose-workflow.ts";
import type { Core } from "../core.ts";
import { refuseAwaited } from "../dependencies.ts";
import type { Handler } from "../handlers.ts";
import { noteOfHome } from "../home-events.ts";
import { configFor } from "../make-task.ts";
import { taskWithBranch } from "../moved-target.ts";
import { mustHave, whereItIs } from "../project.ts";
import { projectView } from "../views.ts";
import { type Retired, retireProject } from "../workspaces/free-workspaces.ts";
import { followProject } from "../workspaces/trouble.ts";
import { canBeForgotten } from "./edit-task.ts";

export function listProjects({ store }: Core): Handler<Routes["listProjects"]> {
  return async () => ({ projects: (await store.listProjects()).map(projectView) });
}

export function getProject(core: Core): Handler<Routes["getProject"]> {
  return async ({ params }) => projectView(await mustHave(core, params.project ?? ""));
}

export function projectWorkflow(core: Core): Handler<Routes["projectWorkflow"]> {
  return async ({ params }) => {
    const project = await mustHave(core, params.project ?? "");
    const { found, text, hash } = await chooseWorkflow(core, project, configFor(core, project).workflow.value);
    return { name: found.name, from: found.from, file: found.file, hash, text };
  };
}

/** An empty setting is taken from the repository's configuration, else from the user's. */
export function addProject(core: Core): Handler<Routes["addProject"]> {
  return async ({ body, caller }) => {
    const { name, path, url, ...given } = body;
    checkName(name);
    const repository = await findRepository(core, await folderFor(core, name, path, url));
    await refuseTaken(core, repository.path);
    checkWorkflow(core, repository.path, given.workflow);
    checkHarnesses(core, given);
    await checkBranch(core, repository.path, given.defaultBranch);
    const project: Project = {
      name,
      path: repository.path,
      defaultBranch: given.defaultBranch ?? repository.branch,
      poolSize: given.poolSize ?? core.config().values.poolSize ?? defaultPoolSize,
      workflow: given.workflow ?? "",
      harness: given.harness ?? "",
      reviewHarness: given.reviewHarness ?? "",
      branchPrefix: given.branchPrefix ?? "",
      workspaces: given.workspaces ?? "clone",
      fullPermissions: given.fullPermissions ?? "ask",
      ...(await obeyedAt(core, repository.path, given.workspaces !== "worktree")),
      createdAt: core.clock.now(),
    };
    await core.store.addProject(project);
    await noteOfHome(core, caller, { type: "project.added", data: { project: name, path: project.path } });
    core.log.info("A project was added", { project: name, path: project.path });
    return projectView(project);
  };
}

export function updateProject(core: Core): Handler<Routes["updateProject"]> {
  return async ({ params, body, caller }) => {
    const known = await mustHave(core, params.project ?? "");
    const { name, path: before, obeyed } = known;
    const { path, ...rest } = body;
    const place = path === undefined ? { path: before } : await placeAt(core, path);
    await refuseTaken(core, place.path, name);
    checkWorkflow(core, place.path, rest.workflow);
    checkHarnesses(core, rest);
    await checkBranch(core, place.path, rest.defaultBranch);
    if (rest.defaultBranch !== undefined) await refuseTaskBranch(core, { name, path: place.path }, rest.defaultBranch);
    // What agents in worktrees change until they are clones again, a person must trust.
    const shared =
      rest.workspaces === "worktree" && obeyed !== undefined ? { obeyed: { ...obeyed, isApart: false } } : {};
    const project = await core.store.updateProject(name, { ...rest, ...shared, ...place });
    const keys = Object.keys(body).filter((key) => known[key as keyof Project] !== project[key as keyof Project]);
    if (keys.length > 0) await noteOfHome(core, caller, { type: "project.changed", data: { project: name, keys } });
    if (path !== undefined && core.pools !== undefined) {
      await followProject({ ...core.pools, submit: core.submit }, project);
      for (const command of [whereItIs(name), olderHint]) await continueHeld(core, name, command);
    }
    core.scheduler.wake();
    core.pools?.room.freed(name);
    if (rest.fullPermissions !== undefined) await setPermissions(core, name, rest.fullPermissions);
    return projectView(project);
  };
}

export function removeProject(core: Core): Handler<Routes["removeProject"]> {
  return async ({ params, caller }) => {
    const project = await mustHave(core, params.project ?? "");
    const { name } = project;
    // The store refuses to remove a project with open tasks, so its workspaces are kept then.
    const open = await core.store.listTasks({ project: name, isOpen: true }, { limit: 100 });
    await refuseStuck(core, name, open);
    await refuseAwaited(core, ({ project }) => project === name);
    const retired = core.pools === undefined || open.length > 0 ? nothing : await retireProject(core.pools, project);
    await core.store.removeProject(name);
    await noteOfHome(core, caller, { type: "project.removed", data: { project: name } });
    core.log.info("A project was removed", { project: name, ...retired });
    return retired;
  };
}

/** Tasks in a terminal state whose last effects failed cannot be cancelled, so the hint names commands that work. */
async function refuseStuck(core: Core, project: string, open: readonly StoredTask[]): Promise<void> {
  const stuck: string[] = [];
  for (const { task } of open) if (await canBeForgotten(core, task)) stuck.push(task.id);
  if (stuck.length === 0) return;
  const text = `The project "${project}" has ended tasks whose last effects have failed: ${stuck.length}.`;
  throw new Fault("store.in-use", text, {
    hint: `See why: signalbox task explain ${stuck[0]}\nOr delete them: signalbox task delete ${stuck.join(" ")}`,
  });
}

const nothing: Retired = { control: "", salvaged: 0, left: [] };

const defaultPoolSize = 4;

/** Part of the hint with which older versions held a task whose repository was missing. */
const olderHint = "update the project";

/** A repository is one project: the workspaces of two would collide. */
async function refuseTaken({ store }: Core, path: string, own?: string): Promise<void> {
  const taken = (await store.listProjects()).find((each) => each.path === path && each.name !== own);
  if (taken === undefined) return;
  const remove = `signalbox project remove ${taken.name}`;
  throw new Fault("project.exists", `${path} is already the project "${taken.name}".`, {
    hint:
      own === undefined
        ? `Change it: signalbox project update ${taken.name}`
        : `If that one was made by mistake, remove it first: ${remove}`,
  });
}

/** A person who names another repository thereby trusts its present git settings. */
async function placeAt(core: Core, path: string): Promise<Pick<Project, "path" | "obeyed">> {
  const found = await findRepository(core, path);
  return { path: found.path, ...(await obeyedAt(core, found.path)) };
}

async function obeyedAt({ git }: Core, path: string, isApart = false): Promise<Pick<Project, "obeyed">> {
  return git === undefined ? {} : { obeyed: { ...(await git.obeyed(path)), isApart } };
}

/** The given folder, or a folder of the daemon's with a clone of the URL. */
async function folderFor(core: Core, name: string, path?: string, url?: string): Promise<string> {
  if (path !== undefined && url === undefined) return path;
  if (url === undefined || path !== undefined) {
    throw new Fault("project.invalid", "A project needs either the path of a repository or the URL of one to clone.", {
      hint: "Give one of the two.",
    });
  }
  // Checked first: a name that is taken must not cost a clone.
  if ((await core.store.getProject(name)) !== undefined) {
    throw new Fault("project.exists", `The project "${name}" already exists.`, {
      hint: "Choose another name: --name NAME",
    });
  }
  if (core.git === undefined) throw new Fault("git.missing", "The daemon runs without git, so it cannot clone.");
  const folder = join(core.places.repositories, name);
  await core.inTurn(`clone ${name}`, async () => core.git?.clone({ from: url, folder }));
  return folder;
}

/** Names appear in references (`coffee#12`), in paths and on screens. */
function checkName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$/.test(name)) return;
  throw new Fault("project.invalid", `${JSON.stringify(name)} cannot be a project's name.`, {
    hint: "Use letters, digits, dots, - and _, beginning with a letter or digit, at most 50.",
  });
}

/** Reports a wrong name now. Whether the file is valid and trusted is checked when a task is created. */
function checkWorkflow({ home }: Core, repository: string, name = ""): void {
  if (name === "") return;
  if (isPath(name)) {
    throw new Fault("project.invalid", `${name} is a path. A project's workflow is given by its name.`, {
      hint: "Put the file into workflows/ in your Signalbox home (~/.signalbox), or into .signalbox/workflows of the repository; then give its name.",
    });
  }
  findWorkflow({ home, repository }, name);
}

/** An empty name lets the configuration decide. */
function checkHarnesses({ agents }: Core, given: { harness?: string; reviewHarness?: string }): void {
  if (agents === undefined) return;
  for (const name of [given.harness, given.reviewHarness]) if (name) harnessNamed(agents.ports.harnesses, name);
}

/** The root of the repository at a path, and its default branch. */
async function findRepository({ commands }: Core, path: string): Promise<{ path: string; branch: string }> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new Fault("project.invalid", `There is no folder ${path}.`, { hint: "Name an existing one." });
  const git = gitIn(commands, path);
  const top = await git("rev-parse", "--show-toplevel");
  if (top.code !== 0) {
    throw new Fault("project.invalid", `${path} is not in a git repository.`, {
      hint: `Create one: git -C ${shellWord(path)} init`,
    });
  }
  const head = await git("symbolic-ref", "--quiet", "--short", "HEAD");
  const branch =
    head.code === 0 ? head.output.trim() : likely((await git("branch", "--format=%(refname:short)")).output);
  return { path: await realpath(top.output.trim()), branch };
}

/** The default branch must exist. In a repository without a commit it must be the branch that is checked out. */
async function checkBranch({ commands }: Core, path: string, name?: string): Promise<void> {
  if (name === undefined) return;
  const git = gitIn(commands, path);
  if ((await git("symbolic-ref", "--quiet", "--short", "HEAD")).output.trim() === name) return;
  if ((await git("show-ref", "--verify", "--quiet", `refs/heads/${name}`)).code === 0) return;
  const isElsewhere = (await git("show-ref", "--verify", "--quiet", `refs/remotes/origin/${name}`)).code === 0;
  const branches = listedIn((await git("branch", "--format=%(refname:short)")).output);
  const known = branches.length > 0 ? `Its branches are: ${branches.join(", ")}` : "Commit something first.";
  throw new Fault("project.invalid", `${path} has no branch ${JSON.stringify(name)}.`, {
    hint: isElsewhere ? `Its remote has it. Create it here: git -C ${path} branch ${name} origin/${name}` : known,
  });
}

/** A task's branch cannot be the default branch: it is deleted once it is merged. */
async function refuseTaskBranch({ store }: Core, project: Pick<Project, "name" | "path">, branch: string) {
  const task = await taskWithBranch(store, project, branch);
  if (task === undefined) return;
  const text = `"${branch}" is the branch of ${task.project}#${task.number} (${task.id}), so it cannot be the default branch.`;
  throw new Fault("project.invalid", text, {
    hint: `To keep its commits, create another branch for them first: git -C ${shellWord(project.path)} branch NAME ${shellWord(branch)}`,
  });
}

function gitIn(commands: Core["commands"], path: string) {
  return (...args: readonly string[]) =>
    commands.run({ argv: ["git", "-C", path, ...args], cwd: path, env: gitEnvironment, timeout: 10_000 });
}

/** The default branch of a repository with a detached HEAD: main or master, else the only branch. */
function likely(listed: string): string {
  const branches = listedIn(listed);
  const [only = "main", ...others] = branches;
  return ["main", "master"].find((each) => branches.includes(each)) ?? (others.length === 0 ? only : "main");
}

function listedIn(output: string): readonly string[] {
  return output.split("\n").filter((each) => each !== "" && !each.startsWith("("));
}

const gitEnvironment = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", LC_ALL: "C" };
