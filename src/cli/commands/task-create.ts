import type { BodyOf, Call } from "../../api/client.ts";
import { type ProjectView, routes } from "../../api/routes.ts";
import { didYouMean } from "../../engine/language/problem.ts";
import { parseSetting, settingProblem } from "../../engine/language/read-settings.ts";
import type { Settings, SettingValue, Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { configFromEnvironment, resolveConfig } from "../../home/config.ts";
import { findWorkflow } from "../../home/workflows.ts";
import { shellWord } from "../../shell-quote.ts";
import { ask, askPermissions, askYes, canAsk, mustAllow, readInput } from "../ask.ts";
import { createCall } from "../connect.ts";
import { type Context, configLayers } from "../context.ts";
import { exitCodes } from "../fast/tell.ts";
import { asDependency, asReference, findProject, shownTask, workflowReference } from "../find.ts";
import { loadSound } from "../findings.ts";
import { warnUnproved } from "../tell.ts";
import { given, writeJson } from "../text.ts";
import { command, type FlagsOf } from "./command.ts";
import {
  choiceFlags,
  flag,
  json,
  makeFlags,
  numberFlag,
  optionalWord,
  project,
  readSettingFlag,
  status,
  taskFlag,
  textFlag,
  workflow,
} from "./parameters.ts";
import { allowFullPermissions } from "./project.ts";

const createFlags = {
  project,
  summary: textFlag("TEXT", 'The same as SUMMARY; if it is empty (""), the workflow asks for it'),
  context: textFlag("TEXT|-", "Background for the agent; - reads it from stdin"),
  "context-file": textFlag("FILE", "The same, from a file"),
  workflow: workflow("Its workflow: a name, or a path to its file"),
  status: status("The state it begins in, if its workflow lets tasks begin there"),
  ...makeFlags,
  parent: taskFlag("TASK", "The parent task that it is a part of"),
  from: taskFlag("TASK", "Continue the branch of this task, which is over"),
  base: textFlag("BRANCH", "The branch that its work starts from and is merged into; otherwise the default branch"),
  pr: numberFlag("N", "Continue this pull request: its branch, its title and its base", 1, Number.MAX_SAFE_INTEGER),
  ticket: textFlag("TICKET", "Make the task from this ticket: its title, text and priority, unless they are given"),
  "no-spawn": flag("Do not start it when there is room; a person starts it"),
  ...choiceFlags,
  "allow-full-permissions": allowFullPermissions,
  json,
} as const;

type CreateFlags = FlagsOf<typeof createFlags>;

export const create = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        optionalWord("BRANCH", "Its branch; a name is made up if none is given"),
        optionalWord("SUMMARY", "What is to be done, in one line"),
      ],
    },
    flags: createFlags,
  },
  docs: {
    brief: "Create a task",
    fullDescription: `A single argument with a space in it is the summary, a single word the branch. Of two words the first is the branch, and the second the summary; on a terminal you are asked whether you mean that. Without a summary, and without a ticket, pull request or earlier task that has one, you are asked for it; without a terminal, no task is created. With an empty summary (--summary "") the task begins in the state in which its workflow asks what is wanted. Defaults come from the environment (SIGNALBOX_WORKFLOW, SIGNALBOX_HARNESS, SIGNALBOX_MODEL), the repository, the project and your configuration, in this order.

Examples:
  signalbox task create "Make the coffee stronger"
  signalbox task create stronger-coffee "Make the coffee stronger" --label taste --priority 5
  git log -3 | signalbox task create "Explain these commits" --context -

Prints id, project#number, branch and status.

Its harnesses must be known and support what its workflow needs; a missing one is only a warning. If its agents need full permissions that are not yet allowed for the project, you are asked first; without a terminal, the task is held until you allow them.

--json: { task, workflow: { from, file }, warnings }. The task is as in signalbox task show
Exit codes: 0 ok, 1 refused, or you said no; there is no new task, 2 wrong usage, 3 no such project, task or workflow`,
  },
  async func(flags, first, second) {
    const words = readWords(flags, first, second);
    refuseTwoBranches(flags, words.branch);
    const call = createCall(this);
    const project = await findProject(call, flags.project);
    const { branch } = words;
    // An empty --summary is a choice; an empty argument, such as an unset variable, or only spaces, is a mistake.
    const isBlank = flags.summary === "" ? false : words.summary?.trim() === "";
    const summary = (isBlank ? undefined : words.summary) ?? (await missingSummary(this, flags, branch));
    if (summary === noTask) return;
    if (first !== undefined && second !== undefined && !(await isMeant(this, first, second, flags.json))) return;
    const context = await readContext(this, flags);
    const said = configFromEnvironment(this.process.env ?? {});
    const body = given({
      project: project.name,
      branch,
      summary,
      context,
      workflow: flags.workflow === undefined ? said.workflow : workflowReference(flags.workflow),
      status: flags.status,
      harness: flags.harness ?? said.harness,
      reviewHarness: flags["review-harness"] ?? said.reviewHarness,
      model: flags.model ?? said.model,
      labels: flags.label,
      priority: flags.priority,
      dependsOn: flags["depends-on"]?.map(asDependency),
      handDown: flags["hand-down"],
      budget: flags.budget,
      parent: flags.parent && asReference(flags.parent),
      from: flags.from && asReference(flags.from),
      base: flags.base,
      pullRequest: flags.pr,
      ticket: flags.ticket,
      autostart: flags["no-spawn"] ? false : said.autostart,
      branchPrefix: said.branchPrefix,
      preset: flags.preset,
      settings: flags.set && readTaskSettings(this, project, flags.workflow, flags.set),
    });
    const allowed = flags["allow-full-permissions"] || (await isAllowed(this, call, body, flags));
    if (allowed === false) return;
    const answer = await call(routes.createTask, { body: allowed ? { ...body, allowFullPermissions: true } : body });
    if (flags.json) return this.print(writeJson(answer));
    const { task, workflow } = answer;
    this.print([task.id, shownTask(task), task.branch, task.status].join("  "));
    if (task.summary === "")
      this.say(`It has no summary. To give it one: signalbox task update ${task.id} --summary "What is to be done"`);
    warnUnproved(this, workflow);
    this.say(`To see what happens next: signalbox task explain ${task.id}`);
    for (const warning of answer.warnings) this.say(`${this.talkPaint.yellow("warning:")} ${warning}`);
  },
});

/** Whether the person allows full permissions; undefined if they are not needed, or without a terminal to ask on. */
export async function isAllowed(
  context: Context,
  call: Call,
  { project, workflow, harness, reviewHarness }: BodyOf<typeof routes.createTask>,
  { json, "no-spawn": later = false }: { readonly json: boolean; readonly "no-spawn"?: boolean },
): Promise<boolean | undefined> {
  if (json || later || !canAsk()) return undefined;
  const permissions = await call(routes.projectPermissions, {
    params: { project },
    query: given({ workflow, harness, reviewHarness }),
  });
  if (!mustAllow(permissions)) return undefined;
  if (await askPermissions(context, project, permissions)) return true;
  context.say("No task was created. To create one without starting it: signalbox task create --no-spawn");
  context.process.exitCode = exitCodes.failed;
  return false;
}

/** An argument with a space in it is a summary: a branch name cannot contain spaces. */
function readWords({ summary: said }: CreateFlags, first: string | undefined, second: string | undefined) {
  const isSummary = second === undefined && said === undefined && first !== undefined && /\s|^$/.test(first);
  const { branch, summary } = isSummary ? { branch: undefined, summary: first } : { branch: first, summary: second };
  if (said === undefined || summary === undefined) return { branch, summary: said ?? summary };
  throw new Fault("usage", "SUMMARY and --summary cannot both be given.", { hint: "Leave one of them out." });
}

const noTask = Symbol("no task");

/**
 * Asks for a missing summary. Tickets, pull requests and earlier tasks bring their own. Without a terminal to ask on,
 * no task is created, because an agent could not work on it.
 */
async function missingSummary(
  context: Context,
  { ticket, pr, from, json }: CreateFlags,
  branch: string | undefined,
): Promise<string | undefined | typeof noTask> {
  if (ticket !== undefined || pr !== undefined || from !== undefined) return undefined;
  const taken = branch === undefined ? "" : `"${branch}" is understood as the name of the task's branch. `;
  if (!json && canAsk()) {
    const answer = await ask(`${taken}What should be done, in one line?`);
    if (answer) return answer;
    context.say("No task was created.");
    context.process.exitCode = exitCodes.failed;
    return noTask;
  }
  const words = branch === undefined ? "" : `${shellWord(branch)} `;
  const alone =
    branch === undefined ? "" : `\nIf "${branch}" is the summary: signalbox task create --summary ${shellWord(branch)}`;
  throw new Fault("usage", `${taken}The summary is missing, so no task was created.`, {
    hint: `Add it: signalbox task create ${words}"What is to be done"${alone}\nTo let its workflow ask for it: signalbox task create ${words}--summary ""`,
  });
}

/**
 * Two single words are more likely a summary without quotes than a branch and a summary. A person is asked; elsewhere the
 * command says how it understands them.
 */
async function isMeant(context: Context, branch: string, summary: string, json: boolean): Promise<boolean> {
  if (/\s|^$/.test(summary)) return true;
  const understood = `"${branch}" is understood as the task's branch, and "${summary}" as its summary.`;
  if (json || !canAsk()) {
    context.say(understood);
    return true;
  }
  if (await askYes(`${understood} Is that right?`, false)) return true;
  const whole = shellWord(`${branch} ${summary}`);
  context.say(`No task was created. If the whole text is the summary: signalbox task create ${whole}`);
  context.process.exitCode = exitCodes.failed;
  return false;
}

/** A pull request brings its own branch and base. */
function refuseTwoBranches({ pr, from, base }: CreateFlags, branch: string | undefined): void {
  const other = branch ?? (from === undefined ? base : "--from");
  if (pr === undefined || other === undefined) return;
  throw new Fault("usage", "With --pr the branch and its base are those of the pull request.", {
    hint:
      branch === undefined ? "Leave --from and --base out." : `Leave "${branch}" out, or put the summary in quotes.`,
  });
}

async function readContext(context: Context, flags: CreateFlags): Promise<string | undefined> {
  const { context: text, "context-file": file } = flags;
  if (text !== undefined && file !== undefined) {
    throw new Fault("usage", "--context and --context-file cannot both be given.", { hint: "Leave one of them out." });
  }
  return file !== undefined || text === "-" ? readInput(context, file ?? "-") : text;
}

/** Parses `--set name=value` by the settings that the workflow declares. */
export function readSettingFlags(workflow: Workflow, flags: readonly string[]): Settings {
  const settings: Record<string, SettingValue> = {};
  for (const flag of flags) {
    const [name, text] = readSettingFlag(flag);
    const setting = Object.hasOwn(workflow.settings, name) ? workflow.settings[name] : undefined;
    if (setting === undefined) throw notKnown(workflow, "setting", name, Object.keys(workflow.settings));
    const value = parseSetting(setting, text);
    const problem = settingProblem(name, setting, value);
    if (problem !== undefined) throw wrong(problem, `To see its settings: signalbox workflow show ${workflow.name}`);
    settings[name] = value;
  }
  return settings;
}

export function checkPreset(workflow: Workflow, preset: string | undefined): void {
  if (preset === undefined || Object.hasOwn(workflow.presets, preset)) return;
  throw notKnown(workflow, "preset", preset, Object.keys(workflow.presets));
}

function notKnown(workflow: Workflow, what: string, name: string, known: readonly string[]): Fault {
  const hint = known.length === 0 ? `The workflow "${workflow.name}" has no ${what}s.` : didYouMean(name, known);
  return wrong(`There is no ${what} "${name}".`, hint);
}

function wrong(message: string, hint: string): Fault {
  return new Fault("usage", message, { hint });
}

/** Parses `--set` by the workflow that the new task will have, which declares the type of each setting. */
function readTaskSettings(
  context: Context,
  project: ProjectView,
  workflow: string | undefined,
  flags: readonly string[],
): Settings {
  const resolved = resolveConfig({ ...configLayers(context, project.path, project), flag: { workflow } });
  const found = findWorkflow({ home: context.home, repository: project.path }, resolved.workflow.value);
  return readSettingFlags(loadSound(found), flags);
}
