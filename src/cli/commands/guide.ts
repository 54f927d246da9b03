import type { HarnessView } from "../../api/agents.ts";
import type { Call } from "../../api/client.ts";
import { type ProjectView, routes } from "../../api/routes.ts";
import { contains } from "../../home/agents-at-work.ts";
import { resolveConfig } from "../../home/config.ts";
import { homePlaces, shownPath } from "../../home/places.ts";
import { ask, askPermissions, askYes, canAsk, mustAllow } from "../ask.ts";
import { createCall } from "../connect.ts";
import { type Context, configLayers } from "../context.ts";
import { tellBranch, tellKind, tellNoCommit } from "../describe-project.ts";
import { exitCodes } from "../fast/tell.ts";
import { firstCommit, hasCommits, projectAt, shownTask } from "../find.ts";
import { wrap, wrapMessage } from "../text.ts";
import { type Board, createBoard } from "../watch/live.ts";
import { watchLines } from "../watch/rows.ts";
import { command } from "./command.ts";
import { canShowDashboard, openDashboard } from "./dashboard.ts";
import { proposeSettings } from "./init.ts";
import { nameFrom, repositoryOf } from "./project.ts";

/**
 * Leads from a repository to its first task; in a project, shows its state and the next steps. Whatever the person
 * agrees to is done completely before the next question, so that leaving never leaves anything half done.
 */
export const guide = command({
  parameters: {},
  docs: {
    brief: "Guide you through the first steps, or show the project's state and the next steps",
    fullDescription: `On a terminal, signalbox alone does this; in a project that has tasks it opens signalbox dashboard instead. In a repository that is not a project yet, it looks for harnesses, asks whether to make it a project, explains full permissions, and asks for the first task. In a project it shows the open tasks, what needs you, and useful commands. Elsewhere it says what to do. You can leave with Ctrl-C at any point: only what you agreed to is done.

Exit codes: 0 ok, 1 you left, there is no commit yet, or a question cannot be asked, 2 wrong usage`,
  },
  async func(): Promise<void> {
    const call = createCall(this);
    const { projects } = await call(routes.listProjects);
    const known = projectAt(projects, process.cwd());
    if (known === undefined && this.repository === undefined) return showOutside(this, projects);
    if (known !== undefined && (!canAsk() || (await hasTasks())))
      return this.isAlone && canShowDashboard(this) ? openDashboard(this, known.name) : showProject(this, call, known);
    if (!canAsk()) {
      this.process.exitCode = exitCodes.failed;
      return this.say(`${this.repository} is not a project yet. To make it one: signalbox init`);
    }
    if (known !== undefined && !hasCommits(known.path)) {
      this.process.exitCode = exitCodes.failed;
      return tellNoCommit(this, known.path);
    }
    const project = known ?? (await addHere(this, call, projects, this.repository ?? ""));
    if (project === undefined) return;
    await firstTask(this, call, project);

    async function hasTasks(): Promise<boolean> {
      const { tasks } = await call(routes.listTasks, { query: { project: known?.name ?? "", limit: "1" } });
      return tasks.length > 0;
    }
  },
});

/** Makes the repository a project if the person agrees; otherwise returns undefined. */
async function addHere(
  context: Context,
  call: Call,
  projects: readonly ProjectView[],
  repository: string,
): Promise<ProjectView | undefined> {
  const root = repositoryOf(repository);
  const { bold } = context.talkPaint;
  const about =
    "runs coding agents side by side. Each task has its own folder and branch, and moves from step to step until its work is reviewed and merged.";
  context.say(
    `${wrap(`${bold("Signalbox")} ${about}`, context.columns)}\n\n${shownPath(root)} is a git repository, but not a project yet.`,
  );
  if (!hasCommits(root)) {
    context.process.exitCode = exitCodes.failed;
    return void tellNoCommit(context, root);
  }
  const name = await freeName(nameFrom(root), projects);
  if (name === undefined) return left(context);
  const chosen = await chooseHarness(context, call, root);
  if (chosen === "left") return left(context);
  const answer = await askYes(`Make it the project "${name}"?`, true);
  if (answer === undefined) return left(context);
  if (!answer) return void context.say("Nothing has changed. To see all commands: signalbox --help");
  const harness = chosen === "" ? {} : { harness: chosen };
  const project = await call(routes.addProject, { body: { name, path: root, ...harness } });
  context.say(`It is a project now. To change its settings: signalbox project update ${name} --help`);
  tellBranch(context, project);
  tellKind(context, project);
  context.say("\n");
  await proposeSettings(context, call, project);
  return project;
}

function left(context: Context): undefined {
  context.process.exitCode = exitCodes.failed;
  context.say("Nothing has changed. To start over: signalbox");
}

/** The folder's name, unless another project has it. */
async function freeName(wanted: string, projects: readonly ProjectView[]): Promise<string | undefined> {
  let name: string | undefined = wanted;
  while (name !== undefined && (!isName(name) || projects.some((project) => project.name === name))) {
    const why = isName(name)
      ? `Another project is called "${name}".`
      : "A name has letters, digits, dots, - and _, at most 50.";
    name = await ask(`${why} What should this one be called?`);
  }
  return name;
}

function isName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$/.test(name);
}

/** The built-in agent needs no model: it is for trying things out, and is not offered. */
const ownAgent = "scripted";

/**
 * Shows which harnesses are installed, and lets the person choose among several. Returns the name to record, an empty
 * text if the configuration already has it, or `left`.
 */
async function chooseHarness(context: Context, call: Call, root: string): Promise<string> {
  context.say("Looking for programs that agents can run in …");
  const { harnesses } = await call(routes.listHarnesses, { query: {} });
  const wanted = resolveConfig(configLayers(context, root, undefined)).harness.value;
  const found = harnesses.filter(({ found, name }) => found && (name !== ownAgent || name === wanted));
  const missing = harnesses.filter(({ found }) => !found);
  const [only, ...others] = found;
  if (only === undefined) {
    context.say(`  None is installed: ${missing.map(({ title }) => title).join(", ")}\n\n`);
    return "";
  }
  const preferred = Math.max(
    0,
    found.findIndex(({ name }) => name === wanted),
  );
  for (const [i, harness] of found.entries()) context.say(`  ${i + 1}  ${shown(harness)}`);
  if (missing.length > 0) context.say(`  (not installed: ${missing.map(({ title }) => title).join(", ")})`);
  context.say("\n");
  const chosen = others.length === 0 ? only : await choose(found, preferred);
  if (chosen === undefined) return "left";
  return chosen.name === wanted ? "" : chosen.name;
}

function shown({ title, version, limitedUntil }: HarnessView): string {
  const limited = limitedUntil === null ? "" : ", its limit is reached";
  return `${title}${version === "" ? "" : ` ${version}`}${limited}`;
}

async function choose(found: readonly HarnessView[], preferred: number): Promise<HarnessView | undefined> {
  for (;;) {
    const answer = await ask(`Which one should agents run in? [${preferred + 1}]`);
    if (answer === undefined) return undefined;
    const byName = found.find(({ name, title }) =>
      [name, title].some((each) => each.toLowerCase() === answer.toLowerCase()),
    );
    const chosen = answer === "" ? found[preferred] : (byName ?? found[Number(answer) - 1]);
    if (chosen !== undefined) return chosen;
  }
}

/** Asks for full permissions if they are needed, then for the first task, and shows the next commands. */
async function firstTask(context: Context, call: Call, project: ProjectView): Promise<void> {
  const { say, talkPaint } = context;
  const { name } = project;
  if (!(await hasHarness(context, call, project))) return;
  const permissions = await call(routes.projectPermissions, { params: { project: name } });
  if (mustAllow(permissions)) {
    const allowed = await askPermissions(context, name, permissions);
    if (allowed === undefined) return leftFirstTask(context);
    if (!allowed) {
      say(`Then no agent is started. If you change your mind: signalbox`);
      return void say("To work on a task yourself: signalbox task create --no-spawn");
    }
    await call(routes.updateProject, { params: { project: name }, body: { fullPermissions: "allow" } });
    say("\n");
  }
  const summary = await ask("What should be done first, in one line? (Enter for nothing yet)");
  if (summary === undefined) return leftFirstTask(context);
  if (summary === "") return void say('When you know: signalbox task create "What is to be done"');
  const { task, warnings } = await call(routes.createTask, { body: { project: name, summary } });
  say(`\n${talkPaint.bold(shownTask(task))} is created, with the id ${talkPaint.bold(task.id)}. Next steps:`);
  const steps = [
    ["signalbox status --watch", "watch all tasks"],
    [`signalbox task attach ${task.id}`, "attach to its agent's terminal; F12 leaves"],
    [`signalbox task answer ${task.id}`, "when it asks you something"],
    [`signalbox task diff ${task.id}`, "see what it has changed"],
    [`signalbox task merge ${task.id}`, "when it is ready"],
    [`signalbox task actions ${task.id}`, "everything that you can do with it"],
    ["signalbox", "the project's state, and what needs you"],
  ] as const;
  const width = Math.max(...steps.map(([command]) => command.length));
  for (const [command, what] of steps) say(`  ${talkPaint.cyan(command.padEnd(width))}  ${what}`);
  for (const warning of warnings) say(`${talkPaint.yellow("warning:")} ${warning}`);
}

/** Whether the project's harness is installed; if not, prints what to do. */
async function hasHarness(context: Context, call: Call, project: ProjectView): Promise<boolean> {
  const wanted = resolveConfig(configLayers(context, project.path, project)).harness.value;
  const { harnesses } = await call(routes.listHarnesses, { query: { name: wanted } });
  const [harness] = harnesses;
  if (harness?.found) return true;
  context.process.exitCode = exitCodes.failed;
  const choose = `signalbox project update ${project.name} --harness`;
  const what = `Agents of ${project.name} run in ${harness?.title ?? wanted}, which is not installed. ${harness?.hint ?? ""}`;
  context.say(wrapMessage(what.trim(), context.columns));
  context.say("To see which are installed: signalbox harness list");
  context.say(`To choose another: ${choose} NAME`);
  context.say(`To try it without a model: ${choose} scripted`);
  context.say("Then continue: signalbox");
  return false;
}

function leftFirstTask({ say, process }: Context): void {
  process.exitCode = exitCodes.failed;
  say("Nothing more was done. To continue from here: signalbox");
}

/** Outside of a repository: what to do, and the list of projects. */
function showOutside({ say, talkPaint }: Context, projects: readonly ProjectView[]): void {
  const { bold, cyan } = talkPaint;
  say("This folder is not in a git repository, and agents work in git repositories.");
  say(`Go to a repository and run ${cyan("signalbox")} there, or make this folder one: ${cyan("git init")}`);
  if (projects.length > 0) {
    const width = Math.max(...projects.map(({ name }) => name.length));
    say("\nYour projects:");
    for (const { name, path } of projects) say(`  ${bold(name.padEnd(width))}  ${shownPath(path)}`);
    say(`\nTo watch all of them: ${cyan("signalbox status --watch")}`);
  }
  say(`All commands: ${cyan("signalbox --help")}`);
}

/** More rows would not fit on a screen. */
const maxRows = 20;

/** Where a task needs the person, all are listed: each with its reason and command, however many rows that takes. */
export function rowsFor({ tasks, needs }: Board): number {
  const around = 6;
  return needs.size === 0 ? maxRows : Math.max(maxRows, tasks.length + needs.size + around);
}

/** Shows the state of a project, and the next commands. */
async function showProject(context: Context, call: Call, { name, path }: ProjectView): Promise<void> {
  const { columns, paint, talkPaint, print, say } = context;
  const board = await createBoard({ project: name, open: "true", limit: "200" })(call);
  if (board.tasks.length === 0) say(`${talkPaint.bold(name)} has no open task.`);
  else {
    const lines = watchLines(board, {
      columns,
      rows: rowsFor(board),
      paint,
      now: Date.now(),
      title: name,
      trouble: "",
    });
    // The last line lists keys, which do nothing here.
    print(lines.slice(0, -1).join("\n").trimEnd());
  }
  const needed = board.needs.size;
  const steps = [
    ...(needed === 0
      ? []
      : [["signalbox task actions ID", `what you can do (${needed} ${needed === 1 ? "needs" : "need"} you)`]]),
    ...(board.tasks.length === 0 ? [] : [["signalbox status --watch", "watch all tasks"]]),
    hasCommits(path)
      ? ['signalbox task create "What is to be done"', "create a task"]
      : [firstCommit, "make a first commit, which agents need to start from"],
    ["signalbox --help", "all commands"],
  ] as const;
  const width = Math.max(...steps.map(([command = ""]) => command.length));
  say("\nNext:");
  for (const [command = "", what = ""] of steps) say(`  ${talkPaint.cyan(command.padEnd(width))}  ${what}`);
}

/** Whether a person runs this command and can be asked: not a program that reads the output, and not an agent. */
export function isPersonThere({ stdout, env, cwd }: NodeJS.Process, home: string): boolean {
  if (stdout.isTTY !== true || !canAsk()) return false;
  if (env.SIGNALBOX_TOKEN !== undefined || env.SIGNALBOX_RUN !== undefined) return false;
  try {
    return !contains(homePlaces(home).workspaces, cwd());
  } catch {
    // The folder is gone.
    return false;
  }
}
