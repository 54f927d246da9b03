import {
  type AgentChoice,
  type AgentModel,
  chooseAgent,
  modelName,
  type NamedAgent,
} from "../../engine/choose-agent.ts";
import {
  type ModelFallback,
  type ModelHarness,
  type ModelTiers,
  resolveModel,
  tierOf,
} from "../../engine/model-tiers.ts";
import { Fault } from "../../fault.ts";
import type { AgentConfig } from "../../home/agent-fields.ts";
import type { Agent, Run } from "../../ports/records.ts";
import type { Store, StoredTask } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import { shellWord } from "../../shell-quote.ts";
import { sentence } from "../../text.ts";
import type { Harnesses } from "./harnesses.ts";

/** A run that a named agent is wanted for. */
export interface AgentWish {
  /** The record's id. */
  readonly run: string;
  readonly task: string;
  readonly project: string;
  readonly harness: string;
  /** A tier or a model, as the workflow names it. */
  readonly model: string;
  /** As people call the task, such as `coffee#12`. */
  readonly label: string;
}

/** The named agent that does a run. */
export interface GivenAgent {
  readonly name: string;
  /** A tier or a model. */
  readonly model: string;
  /** The tier or model that was wanted, where the agent has another; otherwise empty. */
  readonly insteadOf: string;
}

interface Taken {
  readonly agent: GivenAgent;
  /** Settles when the record of a new agent is stored; missing where the agent was there. */
  readonly stored?: Promise<void>;
}

/** The work of a named agent: the run that it does. */
interface Work {
  readonly run: string;
  readonly task: string;
  readonly label: string;
}

interface Stuck extends Work {
  readonly reason: string;
}

/**
 * The named agents of all projects, in memory, and which of them does which run. An agent does one run at a time. What runs
 * do is reconstructed from their records after a start, so an agent's own record says nothing about it.
 */
export interface Roster {
  /** Reads the agents, and which of them are stuck. Must be called before all others. */
  open(runs: readonly Run[]): Promise<void>;
  /** Reads the current models of a project. Must be called before a run of it takes an agent. */
  prepare(project: string): Promise<void>;
  choose(wish: AgentWish): AgentChoice;
  /** Why no agent could do a run while the configured limit is 0, and what to do; undefined where one could. */
  lacks(wish: AgentWish): Lack | undefined;
  /** Chooses an agent and gives it the run, at once: the record of a new agent may still have to be stored. */
  take(wish: AgentWish): Taken;
  /** A run of an earlier daemon has this agent. */
  bind(run: Pick<Run, "id" | "task" | "project" | "agent">, label: string): void;
  /** The run is over, or was not started. Returns whether it had an agent. */
  release(run: string): boolean;
  /** The runs of a task that have an agent. */
  runsOf(task: string): readonly string[];
  /** What an agent does, by its id. */
  workOf(agent: string): Work | undefined;
  stuckOf(agent: string): Stuck | undefined;
  /** Marks the agent of a failed run as stuck: it gets no run until it is cleared. The run's record says so too. */
  stuck(run: Run, label: string): void;
  /** Returns whether the agent was stuck. */
  clear(agent: string): Promise<boolean>;
  /**
   * Reserves an agent for something other than a run, so that no run gets it meanwhile. Returns why that cannot be, as a
   * sentence; undefined where it is reserved.
   */
  hold(agent: string): string | undefined;
  unhold(agent: string): void;
  /** Creates agents under the next free names, or under this name. */
  make(project: string, who: { readonly count: number } | { readonly name: string }, of: AgentKind): MadeAgents;
  /** The record of an agent was written, or removed. */
  heard(id: string, agent: Agent | undefined): void;
  forgetProject(project: string): void;
  /** A task has changed: an agent that was bound to it, or stuck on it, may be free. Returns the agents to be cleared. */
  noticed(stored: StoredTask): readonly string[];
}

type AgentKind = Pick<Agent, "harness" | "model">;

/** Both in sentences; `fix` ends with a command. */
export interface Lack {
  readonly text: string;
  readonly fix: string;
}

interface MadeAgents {
  readonly agents: readonly Agent[];
  readonly stored: Promise<void>;
}

export interface ProjectModels {
  readonly tiers: ModelTiers;
  readonly fallback: ModelFallback;
}

interface RosterPorts {
  readonly store: Pick<Store, "agents" | "runs" | "getTask">;
  readonly clock: Clock;
  readonly harnesses: Harnesses;
  config(): Pick<AgentConfig, "agentsMost" | "agentsPerModel">;
  modelsOf(project: string): Promise<ProjectModels>;
}

export function createRoster({ store, clock, harnesses, config, modelsOf }: RosterPorts): Roster {
  const agents = new Map<string, Agent>();
  const works = new Map<string, Work>();
  const stuck = new Map<string, Stuck>();
  const held = new Set<string>();
  /** The tasks that agents are bound to and that have ended. */
  const over = new Set<string>();
  const models = new Map<string, ProjectModels>();

  const resolve = ({ tiers }: ProjectModels, harness: string, name: string): AgentModel => {
    const found = resolveModel(tiers, harnessAs(harnesses, harness), name);
    if (found.unmapped === undefined) return { harness, tier: found.tier, model: found.model };
    return { harness, tier: found.unmapped, model: undefined };
  };
  const agentOfRun = (run: string) => [...works].find(([, work]) => work.run === run)?.[0];
  const isBound = ({ task }: Agent) => task !== "" && !over.has(task);
  const ofProject = (project: string) =>
    [...agents.values()].filter((agent) => agent.project === project).toSorted(orderMade);
  const seen = (agent: Agent, { run, task, project }: AgentWish, known: ProjectModels): NamedAgent => {
    const { id } = agent;
    const work = works.get(id);
    const own = stuck.get(id);
    const isTaken = held.has(id) || (agent.taking ?? "") !== "" || (isBound(agent) && agent.task !== task);
    const name = nameOf(id);
    return {
      ...resolve(known, agent.harness, agent.model),
      name,
      work: work !== undefined && work.run !== run ? `does ${workText(work)}` : isTaken ? "has a task of its own" : "",
      stuck: own === undefined ? "" : `${sentence(own.reason)} To clear it: ${clearCommand(name, project)}`,
    };
  };
  const modelsIn = (project: string) => models.get(project) ?? { tiers: {}, fallback: {} };
  const choose = (wish: AgentWish): AgentChoice => {
    const bound = agentOfRun(wish.run);
    if (bound !== undefined && agents.has(bound)) return { kind: "use", agent: nameOf(bound) };
    const known = modelsIn(wish.project);
    const all = ofProject(wish.project).map((agent) => seen(agent, wish, known));
    const { agentsMost: most, agentsPerModel } = config();
    const limits = { most, perModel: readLimits(agentsPerModel, known.tiers) };
    const others = fallbacksOf(known, wish.model).map((model) => resolve(known, wish.harness, model));
    return chooseAgent(all, resolve(known, wish.harness, wish.model), limits, others);
  };
  const make: Roster["make"] = (project, who, { harness, model }) => {
    const known = new Set(ofProject(project).map(({ id }) => nameOf(id)));
    const names = "name" in who ? [checked(who.name, known)] : freeNames(known, who.count);
    const made = names.map(
      (name): Agent => ({
        ...{ id: `${project}/${name}`, project, task: "", at: clock.now() },
        ...{ role: "worker", harness, model, state: "idle", reason: "" },
      }),
    );
    // At once: the next caller must not choose the same names.
    for (const agent of made) agents.set(agent.id, agent);
    const put = async () => {
      for (const agent of made)
        await store.agents.put(agent).catch((error) => {
          for (const { id } of made.slice(made.indexOf(agent))) agents.delete(id);
          throw error;
        });
    };
    return { agents: made, stored: put() };
  };
  const clear = async (agent: string): Promise<boolean> => {
    const found = stuck.get(agent);
    if (found === undefined) return false;
    stuck.delete(agent);
    const run = await store.runs.get(found.run);
    if (run?.stuck === undefined) return true;
    const { stuck: _, ...rest } = run;
    await store.runs.put(rest);
    return true;
  };
  const noteStuck = (run: Run, label: string) => {
    if (run.agent === undefined || run.stuck === undefined) return;
    const { id, task, project, agent, stuck: reason } = run;
    stuck.set(`${project}/${agent}`, { run: id, task, label, reason });
  };

  return {
    async open(runs) {
      for (const agent of await store.agents.list({})) {
        agents.set(agent.id, agent);
        if (agent.task !== "" && !(await store.getTask(agent.task))?.isOpen) over.add(agent.task);
      }
      for (const run of runs) {
        if (run.stuck === undefined || !agents.has(`${run.project}/${run.agent}`)) continue;
        const stored = await store.getTask(run.task);
        noteStuck(run, stored === undefined ? run.task : labelOf(stored.task));
        // It was continued, and the daemon died before it cleared the agent.
        if (!stored?.isOpen || stored.task.held === undefined) await clear(`${run.project}/${run.agent}`);
      }
    },
    prepare: async (project) => void models.set(project, await modelsOf(project)),
    choose,
    lacks(wish) {
      const choice = choose(wish);
      if (choice.kind !== "wait" || choice.isLasting !== true) return undefined;
      const { tiers } = modelsIn(wish.project);
      const name = modelName(resolve(modelsIn(wish.project), wish.harness, wish.model)) || wish.model;
      const others = config().agentsPerModel.filter((each) => limitName(each, tiers) !== name);
      const limits = `[${[...others, `${name}=1`].join(", ")}]`;
      return {
        text: choice.reason,
        fix: `Allow one: signalbox config set agents.per_model ${shellWord(limits)}`,
      };
    },
    take(wish) {
      const { run, task, project, harness, label } = wish;
      const choice = choose(wish);
      if (choice.kind === "wait") throw new Fault("agents.none", choice.reason, { retry: "later" });
      const made =
        choice.kind === "provision" ? make(project, { count: 1 }, { harness, model: wish.model }) : undefined;
      const agent = made?.agents[0] ?? agents.get(`${project}/${choice.kind === "provision" ? "" : choice.agent}`);
      if (agent === undefined) throw new Fault("agents.none", "The agent is gone.", { retry: "later" });
      works.set(agent.id, { run, task, label });
      const known = modelsIn(project);
      const wanted = resolve(known, harness, wish.model);
      const own = resolve(known, harness, agent.model);
      const isOther = modelName(own) !== modelName(wanted) && own.model !== wanted.model;
      const insteadOf = isOther ? modelName(wanted) : "";
      const given = { name: nameOf(agent.id), model: agent.model, insteadOf };
      return made === undefined ? { agent: given } : { agent: given, stored: made.stored };
    },
    bind({ id, task, project, agent }, label) {
      if (agent !== undefined) works.set(`${project}/${agent}`, { run: id, task, label });
    },
    release(run) {
      const agent = agentOfRun(run);
      return agent !== undefined && works.delete(agent);
    },
    runsOf: (task) => [...works.values()].flatMap((work) => (work.task === task ? [work.run] : [])),
    workOf: (agent) => works.get(agent),
    stuckOf: (agent) => stuck.get(agent),
    stuck: noteStuck,
    clear,
    hold(id) {
      const work = works.get(id);
      const own = stuck.get(id);
      const name = nameOf(id);
      if (work !== undefined) return `${name} does ${workText(work)}.`;
      if (own !== undefined) return `${name} is stuck: ${sentence(own.reason)}`;
      if (held.has(id)) return `${name} is being given a task.`;
      held.add(id);
      return undefined;
    },
    unhold: (id) => void held.delete(id),
    make,
    heard(id, agent) {
      if (agent === undefined) {
        agents.delete(id);
        stuck.delete(id);
      } else agents.set(id, agent);
    },
    forgetProject(project) {
      for (const { id } of ofProject(project)) {
        agents.delete(id);
        stuck.delete(id);
      }
    },
    noticed({ task, isOpen }) {
      if (isOpen) over.delete(task.id);
      else if ([...agents.values()].some((agent) => agent.task === task.id)) over.add(task.id);
      if (isOpen && task.held !== undefined) return [];
      return [...stuck].flatMap(([agent, found]) => (found.task === task.id ? [agent] : []));
    },
  };
}

/** The command that makes a stuck agent available again. */
export function clearCommand(name: string, project: string): string {
  return `signalbox agent clear ${name} --project ${project}`;
}

/** The name of a task for people: `coffee#12`. */
export function labelOf({ project, number }: { readonly project: string; readonly number: number }): string {
  return `${project}#${number}`;
}

/** The name of a run for people: `judge#3 of coffee#12`. */
export function workText({ run, label }: Pick<Work, "run" | "label">): string {
  return `${run.slice(run.indexOf("/") + 1)} of ${label}`;
}

/** Sorts agents by creation time; of those that were created together, Z comes before AA. */
export function orderMade(a: Agent, b: Agent): number {
  return a.at - b.at || a.id.length - b.id.length || (a.id < b.id ? -1 : 1);
}

/** The name of a named agent, from the id of its record. */
export function nameOf(id: string): string {
  return id.slice(id.indexOf("/") + 1);
}

function harnessAs(harnesses: Harnesses, name: string): ModelHarness {
  const found = harnesses().get(name);
  return { name, isScripted: found?.isScripted === true, takesModel: found?.can.model ?? false };
}

/** The models that may replace the wanted one. The configuration and the workflow may use different names of a tier. */
function fallbacksOf({ tiers, fallback }: ProjectModels, wanted: string): readonly string[] {
  const plain = (name: string) => tierOf(tiers, name) ?? name;
  const own = Object.entries(fallback).find(([name]) => plain(name) === plain(wanted))?.[1] ?? [];
  return own.filter((name) => plain(name) !== plain(wanted));
}

function readLimits(limits: readonly string[], tiers: ModelTiers): Readonly<Record<string, number>> {
  return Object.fromEntries(
    limits.map((each) => [limitName(each, tiers), Number(each.slice(each.lastIndexOf("=") + 1))]),
  );
}

/** The tier or model of a limit such as `large=2`. */
function limitName(limit: string, tiers: ModelTiers): string {
  const name = limit.slice(0, limit.lastIndexOf("="));
  return tierOf(tiers, name) ?? name;
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
