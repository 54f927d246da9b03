import { dirname } from "node:path";
import type { Call } from "../../api/client.ts";
import { type ProjectView, routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { makeFolder } from "../../home/make-folder.ts";
import { repositoryPlaces } from "../../home/places.ts";
import { publishFile } from "../../home/publish-file.ts";
import { shownPath } from "../../home/shown-path.ts";
import { canAsk } from "../ask.ts";
import { askPermissions, mustAllow } from "../ask-permissions.ts";
import { configTemplate } from "../config-template.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { howToBeCalled } from "../doctor-calls.ts";
import { mainRepository } from "../git-head.ts";
import { firstCommit, hasCommits, identityCommands, unknownAuthor } from "../has-commits.ts";
import { proposeSettings } from "../propose-settings.ts";
import { type ProjectFlags, projectSettings, registerProject, repositoryOf, tellBranch } from "../register-project.ts";
import { writeJson } from "../write-json.ts";

export interface InitFlags extends Pick<ProjectFlags, "workflow" | "harness" | "pool-size"> {
  readonly name?: string;
  readonly "allow-full-permissions": boolean;
  readonly config: boolean;
  readonly json: boolean;
}

export async function init(this: Context, flags: InitFlags, path = ".") {
  const root = repositoryOf(path);
  const call = createCall(this);
  const { projects } = await call(routes.listProjects);
  const known = projects.find(({ path }) => path === root) ?? ofWorktree(projects, root);
  const added = known ?? (await registerProject(call, projects, root, flags.name, flags));
  if (flags.config) writeTemplate(this, root);
  const project = flags["allow-full-permissions"] ? await allow(call, added.name) : added;
  if (flags.json) return this.print(writeJson(project));
  this.print(`${project.name}  ${project.path}`);
  if (known !== undefined) {
    this.say(`It is a project already.`);
    if (Object.keys(projectSettings(flags)).length > 0 || (flags.name ?? known.name) !== known.name)
      this.say(`Nothing about it has changed. To change it: signalbox project update ${known.name} --help`);
  }
  tellBranch(this, project);
  const identify = identityCommands(project.path);
  if (identify.length > 0) this.say(`${unknownAuthor} Tell it first:\n  ${identify.join("\n  ")}`);
  if (!hasCommits(project.path)) this.say(`It has no commit yet, and agents need one to start from: ${firstCommit}`);
  else await proposeSettings(this, call, project);
  await offerPermissions(this, call, project);
  // Said once: whoever adds a second project knows it.
  if (known === undefined && projects.length === 0 && (await call(routes.status)).calls.channels.length === 0)
    this.say(`When a task needs you, nobody can call you: ${howToBeCalled}.`);
  this.say('To create a task: signalbox task create "What is to be done"');
}

/** A worktree is no repository of its own: whoever is in one is in the project of the repository that it is of. */
function ofWorktree(projects: readonly ProjectView[], root: string): ProjectView | undefined {
  const main = mainRepository(root);
  return projects.find(({ path }) => path === main);
}

function allow(call: Call, project: string): Promise<ProjectView> {
  return call(routes.updateProject, { params: { project }, body: { fullPermissions: "allow" } });
}

/** Who is here is asked now, so that the first task need not wait for an answer. */
async function offerPermissions(context: Context, call: Call, { name }: ProjectView): Promise<void> {
  if (!canAsk()) return;
  const permissions = await call(routes.projectPermissions, { params: { project: name } });
  if (!mustAllow(permissions)) return;
  if (await askPermissions(context, name, permissions)) await allow(call, name);
  else context.say("Nothing is allowed. You are asked again when you create a task.");
}

function writeTemplate({ home, say }: Context, root: string): void {
  const file = repositoryPlaces(home, root)?.config;
  if (file === undefined) {
    throw new Fault("usage", `${root} has your own files in .signalbox, so it can have no configuration of its own.`);
  }
  makeFolder(dirname(file));
  try {
    publishFile(file, configTemplate(), { replace: false });
    say(`Wrote ${shownPath(file)}, in which everything is still a remark.`);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "exists") throw error;
    say(`${shownPath(file)} is there already, and stays as it is.`);
  }
}
