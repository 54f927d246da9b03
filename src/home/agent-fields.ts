import { type HarnessDefinition, harnessesProblem, harnessesShape, pathsShape } from "../engine/harness-definition.ts";
import type { Shape } from "../engine/language/shape.ts";
import type { Field } from "./config-fields.ts";
import { durationProblem, readSize } from "./workspace-fields.ts";

/** How agents are started, and how many. Only the daemon reads these settings. */
export interface AgentConfig {
  /** The user's own harness programs, by name. */
  readonly harnesses: Readonly<Record<string, HarnessDefinition>>;
  readonly agentsMost: number;
  readonly agentsLive: number;
  readonly agentsPerProject: number;
  /** Each as `name=number`. */
  readonly agentsPerHarness: readonly string[];
  /** Each as `name=number`, where the name is a tier or a model. */
  readonly agentsPerModel: readonly string[];
  readonly agentsEnvironment: readonly string[];
  readonly agentsAliases: readonly string[];
  readonly agentsEffort: string;
  readonly agentsStall: string;
  readonly agentsTimeLimit: string;
  readonly agentsOutputLimit: string;
  readonly agentsFullPermissions: "allow" | "ask";
  readonly agentsSandbox: "auto" | "on" | "off";
  /** Absolute paths, or paths in the user's home: `~/.gitconfig`. */
  readonly agentsSandboxRead: readonly string[];
  readonly agentsSandboxWrite: readonly string[];
  /** Further hosts that agents with `network: proxy` reach. */
  readonly agentsNetworkAllow: readonly string[];
  readonly budgetTask: number;
  readonly budgetTaskTokens: number;
  readonly budgetUnknownRun: number;
  readonly budgetUnknownRunTokens: number;
  readonly budgetProjectDay: number;
  readonly budgetDay: number;
}

const positive: Shape = { kind: "integer", min: 1 };
const amount: Shape = { kind: "number", min: 0 };
const text: Shape = { kind: "text" };
const hosts: Shape = {
  kind: "list",
  of: {
    kind: "text",
    pattern: /^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/i,
    expected: "a host such as example.org, *.example.org or example.org:8443",
  },
};
const variables: Shape = { kind: "list", of: { kind: "text", pattern: /^[A-Za-z_]\w*$/, expected: "a variable" } };
const limits: Shape = {
  kind: "list",
  of: { kind: "text", pattern: /^[a-z][\w-]*=[1-9]\d*$/, expected: "a harness and a number, such as codex=2" },
};
const names: Shape = {
  kind: "list",
  of: { kind: "text", pattern: /^[a-z][\w-]*$/, expected: "the name of a command" },
};

const duration = (key: string) => (value: string, isNew: boolean) =>
  durationProblem(key, value, "90s, 5m or 1h", isNew);

/** The names of the harnesses that Signalbox ships. */
export const builtInHarnesses = ["claude", "codex", "gemini", "opencode", "scripted"] as const;

export const agentFields: { readonly [Name in keyof AgentConfig]: Field<AgentConfig[Name]> } = {
  harnesses: {
    key: "harnesses",
    level: "user",
    isDaemons: true,
    shape: harnessesShape,
    default: {},
    description: "Your own programs that agents can run in, by the names you give them",
    problem: harnessesProblem,
  },
  agentsMost: {
    key: "agents.most",
    level: "user",
    isDaemons: true,
    shape: positive,
    default: 10,
    description: "How many agents may work at the same time; idle agents do not count",
  },
  agentsLive: {
    key: "agents.live",
    level: "user",
    isDaemons: true,
    shape: { kind: "integer", min: 0 },
    default: 10,
    description:
      "How many idle agents keep their programs running; beyond that, the agents that have been idle longest are ended, and resume their sessions when they are needed",
  },
  agentsPerProject: {
    key: "agents.per_project",
    level: "user",
    isDaemons: true,
    shape: { kind: "integer", min: 0 },
    default: 0,
    description: "How many agents may work for one project; 0 for no separate limit",
  },
  agentsPerHarness: {
    key: "agents.per_harness",
    level: "user",
    isDaemons: true,
    shape: limits,
    default: [],
    description: "How many agents may work in one harness, such as [codex=2]",
  },
  agentsPerModel: {
    key: "agents.per_model",
    level: "user",
    isDaemons: true,
    shape: {
      kind: "list",
      of: {
        kind: "text",
        pattern: /^[\w@][\w./:@-]*=\d+$/,
        expected: "a tier or a model, and a number, such as large=2",
      },
    },
    default: [],
    description:
      "How many named agents of a tier or model a project may have, in each harness, before no more are made for workflows with agents: named, such as [large=2, small=1]; without it, as many as agents.most. Agents that you create are used in any case",
  },
  agentsEnvironment: {
    key: "agents.environment",
    level: "user",
    isDaemons: true,
    shape: variables,
    default: [],
    description:
      "Environment variables that agents get in addition to the default ones, such as ANTHROPIC_API_KEY; no other key reaches them",
  },
  agentsAliases: {
    key: "agents.aliases",
    level: "user",
    isDaemons: true,
    shape: names,
    default: ["orange"],
    description: "Other names under which agents can call the command line",
  },
  agentsEffort: {
    key: "agents.effort",
    level: "user",
    isDaemons: true,
    shape: text,
    default: "",
    description:
      "How hard models should think, in the harness's own words (low, medium, high); empty for the harness's default",
  },
  agentsStall: {
    key: "agents.stall",
    level: "user",
    isDaemons: true,
    shape: text,
    default: "5m",
    description: "How long an agent without a terminal may show no sign of life before it counts as stalled",
    problem: duration("agents.stall"),
  },
  agentsTimeLimit: {
    key: "agents.time_limit",
    level: "user",
    isDaemons: true,
    shape: text,
    default: "2h",
    description: "How long one turn of an agent without a terminal may take",
    problem: duration("agents.time_limit"),
  },
  agentsOutputLimit: {
    key: "agents.output_limit",
    level: "user",
    isDaemons: true,
    shape: text,
    default: "64MB",
    description: "How much one turn may print before the daemon ends it",
    problem: (value) =>
      readSize(value) === undefined
        ? `"agents.output_limit" must be a size such as 64MB, but is "${value}".`
        : undefined,
  },
  agentsFullPermissions: {
    key: "agents.full_permissions",
    level: "user",
    isDaemons: true,
    shape: { kind: "text", oneOf: ["allow", "ask"] },
    default: "ask",
    description:
      "Whether agents of every project may work with full permissions (allow), or you are asked once for each project (ask)",
  },
  agentsSandbox: {
    key: "agents.sandbox",
    level: "user",
    isDaemons: true,
    shape: { kind: "text", oneOf: ["auto", "on", "off"] },
    default: "auto",
    description:
      "Whether agents run in a sandbox (bubblewrap): where that is possible (auto), always or not at all (on), or never (off)",
  },
  agentsSandboxRead: {
    key: "agents.sandbox_read",
    level: "user",
    isDaemons: true,
    shape: pathsShape,
    default: [],
    description: "Further files and folders that agents in a sandbox can read, such as [~/.gitconfig]",
  },
  agentsSandboxWrite: {
    key: "agents.sandbox_write",
    level: "user",
    isDaemons: true,
    shape: pathsShape,
    default: [],
    description: "Further files and folders that agents in a sandbox can change, such as [~/.cache/huggingface]",
  },
  agentsNetworkAllow: {
    key: "agents.network_allow",
    level: "user",
    isDaemons: true,
    shape: hosts,
    default: [],
    description:
      "Hosts that agents whose role has network: proxy reach, besides those that their harness needs, such as [registry.npmjs.org, '*.pypi.org']; a port can follow (example.org:8443), otherwise 80 and 443 are meant",
  },
  budgetTask: {
    key: "budget.task",
    level: "user",
    isDaemons: true,
    shape: amount,
    default: 0,
    description:
      "US dollars that a task and its children may cost, unless the task has a budget of its own (--budget); an agent that could pass it is not started; 0 for no limit",
  },
  budgetTaskTokens: {
    key: "budget.task_tokens",
    level: "user",
    isDaemons: true,
    shape: { kind: "integer", min: 0 },
    default: 0,
    description: "The same limit in tokens, for harnesses that do not report a cost",
  },
  budgetUnknownRun: {
    key: "budget.unknown_run",
    level: "user",
    isDaemons: true,
    shape: amount,
    default: 0,
    description:
      "US dollars that a run counts as whose cost is unknown; 0 for none: then a budget starts no run that it cannot estimate",
  },
  budgetUnknownRunTokens: {
    key: "budget.unknown_run_tokens",
    level: "user",
    isDaemons: true,
    shape: { kind: "integer", min: 0 },
    default: 0,
    description: "The same in tokens",
  },
  budgetProjectDay: {
    key: "budget.project_day",
    level: "user",
    isDaemons: true,
    shape: amount,
    default: 0,
    description: "US dollars that a project may cost in a day; 0 for no limit",
  },
  budgetDay: {
    key: "budget.day",
    level: "user",
    isDaemons: true,
    shape: amount,
    default: 0,
    description: "US dollars that all projects together may cost in a day; 0 for no limit",
  },
};

/** The configured values, with the default for every field that is not set. */
export function agentConfig(values: AgentValues): AgentConfig {
  const before = known.get(values);
  if (before !== undefined) return before;
  const whole = Object.fromEntries(
    fieldNames.map((name) => [name, values[name] ?? agentFields[name].default]),
  ) as unknown as AgentConfig;
  known.set(values, whole);
  return whole;
}

type AgentValues = Readonly<Partial<Record<keyof AgentConfig, unknown>>>;

// Cached: every check of a run asks for it, and the values are the same object until the file changes.
const known = new WeakMap<AgentValues, AgentConfig>();
const fieldNames = Object.keys(agentFields) as readonly (keyof AgentConfig)[];
