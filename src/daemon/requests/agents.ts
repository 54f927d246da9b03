import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { AgentView, SandboxView } from "../../api/agents.ts";
import { Refusal } from "../../api/client.ts";
import type { Routes } from "../../api/routes.ts";
import { type AgentState, recordedState } from "../../engine/reconcile.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Agent, StartedRun } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Agents } from "../agents/agents.ts";
import { checkNeeds, harnessNamed } from "../agents/harnesses.ts";
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
    harnessNamed(agentsOf(core).ports.harnesses, harness);
    // A mutex, so that concurrent requests do not choose the same name: the second would overwrite the first agent.
    const made = await core.inTurn(`agents ${project.name}`, async () => {
      const known = new Set((await core.store.agents.list({ project: project.name })).map(({ id }) => nameOf(id)));
      const names = body.name === undefined ? freeNames(known, body.count ?? 1) : [checked(body.name, known)];
      const agents = names.map(
        (name): Agent => ({
          ...{ id: `${project.name}/${name}`, project: project.name, task: "", at: core.clock.now() },
          ...{ role: "worker", harness, model: body.model ?? "", state: "idle", reason: "" },
        }),
      );
      for (const agent of agents) await core.store.agents.put(agent);
      return agents;
    });
    core.crew.wake();
    return { agents: await Promise.all(made.map((agent) => agentView(core, agent))) };
  };
}

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
            text: `${view.name} is ${view.state}, with ${view.task}.`,
            fix: "Choose an idle agent: signalbox agent ps",
          },
        ]);
      const { task } = await findTask(core, { ...asked, params: { task: reference }, query: { project } });
      const workflow = await core.workflows.get(task.workflowHash);
      const { harnesses, config } = agentsOf(core).ports;
      const lacking = checkNeeds(harnesses, workflow, { ...task, harness: agent.harness }, config());
      if (lacking.length > 0) throw new Refusal(lacking);
      const set = { harness: agent.harness, ...(agent.model === "" ? {} : { model: agent.model }) };
      await core.submit(task.id, { kind: "edit", actor: { role: "human" }, set });
      return agentView(core, await bindAgent(core, agent, task.id));
    });
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
        await act(`the agent ${id}`, () => core.store.agents.remove(id));
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

/** The state of a named agent is derived from its task's run; it is not recorded a second time. */
export async function agentView(core: Core, agent: Agent): Promise<AgentView> {
  const stored = agent.task === "" ? undefined : await core.store.getTask(agent.task);
  const open = stored?.isOpen ? stored.task : undefined;
  const begun = open === undefined ? [] : await begunRuns(core, open);
  const used = addUp(
    (core.agents?.book.list() ?? []).filter((usage) => stored !== undefined && usage.task === stored.task.id),
  );
  const raised = begun.find(({ raised: why }) => why !== "")?.raised ?? stored?.task.held?.reason ?? "";
  const state =
    open === undefined
      ? "idle"
      : recordedState(await core.workflows.get(open.workflowHash), open, {
          isRaised: raised !== "",
          hasStarted: begun.length > 0,
        });
  return {
    name: nameOf(agent.id),
    project: agent.project,
    harness: agent.harness,
    model: agent.model,
    state,
    task: open === undefined ? "" : `${open.project}#${open.number}`,
    reason: raised || (!stored?.isOpen || begun.length > 0 ? "" : await whyWaits(core, stored, state)),
    runs: used.runs,
    usage: {
      inputTokens: used.inputTokens,
      outputTokens: used.outputTokens,
      cachedTokens: used.cachedTokens,
      cost: used.runs > 0 && used.unknown === used.runs ? null : used.cost,
    },
  };
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

function nameOf(id: string): string {
  return id.slice(id.indexOf("/") + 1);
}

/** A, B, …, Z, AA, AB, … */
function freeNames(known: ReadonlySet<string>, count: number): readonly string[] {
  const names: string[] = [];
  for (let index = 0; names.length < count; index++) {
    const name = letters(index);
    if (!known.has(name)) names.push(name);
  }
  return names;
}

function letters(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : letters(Math.floor(index / 26) - 1) + last;
}

function checked(name: string, known: ReadonlySet<string>): string {
  if (!/^[A-Za-z][\w-]{0,31}$/.test(name))
    throw new Fault("usage", `"${name}" cannot be an agent's name.`, {
      hint: "Begin with a letter, and use letters, digits, _ and -, 32 at most.",
    });
  if (known.has(name))
    throw new Fault("agent.exists", `The agent "${name}" already exists.`, { hint: "See them: signalbox agent ps" });
  return name;
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
