import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, join, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { buildRouteMap } from "@stricli/core";
import type { Call } from "../../api/client.ts";
import { type ProjectView, routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { findRepository, homePlaces, shownPath } from "../../home/places.ts";
import { shellWord } from "../../shell-quote.ts";
import { confirm } from "../ask.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { gitOutput, tellBranch, tellKind } from "../describe-project.ts";
import { visible } from "../fast/tell.ts";
import { projectNamed, realPath } from "../find.ts";
import { offerProjects, offerWorkflows } from "../offers.ts";
import { withoutBreaks, writeTable } from "../tables.ts";
import { count, given, writeJson } from "../text.ts";
import { command, type FlagsOf } from "./command.ts";
import { flag, json, numberFlag, textFlag } from "./parameters.ts";
import { branches } from "./project-branches.ts";

/** The settings of a project that can be recorded. */
export const projectFlags = {
  workflow: { ...textFlag("W", "The name of the workflow for new tasks"), proposeCompletions: offerWorkflows },
  harness: textFlag("H", "The harness of its agents"),
  "review-harness": textFlag("H", "The harness of its reviewers"),
  "pool-size": numberFlag("N", "The maximum number of workspaces", 1, 1_000),
  "branch-prefix": textFlag("P", "The prefix of its tasks' branches"),
  "default-branch": textFlag("B", "The branch that work starts from; otherwise the branch that is checked out"),
  workspaces: {
    kind: "enum",
    values: ["clone", "worktree"],
    optional: true,
    brief: "The kind of new workspaces: clones that share nothing with the repository, or worktrees of it",
  },
  "full-permissions": {
    kind: "enum",
    values: ["allow", "ask"],
    optional: true,
    brief: "Whether agents may work with full permissions: run, write and send as you, without asking",
  },
} as const;

export type ProjectFlags = FlagsOf<typeof projectFlags>;

export const allowFullPermissions = flag("Let agents of the project run, write and send as you, without asking");

const oneName = {
  kind: "tuple",
  parameters: [{ parse: String, proposeCompletions: offerProjects, placeholder: "NAME", brief: "A project's name" }],
} as const;

/** A project, as the API returns it. */
export const projectForm =
  "{ name, path, defaultBranch, poolSize, workflow, harness, reviewHarness, branchPrefix, workspaces, fullPermissions, createdAt }";

const addFlags = {
  name: textFlag("NAME", "The project's name; otherwise the name of its folder"),
  ...projectFlags,
  json,
} as const;

type AddFlags = FlagsOf<typeof addFlags>;

const add = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: String,
          placeholder: "PATH|URL",
          brief: "A git repository, or a folder in one; or the address of a remote repository, which is cloned",
        },
      ],
    },
    flags: addFlags,
  },
  docs: {
    brief: "Register a repository as a project",
    fullDescription: `Settings that you leave out come from the repository's configuration or your own. In the repository itself, signalbox init does the same. An address (https://, ssh://, file:// or git@host:path) is cloned into repositories/ in your Signalbox home (~/.signalbox), with your own keys and passwords; if that is interrupted, run it again.

--json: ${projectForm}
Exit codes: 0 ok, 1 it is already a project, the name is taken, or it cannot be cloned, 2 wrong usage, 3 no such folder or workflow, or not a git repository`,
  },
  async func(flags, path) {
    const project = isAddress(path) ? await addClone(this, flags, path) : await addFolder(this, flags, path);
    if (flags.json) return this.print(writeJson(project));
    this.print(`${project.name}  ${withoutBreaks(project.path)}`);
    tellBranch(this, project);
    tellKind(this, project);
    this.say(`To create a task: signalbox task create --project ${project.name} "What is to be done"`);
  },
});

async function addFolder(context: Context, flags: AddFlags, path: string): Promise<ProjectView> {
  const root = repositoryOf(path);
  const call = createCall(context);
  const { projects } = await call(routes.listProjects);
  return registerProject(context, call, projects, root, flags);
}

/** After an interruption the user runs the command again; it uses a clone that already exists. */
async function addClone(context: Context, flags: AddFlags, url: string): Promise<ProjectView> {
  const name = flags.name ?? nameFromAddress(url);
  const folder = join(homePlaces(context.home).repositories, name);
  context.say(`Cloning ${shownAddress(url)} into ${shownPath(folder)}. That may take a while.`);
  return createCall(context)(routes.addProject, { body: { name, url, ...projectSettings(flags) } });
}

const list = command({
  parameters: { flags: { json } },
  docs: {
    brief: "List the projects",
    fullDescription: `--json: { projects: [${projectForm}] }
Exit codes: 0 ok, 1 failed, 2 wrong usage`,
  },
  async func({ json }) {
    const answer = await createCall(this)(routes.listProjects);
    if (json) return this.print(writeJson(answer));
    const { projects } = answer;
    if (projects.length === 0)
      return this.say("There is no project yet. To register a repository, run in it: signalbox init");
    const columns = [
      { title: "NAME", paint: this.paint.bold },
      { title: "WORKFLOW" },
      { title: "HARNESS" },
      { title: "POOL", align: "right" },
      { title: "WORKSPACES" },
      { title: "BRANCH" },
      { title: "PATH" },
    ] as const;
    const rows = projects.map(({ name, workflow, harness, poolSize, workspaces, defaultBranch, path }) => [
      name,
      workflow || "–",
      harness || "–",
      String(poolSize),
      workspaces,
      defaultBranch,
      path,
    ]);
    this.print(writeTable(columns, rows, this.tableWidth));
    if (projects.some(({ workflow, harness }) => workflow === "" || harness === ""))
      this.say("\n– means that the configuration decides. To see it, run in the repository: signalbox config get");
  },
});

const remove = command({
  parameters: { positional: oneName, flags: { yes: flag("Do not ask") } },
  docs: {
    brief: "Remove a project and its tasks that are over",
    fullDescription: `The repository is not changed, even if it was cloned. Its workspaces go to the trash after their contents are saved, and the command prints where the work of its tasks is kept. A project with open tasks is not removed. On a terminal you are asked first; elsewhere --yes is needed.

Exit codes: 0 ok, 1 it has open tasks, or you said no, 2 wrong usage, 3 no such project`,
  },
  async func({ yes }, name) {
    const call = createCall(this);
    const { projects } = await call(routes.listProjects);
    const { path } = projectNamed(projects, name);
    if (!(await confirm(this, `Remove the project "${name}" and its tasks that are over?`, yes))) return;
    const { control, salvaged, left } = await call(routes.removeProject, { params: { project: name } });
    const isClone = path.startsWith(`${realPath(homePlaces(this.home).repositories)}${sep}`);
    this.say(
      `"${name}" is removed. The ${isClone ? "clone is kept" : "repository is unchanged"}: ${withoutBreaks(path)}`,
    );
    if (control !== "") {
      const what =
        salvaged === 0 ? "The work of its tasks" : `The work of its tasks, and ${count(salvaged, "salvage")},`;
      this.say(`${what} ${salvaged === 0 ? "is" : "are"} kept in ${control}`);
    }
    for (const folder of left) this.say(`This workspace could not be saved, so it is kept: ${folder}`);
  },
});

const trust = command({
  parameters: { positional: oneName, flags: { yes: flag("Do not ask"), json } },
  docs: {
    brief: "Trust the git configuration, hooks and attributes of a repository after a change",
    fullDescription: `Agents in worktrees can write to the repository's .git. If its configuration, hooks or attributes change, Signalbox does nothing there until you have reviewed them, even if you made the change yourself. The address of a remote on a network does not count where all agents have clones, which share nothing with the repository. Shows what has changed since your last review. Tasks that are held because of it continue. On a terminal you are asked first; elsewhere --yes is needed.

--json: { fingerprint, changes: [{ name, change }] }
Exit codes: 0 ok, 1 it has changed again, or you said no, 2 wrong usage, 3 no such project`,
  },
  async func({ yes, json }, name) {
    const call = createCall(this);
    const params = { project: name };
    const { fingerprint, changes } = await call(routes.projectChanges, { params });
    if (!json) for (const each of changes) this.print(`${each.change.padEnd(8)} ${visible(each.name)}`);
    if (changes.length === 0) {
      if (!json) this.say("Nothing has changed since your last review.");
    } else if (!(await confirm(this, `Do you trust this in the repository of "${name}"?`, yes))) return;
    const answer = await call(routes.trustProject, { params, body: { fingerprint } });
    if (json) return this.print(writeJson(answer));
    if (changes.length > 0) this.say("Trusted. Tasks that were held because of it continue.");
  },
});

const update = command({
  parameters: {
    positional: oneName,
    flags: { ...projectFlags, path: textFlag("PATH", "The new path of the repository"), json },
  },
  docs: {
    brief: "Change the settings of a project",
    fullDescription: `Existing tasks do not change. With --workspaces, tasks keep the workspaces that they have; free workspaces of the other kind are replaced, after their contents are saved. With an empty value ("") the configuration decides again.

--json: ${projectForm}
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project or workflow`,
  },
  async func(flags, name) {
    const path = flags.path === undefined ? undefined : resolve(flags.path);
    const body = { ...projectSettings(flags), ...given({ path }) };
    if (Object.keys(body).length === 0) {
      throw new Fault("usage", "There is nothing to change.", {
        hint: "To see the flags: signalbox project update --help",
      });
    }
    const project = await createCall(this)(routes.updateProject, { params: { project: name }, body });
    if (flags.json) return this.print(writeJson(project));
    for (const key of Object.keys(body) as (keyof typeof body)[]) {
      const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      this.print(`${name}: ${project[key] === "" ? "–" : project[key]}`);
    }
  },
});

/** The root of the repository that contains a path, in the form that the daemon stores. */
export function repositoryOf(path: string): string {
  const folder = resolve(path);
  if (!existsSync(folder)) throw new Fault("not-found", `There is no folder ${path}.`);
  const root = findRepository(realpathSync(folder));
  if (root !== undefined) return root;
  if (!statSync(folder).isDirectory()) {
    throw new Fault("usage", `${path} is a file, and is not in a git repository.`, {
      hint: "A project is the folder of a git repository: name that folder.",
    });
  }
  if (isBare(folder)) {
    throw new Fault("repository.missing", `${folder} is a bare repository, without files to work on.`, {
      hint: `To work on a clone of it: signalbox project add ${shellWord(pathToFileURL(folder).href)}`,
    });
  }
  throw new Fault("repository.missing", `${folder} is not in a git repository.`, {
    hint: `To make it one: git -C ${shellWord(folder)} init`,
  });
}

function isBare(folder: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => existsSync(join(folder, name)));
}

/** Registers a repository, by default under the name of its folder. Refuses the moved repository of another project. */
export async function registerProject(
  { home }: Context,
  call: Call,
  projects: readonly ProjectView[],
  root: string,
  flags: ProjectFlags & { readonly name?: string },
): Promise<ProjectView> {
  const lost = flags.name === undefined ? lostProject(home, projects, root) : undefined;
  if (lost !== undefined) {
    const text = `This is the repository of the project "${lost.name}", which is no longer at ${lost.path}.`;
    throw new Fault("project.exists", text, {
      hint: `To set the project's new path: signalbox project update ${lost.name} --path ${shellWord(root)}\nTo make it another project anyway: --name NAME`,
    });
  }
  const name = flags.name ?? nameFrom(root);
  const taken = projects.find((project) => project.name === name);
  if (taken !== undefined && taken.path !== root) {
    throw new Fault("project.exists", `There is already a project "${name}", in ${taken.path}.`, {
      hint: "Choose another name: --name NAME",
    });
  }
  return call(routes.addProject, { body: { name, path: root, ...projectSettings(flags) } });
}

/** The project whose folder is gone and whose last known commit this repository has. */
function lostProject(home: string, projects: readonly ProjectView[], root: string): ProjectView | undefined {
  const { control } = homePlaces(home);
  return projects.find(({ name, path, defaultBranch }) => {
    const folder = join(control, `${name}.git`);
    if (hasRepository(path) || !existsSync(folder)) return false;
    const tip = gitOutput(folder, "rev-parse", "--verify", "--quiet", `refs/remotes/user/${defaultBranch}`);
    return tip !== "" && gitOutput(root, "cat-file", "-t", tip) === "commit";
  });
}

/** A git process that was still running when the repository was moved may have left a folder with few files there. */
function hasRepository(folder: string): boolean {
  const git = join(folder, ".git");
  return (
    [join(git, "HEAD"), join(folder, "HEAD")].some(existsSync) ||
    statSync(git, { throwIfNoEntry: false })?.isFile() === true
  );
}

export function projectSettings(flags: ProjectFlags) {
  return given({
    workflow: flags.workflow,
    harness: flags.harness,
    reviewHarness: flags["review-harness"],
    poolSize: flags["pool-size"],
    branchPrefix: flags["branch-prefix"],
    defaultBranch: flags["default-branch"],
    workspaces: flags.workspaces,
    fullPermissions: flags["full-permissions"],
  });
}

/** A folder's name without the characters that a project's name cannot have. */
export function nameFrom(folder: string): string {
  const name = basename(folder)
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 50)
    .replace(/-+$/, "");
  return name === "" ? "project" : name;
}

/** Whether a word is the address of a remote repository. An existing folder with that name takes precedence. */
function isAddress(word: string): boolean {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return true;
  return /^[\w.-]+@[\w.-]+:/.test(word) && !existsSync(word);
}

/** The last part of the address, as a project's name. */
function nameFromAddress(address: string): string {
  const path = address.replace(/[?#].*$/s, "").replace(/\/+$/, "");
  return nameFrom(path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf(":")) + 1).replace(/\.git$/, ""));
}

/** Without the password that it may contain. */
function shownAddress(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*:[^/@]*@/i, "$1…@");
}

export const projectCommands = buildRouteMap({
  routes: { add, list, update, trust, branches, remove },
  aliases: { ls: "list", new: "add", rm: "remove" },
  docs: { brief: "Register repositories, and change their settings" },
});
