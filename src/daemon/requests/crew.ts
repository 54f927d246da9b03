import { Refusal } from "../../api/client.ts";
import type { Routes } from "../../api/routes.ts";
import type { CrewView, SlotView } from "../../api/tickets.ts";
import { mergesAlone } from "../../engine/persons-turn.ts";
import { whyNotFrom } from "../../engine/reconcile.ts";
import { Fault, tell } from "../../fault.ts";
import type { Agent, Usage } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import { cutText } from "../../text.ts";
import { readyTickets, ticketTroubles } from "../../tickets/ready-tickets.ts";
import { clearCommand, orderMade, workText } from "../agents/roster.ts";
import { chooseWorkflow, setPermissions } from "../choose-workflow.ts";
import type { Core } from "../core.ts";
import { giveTicket as give } from "../crew/give-ticket.ts";
import { findTicket, readTickets, type TasksOfTicket } from "../crew/tickets.ts";
import type { Handler } from "../handlers.ts";
import { mustHave, remoteName, remoteOf } from "../project.ts";
import { changeView, isoTime } from "../views.ts";
import { agentView, isUsageOf } from "./agents.ts";

/** A named agent with its present work and its usage over all of its tasks. */
async function slotView(core: Core, agent: Agent): Promise<SlotView> {
  const { name, state, reason } = await agentView(core, agent);
  const stored = agent.task === "" ? undefined : await core.store.getTask(agent.task);
  const task = stored?.isOpen ? stored.task : undefined;
  const runs = task === undefined ? [] : await core.store.runs.list({ task: task.id });
  const run = runs.filter(({ started }) => started !== undefined).at(-1);
  const signAt = run && (core.agents?.watchOf(run.id)?.signs.signAt ?? run.endedAt ?? run.started?.at);
  const had = new Set([...(agent.had ?? []), ...(agent.task === "" ? [] : [agent.task])]);
  const used = (core.agents?.book.list() ?? []).filter(
    (usage) => isUsageOf(usage, agent, (task) => had.has(task)) && hasUsage(usage),
  );
  const sum = (of: (usage: (typeof used)[number]) => number) => used.reduce((total, usage) => total + of(usage), 0);
  return {
    name,
    state,
    reason,
    // A run that it does for another task is not the crew's to cancel.
    task: task === undefined ? "" : `${task.project}#${task.number}`,
    lastTask: agent.task,
    ticket: task?.ticket ?? "",
    branch: task?.branch ?? "",
    workspace: task?.workspace ?? "",
    session: run?.session ?? "",
    steps: runs.filter(({ started, word }) => started?.mode === "steps" && steps.has(word)).length,
    assignedAt: stored?.isOpen ? isoTime(stored.createdAt) : null,
    stepAt: signAt === undefined ? null : isoTime(signAt),
    madeAt: isoTime(agent.at),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cost: used.length > 0 && used.every(({ cost }) => cost === undefined) ? null : sum(({ cost }) => cost ?? 0),
  };
}

/** Words of a successful step: more steps follow, or the work is done. */
const steps: ReadonlySet<string> = new Set(["step", "ok"]);

/** A run without any usage yet does not make the cost unknown. */
function hasUsage({ inputTokens, outputTokens, cost }: Usage): boolean {
  return inputTokens + outputTokens > 0 || cost !== undefined;
}

const defaultMost = 10;
/** The built-in workflow for tickets. */
const defaultWorkflow = "crew";

export function getCrew(core: Core): Handler<Routes["getCrew"]> {
  return async ({ params }) => crewView(core, await mustHave(core, params.project ?? ""));
}

export function runCrew(core: Core): Handler<Routes["runCrew"]> {
  return async ({ params, body }) => {
    const project = await mustHave(core, params.project ?? "");
    const { most = defaultMost, workflow = defaultWorkflow } = body;
    // A broken workflow is reported now, instead of once per ticket.
    await chooseWorkflow(core, project, workflow);
    if (body.allowFullPermissions === true) await setPermissions(core, project.name, "allow");
    core.crew.start(project.name, { most, workflow });
    core.log.info("Tickets are given to agents", { project: project.name, most, workflow });
    return crewView(core, project);
  };
}

export function stopCrew(core: Core): Handler<Routes["stopCrew"]> {
  return async ({ params }) => {
    const project = await mustHave(core, params.project ?? "");
    core.crew.stop(project.name);
    core.log.info("No more tickets are given to agents", { project: project.name });
    return crewView(core, project);
  };
}

export function giveTicket(core: Core): Handler<Routes["giveTicket"]> {
  return async ({ params, body }) => {
    const project = await mustHave(core, params.project ?? "");
    const agent = await agentNamed(core, project, params.agent ?? "");
    const ticket = findTicket(await core.ticketsOf(project).list(), body.ticket).id;
    const { task, warnings } = await give(core, project, agent, { ticket, workflow: body.workflow ?? defaultWorkflow });
    const agentNow = await slotView(core, await agentNamed(core, project, params.agent ?? ""));
    const merging = await mergeWarnings(core, project, body.workflow ?? defaultWorkflow);
    return { agent: agentNow, task, warnings: [...warnings, ...merging] };
  };
}

/** Moves the agent's task back to the initial state of its workflow. */
export function restartSlot(core: Core): Handler<Routes["restartSlot"]> {
  return async ({ params }) => {
    const project = await mustHave(core, params.project ?? "");
    const agent = await agentNamed(core, project, params.agent ?? "");
    const { name, state } = await slotView(core, agent);
    const work = core.agents?.roster.workOf(agent.id);
    if (work !== undefined)
      throw new Refusal([
        {
          code: "not-waiting",
          text: `${name} does ${workText(work)}, which is not a task of the crew.`,
          fix: `End that run; its workflow decides what follows: signalbox agent kill ${work.run}`,
        },
      ]);
    if (core.agents?.roster.stuckOf(agent.id) !== undefined)
      throw new Refusal([
        {
          code: "not-waiting",
          text: `${name} is stuck after a run, and has no task of the crew.`,
          fix: `Make it available again: ${clearCommand(name, project.name)}`,
        },
      ]);
    const refusal = whyNotFrom("kill", name, state);
    if (refusal !== undefined) throw new Refusal([{ code: "not-waiting", ...refusal }]);
    const task = (await core.store.getTask(agent.task))?.task;
    const [first = ""] = task === undefined ? [] : (await core.workflows.get(task.workflowHash)).initial;
    return changeView(core, await core.submit(agent.task, { kind: "move", to: first, actor: { role: "human" } }));
  };
}

async function agentNamed({ store }: Core, project: Project, name: string): Promise<Agent> {
  const agent = await store.agents.get(`${project.name}/${name}`);
  if (agent !== undefined) return agent;
  throw new Fault("agent.missing", `${project.name} has no agent "${name}".`, {
    hint: `Make it: signalbox crew spawn ${name} --project ${project.name}`,
  });
}

async function crewView(core: Core, project: Project): Promise<CrewView> {
  const problems = new Map(core.crew.problems(project.name));
  const { tickets, broken, tasks, place } = await readTickets(core, project).catch((error: unknown) => {
    // Agents can be listed, ended and stopped even if the tickets cannot be read.
    if (!(error instanceof Fault)) throw error;
    problems.set("", tell(error));
    return { tickets: [], broken: [], tasks: new Map<string, TasksOfTicket>(), place: "file" as const };
  });
  const ready = readyTickets(tickets);
  const open = ready.flatMap(({ id, status }) => (status === "open" ? [id] : []));
  const isOpen = new Set(open);
  const order = core.crew.of(project.name);
  const agents = (await core.store.agents.list({ project: project.name })).toSorted(orderMade);
  return {
    project: project.name,
    running: order !== undefined,
    most: order?.most ?? 0,
    workflow: order?.workflow ?? "",
    agents: await Promise.all(agents.map((agent) => slotView(core, agent))),
    waiting: open.filter((id) => !tasks.has(id)),
    unready: tickets.flatMap(({ id, status }) => (status === "open" && !isOpen.has(id) ? [id] : [])),
    leftOver: ready.flatMap(({ id }) => (tasks.has(id) && tasks.get(id)?.open === undefined ? [id] : [])),
    unread: broken.map(({ file }) => file),
    // On a forge, an unknown dependency may be an issue without the label, so it is not reported as missing.
    troubles: place === "file" ? [...ticketTroubles(tickets)] : [],
    problems: [...problems].map(([ticket, problem]) => ({ ticket, problem })),
    warnings: order === undefined ? [] : [...(await mergeWarnings(core, project, order.workflow))],
    poolSize: project.poolSize,
  };
}

/** What a person should know about work that a workflow merges without asking; nothing if a person is asked first. */
async function mergeWarnings(core: Core, project: Project, name: string): Promise<readonly string[]> {
  const { repositories, git } = core;
  const workflow = (await chooseWorkflow(core, project, name).catch(unlessFault))?.workflow;
  if (repositories === undefined || workflow === undefined || !mergesAlone(workflow)) return [];
  const { testMerges, command } = (await repositories.testsOf(project).catch(unlessFault)) ?? untested;
  const isTested = testMerges || Object.values(workflow.states).some((state) => state.do.some(isTest));
  const isPushed = repositories.where() !== "here" && git !== undefined && (await remoteOf(git, project)) !== undefined;
  const pushed = isPushed ? `, and pushed to ${remoteName}` : "";
  const none = "no test command was found. To name one: signalbox config set test_command COMMAND --repository";
  const tests = !isTested
    ? "Nothing is tested before that."
    : command.length === 0
      ? `Nothing is tested before that: ${none}`
      : `Before that it is tested: ${cutText(command.join(" "), 200)}`;
  return [
    `Work is merged into ${project.defaultBranch} without asking you${pushed}. ${tests}\nTo be asked before each merge: signalbox crew run --workflow default`,
  ];
}

const untested = { testMerges: false, command: [] };

function isTest({ name }: { readonly name: string }): boolean {
  return name === "run_tests";
}

function unlessFault(error: unknown): undefined {
  if (!(error instanceof Fault)) throw error;
}
