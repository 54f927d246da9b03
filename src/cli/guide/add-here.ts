import type { Call } from "../../api/client.ts";
import { type ProjectView, routes } from "../../api/routes.ts";
import { shownPath } from "../../home/shown-path.ts";
import { ask, askYes } from "../ask.ts";
import type { Context } from "../context.ts";
import { exitCodes } from "../exit-code.ts";
import { firstCommit, hasCommits, identityCommands } from "../has-commits.ts";
import { proposeSettings } from "../propose-settings.ts";
import { nameFrom, repositoryOf, tellBranch } from "../register-project.ts";
import { wrap } from "../wrap.ts";
import { chooseHarness } from "./choose-harness.ts";

/** Makes the repository a project, if the person wants that; undefined where there is none in the end. */
export async function addHere(
  context: Context,
  call: Call,
  projects: readonly ProjectView[],
  repository: string,
): Promise<ProjectView | undefined> {
  const root = repositoryOf(repository);
  const { bold } = context.talkPaint;
  const about =
    "runs coding agents side by side. Each task has a folder and a branch of its own, and moves from step to step until its work is reviewed and merged.";
  context.say(
    `${wrap(`${bold("Signalbox")} ${about}`, context.columns)}\n\n${shownPath(root)} is a git repository, and no project of yours yet.`,
  );
  if (!hasCommits(root)) {
    context.process.exitCode = exitCodes.failed;
    context.say("It has no commit, and agents need one to start from. Make one, then call signalbox again:");
    const commands = [...identityCommands(root), "git add -A", firstCommit];
    return void context.say(commands.map((command) => `  ${command}`).join("\n"));
  }
  const name = await freeName(nameFrom(root), projects);
  if (name === undefined) return left(context);
  const chosen = await chooseHarness(context, call, root);
  if (chosen === "left") return left(context);
  const answer = await askYes(`Make it the project "${name}"?`, true);
  if (answer === undefined) return left(context);
  if (!answer) return void context.say("It stays as it is. To see all commands: signalbox --help");
  const harness = chosen === "" ? {} : { harness: chosen };
  const project = await call(routes.addProject, { body: { name, path: root, ...harness } });
  context.say(`It is a project now. How work is done in it: signalbox project update ${name} --help`);
  tellBranch(context, project);
  context.say("\n");
  await proposeSettings(context, call, project);
  return project;
}

function left(context: Context): undefined {
  context.process.exitCode = exitCodes.failed;
  context.say("Nothing has changed. To begin again: signalbox");
}

/** The folder's name, unless another project has it. */
async function freeName(wanted: string, projects: readonly ProjectView[]): Promise<string | undefined> {
  let name: string | undefined = wanted;
  while (name !== undefined && (!isName(name) || projects.some((project) => project.name === name))) {
    const why = isName(name)
      ? `Another project is called "${name}".`
      : "A name has letters, digits, dots, - and _, at most 50.";
    name = await ask(`${why} What is this one to be called?`);
  }
  return name;
}

function isName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$/.test(name);
}
