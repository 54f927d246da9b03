import { execFileSync } from "node:child_process";
import { dirname } from "node:path";
import type { Call } from "../../api/client.ts";
import { type ProjectView, routes } from "../../api/routes.ts";
import { publishFile } from "../../durable-file.ts";
import { Fault } from "../../fault.ts";
import { resolveConfig, setConfig, writeConfigValue } from "../../home/config.ts";
import { makeFolder } from "../../home/make-folder.ts";
import { repositoryPlaces, shownPath } from "../../home/places.ts";
import { projectFiles } from "../../home/project-files.ts";
import { findWorkflow } from "../../home/workflows.ts";
import { findSetupCommand, findTestCommand } from "../../project-tests/find-test-command.ts";
import { readableText } from "../../readable-text.ts";
import { shellWord } from "../../shell-quote.ts";
import { askPermissions, askYes, canAsk, mustAllow } from "../ask.ts";
import { createCall } from "../connect.ts";
import { type Context, configLayers } from "../context.ts";
import { tellBranch, tellKind } from "../describe-project.ts";
import { howToBeCalled } from "../doctor/calls.ts";
import {
  findProject,
  firstCommit,
  hasCommits,
  identityCommands,
  mainRepository,
  unknownAuthor,
  workflowReference,
} from "../find.ts";
import { offerWorkflows } from "../offers.ts";
import { withoutBreaks } from "../tables.ts";
import { count, wrapMessage, writeJson } from "../text.ts";
import { command } from "./command.ts";
import { configTemplate } from "./config.ts";
import { flag, json, optionalWord, project, textFlag } from "./parameters.ts";
import {
  allowFullPermissions,
  projectFlags,
  projectForm,
  projectSettings,
  registerProject,
  repositoryOf,
} from "./project.ts";

export const init = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [optionalWord("PATH", "A git repository, or a folder in one; otherwise this folder")],
    },
    flags: {
      name: textFlag("NAME", "The project's name; otherwise the name of its folder"),
      workflow: projectFlags.workflow,
      harness: projectFlags.harness,
      "pool-size": projectFlags["pool-size"],
      workspaces: projectFlags.workspaces,
      "allow-full-permissions": allowFullPermissions,
      config: flag("Also write .signalbox/config.yml, with every setting commented out"),
      json,
    },
  },
  docs: {
    brief: "Make a repository a project",
    fullDescription: `Settings that you leave out come from the repository's configuration or your own. A repository that is already a project does not change, except for --allow-full-permissions. The command lists the ignored files that agents' folders will lack, and proposes settings that prepare these folders (setup, test_command, copy), based on the repository's files. On a terminal you are asked about that, and about full permissions if the project's agents need them; elsewhere the commands are printed.

--json: ${projectForm}
Exit codes: 0 ok, 1 the name is taken, 2 wrong usage, 3 no such folder or workflow, or not a git repository`,
  },
  async func(flags, path = ".") {
    const root = repositoryOf(path);
    const call = createCall(this);
    const { projects } = await call(routes.listProjects);
    const known = projects.find(({ path }) => path === root) ?? ofWorktree(projects, root);
    const added = known ?? (await registerProject(this, call, projects, root, flags));
    if (flags.config) writeTemplate(this, root);
    const project = flags["allow-full-permissions"] ? await allow(call, added.name) : added;
    if (flags.json) return this.print(writeJson(project));
    this.print(`${project.name}  ${withoutBreaks(project.path)}`);
    if (known !== undefined) {
      this.say(`It is already a project.`);
      if (Object.keys(projectSettings(flags)).length > 0 || (flags.name ?? known.name) !== known.name)
        this.say(`Nothing about it has changed. To change it: signalbox project update ${known.name} --help`);
    }
    tellBranch(this, project);
    tellKind(this, project);
    const identify = identityCommands(project.path);
    if (identify.length > 0) this.say(`${unknownAuthor} Set it first:\n  ${identify.join("\n  ")}`);
    if (!hasCommits(project.path)) this.say(`It has no commit yet, and agents need one to start from: ${firstCommit}`);
    else await proposeSettings(this, call, project);
    await offerPermissions(this, call, project);
    // Said only for the first project.
    if (known === undefined && projects.length === 0 && (await call(routes.status)).calls.channels.length === 0)
      this.say(`There is no channel to call you when a task needs you: ${howToBeCalled}.`);
    this.say('To create a task: signalbox task create "What is to be done"');
  },
});

/** A worktree belongs to the project of its main repository. */
function ofWorktree(projects: readonly ProjectView[], root: string): ProjectView | undefined {
  const main = mainRepository(root);
  return projects.find(({ path }) => path === main);
}

function allow(call: Call, project: string): Promise<ProjectView> {
  return call(routes.updateProject, { params: { project }, body: { fullPermissions: "allow" } });
}

/** Asks now, so that the first task does not have to wait for an answer. */
async function offerPermissions(context: Context, call: Call, { name }: ProjectView): Promise<void> {
  if (!canAsk()) return;
  const permissions = await call(routes.projectPermissions, { params: { project: name } });
  if (!mustAllow(permissions)) return;
  if (await askPermissions(context, name, permissions)) await allow(call, name);
  else context.say("Full permissions are not allowed. You are asked again when you create a task.");
}

function writeTemplate({ home, say }: Context, root: string): void {
  const file = repositoryPlaces(home, root)?.config;
  if (file === undefined) {
    throw new Fault("usage", `${root} has your own files in .signalbox, so it cannot have its own configuration.`);
  }
  makeFolder(dirname(file));
  try {
    publishFile(file, configTemplate(), { replace: false });
    say(`Wrote ${shownPath(file)}; every setting is commented out.`);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "exists") throw error;
    say(`${shownPath(file)} already exists, and is not changed.`);
  }
}

export const trust = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        {
          ...optionalWord("WORKFLOW", "A workflow of the repository, or a path to another file"),
          proposeCompletions: offerWorkflows,
        },
      ],
    },
    flags: { config: flag("Trust the repository's configuration, with the commands in it"), project, json },
  },
  docs: {
    brief: "Trust the current version of a workflow in a repository, or in another file",
    fullDescription: `A workflow can start agents and commands on your machine. A workflow in .signalbox/workflows of a repository, or in any other file, is used only after you have read and trusted it, and again after each change. The same holds for .signalbox/config.yml if it names commands (setup, teardown, test_command), and for the harnesses and the model that it chooses. Prints the path of the file.

--json: { hash, file }, with --config { hash, file, commands, choices }
Exit codes: 0 ok, 1 the file has errors, 2 wrong usage, 3 no such project or workflow`,
  },
  async func(flags, workflow) {
    if (flags.config !== (workflow === undefined)) {
      throw new Fault("usage", "Name a workflow, or use --config for the repository's configuration.", {
        hint: "To see how: signalbox trust --help",
      });
    }
    const call = createCall(this);
    const { name, path } = await findProject(call, flags.project);
    if (workflow === undefined) {
      const answer = await call(routes.trustConfig, { params: { project: name }, body: {} });
      if (flags.json) return this.print(writeJson(answer));
      this.print(answer.file);
      const { commands, choices } = answer;
      this.say(`${asItIs(answer.hash)}\nThe commands in it may run: ${commands.join(", ") || "none"}.`);
      if (choices.length > 0) this.say(`Its settings that now apply: ${choices.join(", ")}.`);
      return;
    }
    const { from, file } = findWorkflow({ home: this.home, repository: path }, workflow);
    if (from === "user" || from === "built-in") {
      throw new Fault("usage", `"${workflow}" is ${from === "user" ? "yours" : "built in"}, and needs no trust.`, {
        hint: `Trust is for other files, and for the repository's workflows: ${path}/.signalbox/workflows`,
      });
    }
    const answer = await call(routes.trust, { body: { project: name, workflow: workflowReference(workflow) } });
    if (flags.json) return this.print(writeJson(answer));
    this.print(file);
    this.say(asItIs(answer.hash));
  },
});

function asItIs(hash: string): string {
  return `Trusted this version (${hash.slice(0, 12)}). When the file changes, it has to be trusted again.`;
}

interface Proposal {
  readonly key: "setup" | "test_command" | "copy";
  readonly value: readonly string[];
  readonly why: string;
}

/** Files that are not committed, and of which every workspace needs a copy. */
const secrets = /^\.env(\.[\w-]+)*$|^\.envrc$/;

/**
 * Lists what a workspace will lack, and proposes settings that prepare it, based on the repository's files. On a
 * terminal the person is asked, and after a yes the settings are written and trusted; elsewhere the commands are
 * printed. Existing settings are kept.
 */
export async function proposeSettings(context: Context, call: Call, project: ProjectView): Promise<void> {
  const ignored = ignoredFiles(project.path);
  if (ignored.length > 0) {
    const shown = ignored.slice(0, 8).join(", ");
    const more = ignored.length > 8 ? ` and ${ignored.length - 8} more` : "";
    context.say(
      wrapMessage(
        `Agents' folders have only committed files. They lack what git ignores here: ${shown}${more}.`,
        context.columns,
      ),
    );
  }
  const proposals = findProposals(context, project, ignored);
  const file = repositoryPlaces(context.home, project.path)?.config;
  if (proposals.length === 0 || file === undefined) return;
  const width = Math.max(...proposals.map(({ key }) => key.length));
  if (!canAsk()) {
    context.say("To prepare these folders, as found in this repository:");
    for (const { key, value } of proposals)
      context.say(`  signalbox config set ${key} ${shellWord(writeConfigValue(value))} --repository`);
    if (proposals.some(({ key }) => key !== "copy")) context.say("  signalbox trust --config");
    return;
  }
  context.say("Found in this repository, to prepare these folders:");
  for (const { key, value, why } of proposals)
    context.say(`  ${key.padEnd(width)}  ${key === "copy" ? value.join(", ") : value.join(" ")}  (${why})`);
  if (!(await askYes(`Write ${count(proposals.length, "setting")} to ${shownPath(file)}?`, true)))
    return context.say("Nothing is set. To do it by hand: signalbox config set --help");
  const text = proposals.reduce(
    (before, { key, value }) => setConfig(before, key, JSON.stringify(value), "project"),
    readableText(file),
  );
  makeFolder(dirname(file));
  publishFile(file, text);
  await call(routes.trustConfig, { params: { project: project.name }, body: {} });
  context.say(`Wrote ${shownPath(file)}, and trusted it. Commit it for others who work on this repository.`);
}

function findProposals(context: Context, project: ProjectView, ignored: readonly string[]): readonly Proposal[] {
  const { setup, testCommand, copy } = resolveConfig(configLayers(context, project.path, project));
  const files = projectFiles(project.path);
  const install = setup.value.length > 0 ? undefined : findSetupCommand(files);
  const tests = testCommand.value.length > 0 ? undefined : findTestCommand(files);
  const own = copy.value.length > 0 ? [] : ignored.filter((path) => secrets.test(path));
  return [
    ...(install === undefined ? [] : [{ key: "setup" as const, value: install.argv, why: install.from }]),
    ...(tests?.kind === "found"
      ? [{ key: "test_command" as const, value: tests.commands[0].argv, why: tests.commands[0].from }]
      : []),
    ...(own.length === 0 ? [] : [{ key: "copy" as const, value: own, why: "not in git" }]),
  ];
}

/** The files that git ignores, whole folders as one entry; empty if git fails. */
function ignoredFiles(root: string): readonly string[] {
  const list = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
  try {
    const listed = execFileSync("git", ["-C", root, ...list], {
      encoding: "utf8",
      maxBuffer: 16 * 1024 * 1024,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return listed.split("\0").filter((path) => path !== "" && !path.startsWith(".signalbox/"));
  } catch {
    return [];
  }
}
