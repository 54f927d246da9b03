import type { CrewView } from "../../api/crew-routes.ts";
import { Refusal } from "../../api/error.ts";
import type { Routes } from "../../api/routes.ts";
import { whyNotFrom } from "../../engine/agent-commands.ts";
import { readyTickets } from "../../engine/ready-tickets.ts";
import { ticketTroubles } from "../../engine/ticket-troubles.ts";
import { Fault, tell } from "../../fault.ts";
import type { Agent } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { giveTicket as give } from "../crew/give-ticket.ts";
import { orderMade } from "../crew/order-made.ts";
import { slotView } from "../crew/slot-view.ts";
import { chooseWorkflow } from "./choose-workflow.ts";
import { findTicket } from "./find-ticket.ts";
import { changeView } from "./move-task.ts";
import { mustHave } from "./projects.ts";
import { setPermissions } from "./set-permissions.ts";
import type { TasksOfTicket } from "./tasks-by-ticket.ts";
import { lookAtTickets } from "./tickets.ts";

const usualMost = 10;
/** The built-in workflow for tickets. */
const usualWorkflow = "crew";

export function getCrew(core: Core): Handler<Routes["getCrew"]> {
  return async ({ params }) => crewView(core, await mustHave(core, params.project ?? ""));
}

export function runCrew(core: Core): Handler<Routes["runCrew"]> {
  return async ({ params, body }) => {
    const project = await mustHave(core, params.project ?? "");
    const { most = usualMost, workflow = usualWorkflow } = body;
    // What is wrong with it is told now, not ticket by ticket.
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
    const { task, warnings } = await give(core, project, agent, { ticket, workflow: body.workflow ?? usualWorkflow });
    return { agent: await slotView(core, await agentNamed(core, project, params.agent ?? "")), task, warnings };
  };
}

/** Back to where its workflow begins, along whatever way leads there. */
export function restartSlot(core: Core): Handler<Routes["restartSlot"]> {
  return async ({ params }) => {
    const project = await mustHave(core, params.project ?? "");
    const agent = await agentNamed(core, project, params.agent ?? "");
    const { name, state } = await slotView(core, agent);
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
  const { tickets, broken, tasks, place } = await lookAtTickets(core, project).catch((error: unknown) => {
    // Agents can be seen, ended and stopped also where nobody can read what else there is to do.
    if (!(error instanceof Fault)) throw error;
    problems.set("", tell(error));
    return { tickets: [], broken: [], tasks: new Map<string, TasksOfTicket>(), place: "file" as const };
  });
  const open = readyTickets(tickets).flatMap(({ id, status }) => (status === "open" ? [id] : []));
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
    leftOver: open.filter((id) => tasks.has(id) && tasks.get(id)?.open === undefined),
    unread: broken.map(({ file }) => file),
    // Of a dependency that is not there nobody can tell here whether it is an issue without the label.
    troubles: place === "file" ? [...ticketTroubles(tickets)] : [],
    problems: [...problems].map(([ticket, problem]) => ({ ticket, problem })),
    poolSize: project.poolSize,
  };
}
