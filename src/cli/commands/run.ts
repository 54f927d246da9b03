import type { Call } from "../../api/client.ts";
import { type ProjectView, routes } from "../../api/routes.ts";
import { known } from "../../engine/language/problem.ts";
import type { Settings, Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { configFromEnvironment, resolveConfig } from "../../home/config.ts";
import { findWorkflow } from "../../home/workflows.ts";
import { shellWord } from "../../shell-quote.ts";
import { ask, canAsk } from "../ask.ts";
import { createCall } from "../connect.ts";
import { type Context, configLayers } from "../context.ts";
import { findProject, nameTask, shownTask, workflowReference } from "../find.ts";
import { loadSound } from "../findings.ts";
import { warnUnproved } from "../tell.ts";
import { count, given } from "../text.ts";
import { command, type FlagsOf } from "./command.ts";
import { continuedTask } from "./continue-run.ts";
import { flag, json, listFlag, makeFlags, numberFlag, project, task, textFlag, workflow } from "./parameters.ts";
import { allowFullPermissions } from "./project.ts";
import { isAllowed, readSettingFlags } from "./task-create.ts";
import { type Started, stay } from "./team-screen.ts";

const { harness, "review-harness": reviewHarness, model, budget } = makeFlags;

const runFlags = {
  yes: flag("Ask nothing: the architect asks no questions, and the plan is carried out without your approval"),
  agents: numberFlag("N", "How many parts are built at the same time", 1, 100),
  policy: textFlag(
    "P",
    "What happens after a part has failed: retry, continue or stop, unless the workflow has others",
  ),
  budget,
  workflow: workflow("The workflow; otherwise the configured one, and team if none is configured"),
  set: listFlag("NAME=VALUE", "Another setting of the workflow"),
  ...{ harness, "review-harness": reviewHarness, model },
  project,
  resume: flag("Come back to a task that was started before: the argument is the task"),
  from: {
    ...textFlag("TASK", "Continue the branch of a task that is over: build what is missing, or what the request says"),
    proposeCompletions: task.proposeCompletions,
  },
  "allow-full-permissions": allowFullPermissions,
  json,
} as const;

type RunFlags = FlagsOf<typeof runFlags>;

/** From a request to a finished branch or pull request. The work is the daemon's: this command shows it, and asks. */
export const run = command({
  parameters: {
    positional: {
      kind: "array",
      parameter: {
        parse: String,
        placeholder: "REQUEST|TASK",
        brief: "What is to be built, in one line; with --resume, the task to come back to",
      },
      minimum: 0,
      isSingle: true,
    },
    flags: runFlags,
  },
  docs: {
    brief: "Let a team of agents build what you ask for, from the request to the branch or pull request",
    fullDescription: `Creates a task and stays with it: an architect asks what is unclear and plans the parts, several engineers build them at the same time, and the engine tests and joins them. On a terminal you see a bar over the parts and a line for each agent. Questions are asked as they come, and you approve the plan before the engineers start. --yes asks nothing. At the end you see what was done, what failed and why, the branch or pull request, and the cost.

Ctrl-C only leaves: the work goes on, and signalbox run --resume comes back to it; if the task is over by then, you see its end again, with the same exit code. Without a task, --resume takes the only open task of the project that is built in parts.

--from starts a new task on the branch of one that is over, in the same workflow. Its agents are told the first request, what was said about it, which parts are done, and which are missing and why; without a request, they build these. You approve the new plan even if the first run had --yes.

Without a terminal, and with --json, nothing is asked. Without a terminal, a line is printed for each change. The command ends when the task is over, or when it needs a person and nothing goes on without one.

Examples:
  signalbox run "Add dark mode"
  signalbox run "Add dark mode" --yes --agents 5 --policy continue --budget 20
  signalbox run --resume coffee#12
  signalbox run --from coffee#12

--json: { end, task, pullRequest, questions, waits: [{ reason, fix }], usage: { runs, inputTokens, outputTokens, cachedTokens, cost, unknown, duration } }. end is done, partly-done, failed, cancelled, needs-person or detached; the task is as in signalbox task show
Exit codes: 0 done, 1 failed, cancelled or refused, 2 wrong usage, 3 no such project, task or workflow, 5 it needs a person, 6 you left, and the work goes on, 7 done, but not all of its parts`,
  },
  async func(flags, ...words): Promise<void> {
    const call = createCall(this);
    const found = flags.resume ? await runToResume(call, flags, words) : await startRun(this, call, flags, words);
    if (found !== undefined) await stay(this, call, found, flags.json);
  },
});

/** Creates the task; undefined if the person said no. */
async function startRun(
  context: Context,
  call: Call,
  flags: RunFlags,
  words: readonly string[],
): Promise<Started | undefined> {
  const request = flags.from !== undefined && words.length === 0 ? undefined : await readRequest(words, flags.json);
  if (request !== undefined) await mustBeNoTask(call, request);
  const from = flags.from === undefined ? undefined : await continuedTask(call, flags.from, request);
  const project = await findProject(call, from?.task.project ?? flags.project);
  const said = configFromEnvironment(context.process.env ?? {});
  const { reference, workflow } = workflowOf(context, project, flags.workflow ?? from?.task.workflow);
  const settings = settingsOf(workflow, flags, canAsk() && !flags.json, from !== undefined);
  const body = given({
    project: project.name,
    from: from?.task.id,
    context: from?.context,
    summary: from?.summary ?? request,
    workflow: reference,
    harness: flags.harness ?? said.harness,
    reviewHarness: flags["review-harness"] ?? said.reviewHarness,
    model: flags.model ?? said.model,
    branchPrefix: said.branchPrefix,
    budget: flags.budget,
    // A person who runs this wants it to start.
    autostart: true,
    settings,
  });
  const allowed = flags["allow-full-permissions"] || (await isAllowed(context, call, body, flags));
  if (allowed === false) return undefined;
  const answer = await call(routes.createTask, { body: allowed ? { ...body, allowFullPermissions: true } : body });
  warnUnproved(context, answer.workflow);
  for (const warning of answer.warnings) context.say(`${context.talkPaint.yellow("warning:")} ${warning}`);
  const agents = settings.agents;
  const isCrowded = typeof agents === "number" && agents > project.poolSize;
  const notice = isCrowded
    ? `${project.name} has room for ${count(project.poolSize, "workspace")}, so fewer agents work at the same time. For more: signalbox project update ${project.name} --pool-size ${agents}`
    : "";
  if (notice !== "") context.say(notice);
  return { ...answer.task, notice };
}

/** The request, in one line. On a terminal a missing one is asked for. */
async function readRequest(words: readonly string[], json: boolean): Promise<string> {
  const [first, ...others] = words;
  if (others.length > 0) {
    throw new Fault("usage", `One request is expected, but there are ${words.length} arguments.`, {
      hint: `If they belong together, put them in quotes: signalbox run ${shellWord(words.join(" "))}`,
    });
  }
  const request = first ?? (!json && canAsk() ? await ask("What should be built, in one line?") : undefined);
  if (request !== undefined && request.trim() !== "") return request;
  const what = request === undefined ? "The request is missing" : "The request is empty";
  throw new Fault("usage", `${what}, so nothing was started.`, {
    hint: 'Write it: signalbox run "What is to be built"',
  });
}

/** A request that is the name of a task is almost certainly meant for --resume. */
async function mustBeNoTask(call: Call, request: string): Promise<void> {
  if (!/^[\w.-]*#?[\w-]+$/.test(request.trim())) return;
  const named = await nameTask(call, request.trim()).catch(() => undefined);
  const found = named && (await call(routes.getTask, named).catch(() => undefined));
  if (found === undefined) return;
  throw new Fault("usage", `"${request.trim()}" is the task ${shownTask(found.task)}, so nothing was started.`, {
    hint: `To come back to it: signalbox run --resume ${found.task.id}\nOr say in more words what is to be built.`,
  });
}

/** The named or configured workflow. The general default is for a single agent; this command is for a team. */
function workflowOf(context: Context, project: ProjectView, named: string | undefined) {
  const resolved = resolveConfig({
    ...configLayers(context, project.path, project),
    flag: { workflow: named },
  }).workflow;
  const reference = resolved.source === "default" ? "team" : workflowReference(resolved.value);
  const workflow = loadSound(findWorkflow({ home: context.home, repository: project.path }, reference));
  return { reference, workflow };
}

/**
 * The settings of the new task. A person who can be asked approves the plan, unless they said yes to everything. A task that
 * continues another has its settings, but a yes was only for that one.
 */
export function settingsOf(
  workflow: Workflow,
  { yes, agents, policy, set = [] }: Pick<RunFlags, "yes" | "agents" | "policy" | "set">,
  asks: boolean,
  continues = false,
): Settings {
  const has = (name: string) => Object.hasOwn(workflow.settings, name);
  const must = (name: string, flagName: string) => {
    if (has(name)) return;
    throw new Fault(
      "usage",
      `The workflow "${workflow.name}" has no setting "${name}", so --${flagName} means nothing.`,
      {
        hint: `Leave it out, or choose a workflow that has one: --workflow team`,
      },
    );
  };
  if (agents !== undefined) must("agents", "agents");
  if (policy !== undefined) {
    must("failure_policy", "policy");
    const policies = (workflow.settings.failure_policy?.oneOf ?? []).map(String);
    if (policies.length > 0 && !policies.includes(policy))
      throw new Fault("usage", `There is no policy "${policy}".`, { hint: known(policies) });
  }
  const asAtFirst = ["skip_clarification", "plan_approval"].filter((name) => continues && has(name));
  const wanted = [
    ...asAtFirst.map((name) => `${name}=${workflow.settings[name]?.default}`),
    ...(agents === undefined ? [] : [`agents=${agents}`]),
    ...(policy === undefined ? [] : [`failure_policy=${policy}`]),
    ...(yes && has("skip_clarification") ? ["skip_clarification=true"] : []),
    ...(has("plan_approval") && (yes || asks) ? [`plan_approval=${!yes}`] : []),
  ];
  // What the person sets explicitly comes last, and counts.
  return readSettingFlags(workflow, [...wanted, ...set]);
}

/** Flags that only a new task can have. */
const onlyNew = [
  ...(["yes", "agents", "policy", "budget", "workflow", "set", "harness", "review-harness", "model", "from"] as const),
];

async function runToResume(call: Call, flags: RunFlags, [reference, ...others]: readonly string[]): Promise<Started> {
  const unused = onlyNew.find((name) => flags[name] !== undefined && flags[name] !== false);
  if (unused !== undefined)
    throw new Fault("usage", `--${unused} is for a new task, and --resume comes back to one.`, {
      hint: `Leave --${unused} or --resume out.`,
    });
  if (others.length > 0)
    throw new Fault("usage", `--resume takes one task, but there are ${others.length + 1} arguments.`, {
      hint: `Name one: signalbox run --resume ${shellWord(reference ?? "")}`,
    });
  if (reference === undefined) return onlyRun(call, await findProject(call, flags.project));
  const { task } = await call(routes.getTask, await nameTask(call, reference));
  if (task.part !== null)
    throw new Fault("run.part", `${shownTask(task)} is a part of another task.`, {
      hint: `Come back to the whole: signalbox run --resume ${task.parent}`,
    });
  return { ...task, notice: "" };
}

/** The only open task of the project whose workflow makes parts. */
async function onlyRun(call: Call, { name }: ProjectView): Promise<Started> {
  const { tasks } = await call(routes.listTasks, { query: { project: name, open: "true", limit: "1000" } });
  const open = tasks.filter(({ children, part }) => children !== null && part === null);
  const [only, another] = open;
  if (only === undefined)
    throw new Fault("run.missing", `${name} has no open task that is built in parts.`, {
      hint: 'Start one: signalbox run "What is to be built"\nTo come back to another task, name it: signalbox run --resume TASK',
    });
  if (another === undefined) return { ...only, notice: "" };
  const lines = open.map(({ id, summary }) => `  signalbox run --resume ${id}  # ${summary}`);
  throw new Fault("usage", `${name} has ${open.length} open tasks that are built in parts.`, {
    hint: `Name one:\n${lines.join("\n")}`,
  });
}
