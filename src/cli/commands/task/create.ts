import type { Call } from "../../../api/client.ts";
import { routes } from "../../../api/routes.ts";
import { Fault } from "../../../fault.ts";
import { configFromEnvironment } from "../../../home/config-from-environment.ts";
import { ask, canAsk } from "../../ask.ts";
import { askPermissions, mustAllow } from "../../ask-permissions.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { exitCodes } from "../../exit-code.ts";
import { findProject } from "../../find-project.ts";
import { given } from "../../given.ts";
import { asReference, shownTask } from "../../name-task.ts";
import { readInput } from "../../read-input.ts";
import { shellWord } from "../../shell-word.ts";
import { readTaskSettings } from "../../task-settings.ts";
import { warnUnproved } from "../../warn-unproved.ts";
import { workflowReference } from "../../workflow-reference.ts";
import { writeJson } from "../../write-json.ts";

export interface CreateFlags {
  readonly project?: string;
  readonly summary?: string;
  readonly context?: string;
  readonly "context-file"?: string;
  readonly workflow?: string;
  readonly status?: string;
  readonly harness?: string;
  readonly "review-harness"?: string;
  readonly model?: string;
  readonly label?: readonly string[];
  readonly priority?: number;
  readonly "depends-on"?: readonly string[];
  readonly parent?: string;
  readonly "no-spawn": boolean;
  readonly preset?: string;
  readonly set?: readonly string[];
  readonly from?: string;
  readonly base?: string;
  readonly pr?: number;
  readonly ticket?: string;
  readonly "allow-full-permissions": boolean;
  readonly json: boolean;
}

export async function create(this: Context, flags: CreateFlags, first?: string, second?: string) {
  const words = readWords(flags, first, second);
  refuseTwoBranches(flags, words.branch);
  const call = createCall(this);
  const project = await findProject(call, flags.project);
  const { branch } = words;
  // An empty --summary is a choice; an empty word, such as that of an empty variable, and spaces are a slip.
  const isBlank = flags.summary === "" ? false : words.summary?.trim() === "";
  const summary = (isBlank ? undefined : words.summary) ?? (await missingSummary(this, flags, branch));
  if (summary === noTask) return;
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
    dependsOn: flags["depends-on"]?.map(asReference),
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
}

/** Whether the person allows full permissions where they are needed; undefined where nobody has to be asked, or can be. */
async function isAllowed(
  context: Context,
  call: Call,
  { project, workflow, harness, reviewHarness }: Wanted,
  { json, "no-spawn": later }: CreateFlags,
): Promise<boolean | undefined> {
  if (json || later || !canAsk()) return undefined;
  const permissions = await call(routes.projectPermissions, {
    params: { project },
    query: given({ workflow, harness, reviewHarness }),
  });
  if (!mustAllow(permissions)) return undefined;
  if (await askPermissions(context, project, permissions)) return true;
  context.say("There is no new task. To have one that nobody starts yet, add --no-spawn");
  context.process.exitCode = exitCodes.failed;
  return false;
}

interface Wanted {
  readonly project: string;
  readonly workflow?: string;
  readonly harness?: string;
  readonly reviewHarness?: string;
}

/** One word with a space in it is a summary: no branch can have one. */
function readWords({ summary: said }: CreateFlags, first: string | undefined, second: string | undefined) {
  const isSummary = second === undefined && said === undefined && first !== undefined && /\s|^$/.test(first);
  const { branch, summary } = isSummary ? { branch: undefined, summary: first } : { branch: first, summary: second };
  if (said === undefined || summary === undefined) return { branch, summary: said ?? summary };
  throw new Fault("usage", "SUMMARY and --summary cannot both be given.", { hint: "Leave one of them out." });
}

const noTask = Symbol("no task");

/**
 * What is to be done, where nobody has said it. Tickets, pull requests and earlier tasks say it themselves. On a terminal
 * the person is asked; elsewhere a task that nobody can work on is not made.
 */
async function missingSummary(
  context: Context,
  { ticket, pr, from, json }: CreateFlags,
  branch: string | undefined,
): Promise<string | undefined | typeof noTask> {
  if (ticket !== undefined || pr !== undefined || from !== undefined) return undefined;
  const taken = branch === undefined ? "" : `"${branch}" is taken for the name of the task's branch. `;
  if (!json && canAsk()) {
    const answer = await ask(`${taken}What is to be done, in one line?`);
    if (answer) return answer;
    context.say("There is no new task.");
    context.process.exitCode = exitCodes.failed;
    return noTask;
  }
  const words = branch === undefined ? "" : `${shellWord(branch)} `;
  const alone =
    branch === undefined
      ? ""
      : `\nIf "${branch}" is what is to be done: signalbox task create --summary ${shellWord(branch)}`;
  throw new Fault("usage", `${taken}What is to be done is missing, so there is no new task.`, {
    hint: `Say it: signalbox task create ${words}"What is to be done"${alone}\nTo let its workflow ask for it: signalbox task create ${words}--summary ""`,
  });
}

/** A pull request says itself which branches it is about. */
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
