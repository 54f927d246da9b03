import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { findWorkflow, isPath } from "../../home/workflows.ts";
import type { Project, StoredTask } from "../../ports/store.ts";
import { harnessNamed } from "../agents/harnesses.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { projectView } from "../views.ts";
import { followProject } from "../workspaces/moved-folders.ts";
import { type Retired, retireProject } from "../workspaces/retire-project.ts";
import { continueHeld } from "./continue-held.ts";
import { canBeForgotten } from "./export-task.ts";
import { setPermissions } from "./set-permissions.ts";

export function listProjects({ store }: Core): Handler<Routes["listProjects"]> {
  return async () => ({ projects: (await store.listProjects()).map(projectView) });
}

export function getProject(core: Core): Handler<Routes["getProject"]> {
  return async ({ params }) => projectView(await mustHave(core, params.project ?? ""));
}

/** Empty settings are those of the repository's own configuration, else the user's. */
export function addProject(core: Core): Handler<Routes["addProject"]> {
  return async ({ body }) => {
    const { name, path, url, ...given } = body;
    checkName(name);
    const repository = await findRepository(core, await folderFor(core, name, path, url));
    const taken = (await core.store.listProjects()).find((each) => each.path === repository.path);
    if (taken !== undefined) {
      throw new Fault("project.exists", `${repository.path} is the project "${taken.name}" already.`, {
        hint: `Change it with signalbox project update ${taken.name}`,
      });
    }
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
      workspaces: given.workspaces ?? "worktree",
      fullPermissions: given.fullPermissions ?? "ask",
      ...(await obeyedAt(core, repository.path)),
      createdAt: core.clock.now(),
    };
    await core.store.addProject(project);
    core.log.info("A project was added", { project: name, path: project.path });
    return projectView(project);
  };
}

export function updateProject(core: Core): Handler<Routes["updateProject"]> {
  return async ({ params, body }) => {
    const { name, path: before } = await mustHave(core, params.project ?? "");
    const { path, ...rest } = body;
    const place = path === undefined ? { path: before } : await placeAt(core, path);
    checkWorkflow(core, place.path, rest.workflow);
    checkHarnesses(core, rest);
    await checkBranch(core, place.path, rest.defaultBranch);
    const project = await core.store.updateProject(name, { ...rest, ...place });
    if (path !== undefined && core.pools !== undefined) {
      await followProject({ ...core.pools, submit: core.submit }, project);
      await continueHeld(core, name, movedRepository);
    }
    core.scheduler.wake();
    core.pools?.room.freed(name);
    if (rest.fullPermissions !== undefined) await setPermissions(core, name, rest.fullPermissions);
    return projectView(project);
  };
}

export function removeProject(core: Core): Handler<Routes["removeProject"]> {
  return async ({ params }) => {
    const project = await mustHave(core, params.project ?? "");
    const { name } = project;
    // A project with open tasks is refused by the store, before anything of it is touched.
    const open = await core.store.listTasks({ project: name, isOpen: true }, { limit: 100 });
    await refuseStuck(core, name, open);
    const retired = core.pools === undefined || open.length > 0 ? nothing : await retireProject(core.pools, project);
    await core.store.removeProject(name);
    core.log.info("A project was removed", { project: name, ...retired });
    return retired;
  };
}

/** Who is told to cancel tasks that have ended already would be sent round in circles. */
async function refuseStuck(core: Core, project: string, open: readonly StoredTask[]): Promise<void> {
  const stuck: string[] = [];
  for (const { task } of open) if (await canBeForgotten(core, task)) stuck.push(task.id);
  if (stuck.length === 0) return;
  const text = `The project "${project}" has tasks that have ended, but could not do what belongs to that: ${stuck.length}.`;
  throw new Fault("store.in-use", text, {
    hint: `See why: signalbox task explain ${stuck[0]}\nOr forget them: signalbox task delete ${stuck.join(" ")}`,
  });
}

export async function mustHave({ store }: Core, name: string): Promise<Project> {
  const project = await store.getProject(name);
  if (project !== undefined) return project;
  const names = (await store.listProjects()).map((each) => each.name);
  throw new Fault("project.missing", `There is no project "${name}".`, {
    hint: names.length > 0 ? `The projects are: ${names.join(", ")}` : "Add one with signalbox init in a repository.",
  });
}

const nothing: Retired = { control: "", salvaged: 0, left: [] };

const defaultPoolSize = 4;

/** What a task that is held for a repository which is not there any more is told to do. */
const movedRepository = "update the project";

/** Who names another repository has looked at it. */
async function placeAt(core: Core, path: string): Promise<Pick<Project, "path" | "obeyed">> {
  const found = await findRepository(core, path);
  return { path: found.path, ...(await obeyedAt(core, found.path)) };
}

async function obeyedAt({ git }: Core, path: string): Promise<Pick<Project, "obeyed">> {
  return git === undefined ? {} : { obeyed: await git.obeyed(path) };
}

/** The folder that is named, or one of ours with a clone of what is at the address. */
async function folderFor(core: Core, name: string, path?: string, url?: string): Promise<string> {
  if (path !== undefined && url === undefined) return path;
  if (url === undefined || path !== undefined) {
    throw new Fault("project.invalid", "A project is either at a path or cloned from an address.", {
      hint: "Give one of the two.",
    });
  }
  // Asked first: a name that is taken must not cost a clone.
  if ((await core.store.getProject(name)) !== undefined) {
    throw new Fault("project.exists", `There is a project "${name}" already.`, {
      hint: "Choose another name: --name NAME",
    });
  }
  if (core.git === undefined) throw new Fault("git.missing", "There is no git to clone with.");
  const folder = join(core.places.repositories, name);
  await core.inTurn(`clone ${name}`, async () => core.git?.clone({ from: url, folder }));
  return folder;
}

/** Names stand in references (`coffee#12`), in folders and on screens. */
function checkName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$/.test(name)) return;
  throw new Fault("project.invalid", `${JSON.stringify(name)} cannot be a project's name.`, {
    hint: "Use letters, digits, dots, - and _, beginning with a letter or digit, at most 50.",
  });
}

/** A slip is told now, and not when the next task is created. Whether the file is right, and trusted, is asked then. */
function checkWorkflow({ home }: Core, repository: string, name = ""): void {
  if (name === "") return;
  if (isPath(name)) {
    throw new Fault("project.invalid", `${name} is a path; a project has a workflow by its name.`, {
      hint: "Put the file into workflows/ in your folder, or into .signalbox/workflows of the repository, and name it.",
    });
  }
  findWorkflow({ home, repository }, name);
}

/** An empty name lets the configuration decide. */
function checkHarnesses({ agents }: Core, given: { harness?: string; reviewHarness?: string }): void {
  if (agents === undefined) return;
  for (const name of [given.harness, given.reviewHarness]) if (name) harnessNamed(agents.ports.harnesses, name);
}

/** The root of the repository at a path, and the branch that work starts from. */
async function findRepository({ commands }: Core, path: string): Promise<{ path: string; branch: string }> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new Fault("project.invalid", `There is no folder ${path}.`, { hint: "Name an existing one." });
  const git = gitIn(commands, path);
  const top = await git("rev-parse", "--show-toplevel");
  if (top.code !== 0) {
    throw new Fault("project.invalid", `${path} is in no git repository.`, { hint: "Make it one with git init." });
  }
  const head = await git("symbolic-ref", "--quiet", "--short", "HEAD");
  const branch =
    head.code === 0 ? head.output.trim() : likely((await git("branch", "--format=%(refname:short)")).output);
  return { path: await realpath(top.output.trim()), branch };
}

/** Work starts from it and goes back into it. In a repository without a commit it is the one that the first will be on. */
async function checkBranch({ commands }: Core, path: string, name?: string): Promise<void> {
  if (name === undefined) return;
  const git = gitIn(commands, path);
  if ((await git("symbolic-ref", "--quiet", "--short", "HEAD")).output.trim() === name) return;
  if ((await git("show-ref", "--verify", "--quiet", `refs/heads/${name}`)).code === 0) return;
  const isElsewhere = (await git("show-ref", "--verify", "--quiet", `refs/remotes/origin/${name}`)).code === 0;
  const branches = listedIn((await git("branch", "--format=%(refname:short)")).output);
  const known = branches.length > 0 ? `Its branches are: ${branches.join(", ")}` : "Commit something first.";
  throw new Fault("project.invalid", `${path} has no branch ${JSON.stringify(name)}.`, {
    hint: isElsewhere ? `Its remote has: git -C ${path} branch ${name} origin/${name}` : known,
  });
}

function gitIn(commands: Core["commands"], path: string) {
  return (...args: readonly string[]) =>
    commands.run({ argv: ["git", "-C", path, ...args], cwd: path, env: gitEnvironment, timeout: 10_000 });
}

/** Where a commit is checked out instead of a branch: the one that is usual, else the only one. */
function likely(listed: string): string {
  const branches = listedIn(listed);
  const [only = "main", ...others] = branches;
  return ["main", "master"].find((each) => branches.includes(each)) ?? (others.length === 0 ? only : "main");
}

function listedIn(output: string): readonly string[] {
  return output.split("\n").filter((each) => each !== "" && !each.startsWith("("));
}

const gitEnvironment = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", LC_ALL: "C" };
