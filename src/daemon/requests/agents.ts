import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { AgentView, SandboxView } from "../../api/agents.ts";
import { Refusal } from "../../api/client.ts";
import type { Routes } from "../../api/routes.ts";
import { type AgentState, recordedState } from "../../engine/reconcile.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Agent, StartedRun, Usage } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import { sentence } from "../../text.ts";
import type { Agents } from "../agents/agents.ts";
import { checkNeeds, harnessNamed } from "../agents/harnesses.ts";
import { clearCommand, labelOf, nameOf, workText } from "../agents/roster.ts";
import { addUp } from "../agents/usage.ts";
import { findTask } from "../authorise.ts";
import type { Core } from "../core.ts";
import { bindAgent, whyNotYet, withAgent } from "../crew/give-ticket.ts";
import type { Handler } from "../handlers.ts";
import { mustHave } from "../project.ts";
import { isoTime } from "../views.ts";
import { agentsOf } from "./tasks.ts";
import { chosen } from "./workspaces.ts";

export function listAgents(core: Core): Handler<Routes["listAgents"]> {
  return async ({ query }) => {
    const filter = query.project === undefined ? {} : { project: query.project };
    const all = await core.store.agents.list(filter);
    return { agents: await Promise.all(all.map((agent) => agentView(core, agent))) };
  };
}

export function addAgents(core: Core): Handler<Routes["addAgents"]> {
  return async ({ body }) => {
    const project = await mustHave(core, body.project);
    const harness = body.harness ?? (project.harness || core.config().values.harness || "claude");
    const { ports, roster, dispatch } = agentsOf(core);
    harnessNamed(ports.harnesses, harness);
    const who = body.name === undefined ? { count: body.count ?? 1 } : { name: body.name };
    const { agents, stored } = roster.make(project.name, who, { harness, model: body.model ?? "" });
    await stored;
    // Runs may wait for such an agent.
    dispatch.wake();
    core.crew.wake();
    return { agents: await Promise.all(agents.map((agent) => agentView(core, agent))) };
  };
}

const idleFix = "Choose an idle agent: signalbox agent ps";

export function assignAgent(core: Core): Handler<Routes["assignAgent"]> {
  return async (asked) => {
    const { project, task: reference } = asked.body;
    const name = asked.params.agent ?? "";
    return withAgent(core, `${project}/${name}`, async (agent) => {
      if (agent === undefined) {
        const hint = `Make it: signalbox agent spawn ${name} --project ${project}`;
        throw new Fault("agent.missing", `${project} has no agent "${name}".`, { hint });
      }
      const view = await agentView(core, agent);
      if (view.state !== "idle")
        throw new Refusal([
          {
            code: "not-waiting",
            text: `${view.name} is ${view.state}${view.task === "" ? "" : `, with ${view.task}`}.`,
            fix: idleFix,
          },
        ]);
      const { task } = await findTask(core, { ...asked, params: { task: reference }, query: { project } });
      const workflow = await core.workflows.get(task.workflowHash);
      const { harnesses, config } = agentsOf(core).ports;
      const lacking = checkNeeds(harnesses, workflow, { ...task, harness: agent.harness }, config());
      if (lacking.length > 0) throw new Refusal(lacking);
      const reserved = agentsOf(core).roster.hold(agent.id);
      if (reserved !== undefined) throw new Refusal([{ code: "not-waiting", text: reserved, fix: idleFix }]);
      const set = { harness: agent.harness, ...(agent.model === "" ? {} : { model: agent.model }) };
      try {
        await core.submit(task.id, { kind: "edit", actor: { role: "human" }, set });
        return await agentView(core, await bindAgent(core, agent, task.id));
      } finally {
        agentsOf(core).roster.unhold(agent.id);
        agentsOf(core).dispatch.wake();
      }
    });
  };
}

/** Makes an agent available again that has failed a run. The task that it failed stays as it is. */
export function clearAgent(core: Core): Handler<Routes["clearAgent"]> {
  return async ({ params, body }) => {
    const { name: project } = await mustHave(core, body.project);
    const name = params.agent ?? "";
    const agent = await core.store.agents.get(`${project}/${name}`);
    if (agent === undefined)
      throw new Fault("agent.missing", `${project} has no agent "${name}".`, {
        hint: `See them: signalbox agent ps --project ${project}`,
      });
    const { roster, dispatch } = agentsOf(core);
    if (!(await roster.clear(agent.id))) {
      const { state, task } = await agentView(core, agent);
      throw new Refusal([
        {
          code: "not-waiting",
          text: `${name} has failed no run: it is ${state}${task === "" ? "" : `, with ${task}`}.`,
          fix:
            task === "" ? "There is nothing to clear." : `See what the task waits for: signalbox task explain ${task}`,
        },
      ]);
    }
    dispatch.wake();
    core.crew.wake();
    core.log.info("A stuck agent was cleared", { agent: agent.id });
    return agentView(core, agent);
  };
}

export function cleanAgents(core: Core): Handler<Routes["cleanAgents"]> {
  return async ({ body }) => {
    const { ports } = agentsOf(core);
    const isDry = body.dryRun ?? false;
    const projects = new Set((await chosen(core, body.project)).map(({ name }) => name));
    const done: string[] = [];
    const act = async (what: string, work: () => Promise<void>) => {
      if (!isDry) await work();
      done.push(what);
    };
    for (const { id } of await core.store.agents.list({}))
      await withAgent(core, id, async (agent) => {
        if (agent === undefined || !projects.has(agent.project)) return;
        if ((await agentView(core, agent)).state !== "idle") return;
        await act(`the agent ${id}`, async () => {
          // A run may have got it since.
          if (core.agents?.roster.hold(id) !== undefined) return;
          await core.store.agents.remove(id).finally(() => core.agents?.roster.unhold(id));
        });
      });
    if (body.onlyAgents) return { done };
    const runs = (await core.store.runs.list({})).filter(({ project }) => projects.has(project));
    const ended = new Map(
      runs.flatMap((run) => (run.endedAt === undefined ? [] : [[run.started?.name ?? "", run] as const])),
    );
    for (const pane of await ports.terminal.list()) {
      const run = ended.get(pane.run);
      if (run === undefined || pane.dead === undefined) continue;
      await act(`the window of ${run.id}`, () => ports.terminal.close(pane.run));
    }
    for (const [name, run] of ended) {
      const isOpen = (await core.store.getTask(run.task))?.isOpen ?? false;
      if (name === "" || isOpen) continue;
      await act(`the folder of ${run.id}`, () => rm(join(core.places.runs, name), { recursive: true, force: true }));
    }
    return { done };
  };
}

/**
 * The state of a named agent is derived from the run that it does, from a run that it has failed, or from its task; it is not
 * recorded a second time.
 */
export async function agentView(core: Core, agent: Agent): Promise<AgentView> {
  const work = core.agents?.roster.workOf(agent.id);
  const stuck = core.agents?.roster.stuckOf(agent.id);
  const stored = agent.task === "" ? undefined : await core.store.getTask(agent.task);
  const open = stored?.isOpen ? stored.task : undefined;
  const used = addUp(
    (core.agents?.book.list() ?? []).filter((usage) => isUsageOf(usage, agent, (task) => stored?.task.id === task)),
  );
  const { name, project, harness, model } = { ...agent, name: nameOf(agent.id) };
  const own =
    work !== undefined
      ? { state: "working" as const, task: work.label, reason: `It does ${workText(work)}.` }
      : stuck !== undefined
        ? {
            state: "stuck" as const,
            task: stuck.label,
            reason: `${sentence(stuck.reason)} To clear it: ${clearCommand(name, project)}`,
          }
        : await stateByTask(core, stored, open);
  return {
    ...{ name, project, harness, model, ...own },
    runs: used.runs,
    usage: {
      inputTokens: used.inputTokens,
      outputTokens: used.outputTokens,
      cachedTokens: used.cachedTokens,
      cost: used.runs > 0 && used.unknown === used.runs ? null : used.cost,
    },
  };
}

async function stateByTask(core: Core, stored: StoredTask | undefined, open: Task | undefined) {
  const begun = open === undefined ? [] : await begunRuns(core, open);
  const raised = begun.find(({ raised: why }) => why !== "")?.raised ?? stored?.task.held?.reason ?? "";
  const state =
    open === undefined
      ? "idle"
      : recordedState(await core.workflows.get(open.workflowHash), open, {
          isRaised: raised !== "",
          hasStarted: begun.length > 0,
        });
  const reason = raised || (!stored?.isOpen || begun.length > 0 ? "" : await whyWaits(core, stored, state));
  return { state, task: open === undefined ? "" : labelOf(open), reason };
}

/** A run counts for the named agent that did it, or else for the one that its task is bound to. */
export function isUsageOf(usage: Usage, { id, project }: Agent, isBound: (task: string) => boolean): boolean {
  if (usage.agent !== undefined) return usage.project === project && usage.agent === nameOf(id);
  return isBound(usage.task);
}

/** The runs of a task whose programs were started. After a restart of the daemon, not every run is watched yet. */
async function begunRuns({ agents, store }: Core, { id, runs }: Task): Promise<readonly StartedRun[]> {
  const live = new Set(Object.values(runs).map(({ key }) => key));
  const own = (agents?.watches() ?? []).filter(({ run }) => run.task === id && live.has(run.key));
  if (own.length > 0 || live.size === 0) return own.map(({ started }) => started);
  return (await store.runs.list({ task: id })).flatMap(({ key, pid, endedAt, started }) =>
    live.has(key) && pid !== 0 && endedAt === undefined && started !== undefined ? [started] : [],
  );
}

/** Why the agent's task does not continue now, or its last failure while it waits for a retry. */
async function whyWaits(core: Core, stored: StoredTask, state: AgentState): Promise<string> {
  const { task } = stored;
  if (state === "stuck") return task.reason;
  if (state === "done") return (await core.needs.of(stored)).find(({ reason }) => reason === "merge")?.text ?? "";
  const waiting = state === "ready" || state === "working" ? await whyNotYet(core, task) : "";
  return waiting || (state === "working" && task.crashCount > 0 ? task.reason : "");
}

export function listHarnesses(core: Core): Handler<Routes["listHarnesses"]> {
  return async ({ query }) => {
    const agents = agentsOf(core);
    const { harnesses } = agents.ports;
    const chosen = query.name === undefined ? [...harnesses().values()] : [harnessNamed(harnesses, query.name)];
    const limits = agents.dispatch.limits();
    const views = chosen.map(async ({ name, title, can, detect, login }) => {
      const limit = limits.find(({ harness }) => harness === name);
      const ofHarness = agents.watches().filter(({ run, isOver }) => run.harness === name && !isOver);
      const atWork = ofHarness.filter(({ run }) => agents.dispatch.isSeated(run.id)).length;
      const limitedUntil = limit === undefined ? null : isoTime(limit.until);
      const detected = await detect();
      const { state, hint: loginHint } =
        detected.found && login !== undefined ? await login() : { state: "unknown" as const, hint: "" };
      const told = { name, title, ...detected, login: state, loginHint };
      return { ...told, limitedUntil, atWork, can: { ...can, withholds: [...can.withholds] } };
    });
    return { harnesses: await Promise.all(views), sandbox: await sandboxView(agents.ports) };
  };
}

async function sandboxView({ sandbox, config }: Agents["ports"]): Promise<SandboxView> {
  const none = { works: false, reason: "This daemon has no sandbox.", fix: "" } as const;
  const state = (await sandbox?.detect()) ?? none;
  const setting = config().agentsSandbox;
  if (state.works) return { setting, works: true, version: state.version, reason: "", fix: "" };
  return { setting, works: false, version: "", reason: state.reason, fix: state.fix };
}
