import { branchNameProblem } from "../engine/branch-name.ts";
import type { Shape } from "../engine/language/shape.ts";
import { type AgentConfig, agentFields } from "./agent-fields.ts";
import type { Field } from "./config-field.ts";
import { type ForgeConfig, forgeFields } from "./forge-fields.ts";
import { type MergeConfig, mergeFields } from "./merge-fields.ts";
import { type NotifyConfig, notifyFields } from "./notify-fields.ts";
import { type TicketConfig, ticketFields } from "./ticket-fields.ts";
import { type WorkspaceConfig, workspaceFields } from "./workspace-fields.ts";

export type { Field, Level } from "./config-field.ts";

/** What a user may configure, with a value for everything. */
export interface Config extends WorkspaceConfig, ForgeConfig, MergeConfig, TicketConfig, AgentConfig, NotifyConfig {
  readonly workflow: string;
  readonly harness: string;
  /** Empty: the same as `harness`. */
  readonly reviewHarness: string;
  /** Empty: whatever the harness takes by itself. */
  readonly model: string;
  readonly branchPrefix: string;
  readonly poolSize: number;
  readonly autostart: boolean;
  /** 0: no TCP. */
  readonly port: number;
  readonly logLevel: "debug" | "info" | "warn" | "error";
}

export type PartialConfig = { readonly [Name in keyof Config]?: Config[Name] | undefined };

const text: Shape = { kind: "text" };
const boolean: Shape = { kind: "boolean" };

export const configFields: { readonly [Name in keyof Config]: Field<Config[Name]> } = {
  workflow: {
    key: "workflow",
    level: "project",
    shape: text,
    default: "default",
    description: "The workflow of new tasks, by its name",
    // A path would mean another file in every folder, and let a repository name a file that is not looked at for trust.
    problem: (name) =>
      /^[^/]+(?<!\.ya?ml)$/.test(name) ? undefined : `"workflow" must be the name of a workflow, but is "${name}".`,
  },
  harness: {
    key: "harness",
    level: "project",
    shape: text,
    default: "claude",
    description: "The harness that agents run in",
    problem: (name) => (name === "" ? '"harness" must not be empty.' : undefined),
  },
  reviewHarness: {
    key: "review_harness",
    level: "project",
    shape: text,
    default: "",
    description: "The harness of reviewers; empty for the same as harness",
  },
  model: {
    key: "model",
    level: "project",
    shape: text,
    default: "",
    description: "The model that harnesses are asked for; empty for their own choice",
  },
  branchPrefix: {
    key: "branch_prefix",
    level: "project",
    shape: text,
    default: "signalbox/",
    description: "What the branches of tasks begin with",
    problem: (prefix) => branchNameProblem(`${prefix}task`),
  },
  poolSize: {
    key: "pool_size",
    level: "project",
    shape: { kind: "integer", min: 1 },
    default: 4,
    description: "How many workspaces a project may have",
  },
  autostart: {
    key: "autostart",
    level: "project",
    shape: boolean,
    default: true,
    description: "Whether new tasks start by themselves as soon as there is room",
  },
  port: {
    key: "port",
    level: "user",
    shape: { kind: "integer", min: 0, max: 65_535 },
    default: 0,
    description: "The TCP port of the web API; 0 for none",
  },
  logLevel: {
    key: "log_level",
    level: "user",
    shape: { kind: "text", oneOf: ["debug", "info", "warn", "error"] },
    default: "info",
    description: "The least that the daemon's log is told",
  },
  ...notifyFields,
  ...workspaceFields,
  ...forgeFields,
  ...ticketFields,
  ...mergeFields,
  ...agentFields,
};

export const configNames = Object.keys(configFields) as readonly (keyof Config)[];
