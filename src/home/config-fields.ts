import { homedir } from "node:os";
import { branchNameProblem } from "../engine/branch-name.ts";
import type { Shape } from "../engine/language/shape.ts";
import { Fault } from "../fault.ts";
import { shellWord } from "../shell-quote.ts";
import { type AgentConfig, agentFields } from "./agent-fields.ts";
import { type ChatConfig, chatFields } from "./chat-fields.ts";
import { type DashboardConfig, dashboardFields } from "./dashboard-fields.ts";
import { type ModelConfig, modelFields } from "./model-fields.ts";
import {
  type ForgeConfig,
  forgeFields,
  type NotifyConfig,
  notifyFields,
  type TicketConfig,
  ticketFields,
} from "./notify-fields.ts";
import { type WebConfig, webFields } from "./web-fields.ts";
import { type WorkspaceConfig, workspaceFields } from "./workspace-fields.ts";

/** Whose file it is: the user's, or a repository's own. */
export type Level = "user" | "project";

export interface Field<Value = unknown> {
  /** The key in files and commands; a dot leads into a map. */
  readonly key: string;
  /** `project`: both kinds of file may set it. `user`: only the user's file may. */
  readonly level: Level;
  /** The value is a command. A repository's file that sets it has no effect until the user has trusted the file. */
  readonly isCommand?: boolean;
  /** The value chooses who works or judges. In a repository's file it has no effect until the user has trusted the file. */
  readonly isChoice?: boolean;
  /** Never read from the environment: the daemon's environment may come from an agent that started it. */
  readonly isDaemons?: boolean;
  readonly shape: Shape;
  readonly default: Value;
  readonly description: string;
  /** Combines the values of two sources, where the higher one does not replace the lower one as a whole. */
  merge?(below: Value, above: Value): Value;
  /** What is wrong with a value that has the right shape, as a sentence. */
  problem?(value: Value, isNew: boolean): string | undefined;
}

/**
 * Splits a command as a person types it into its arguments. Understands quotes and a leading `~/`; refuses everything
 * that needs a shell, because commands are run without one.
 */
export function commandWords(text: string, name: string): readonly string[] {
  const words: string[] = [];
  let rest = text.trim();
  while (rest !== "") {
    const [whole = "", word = ""] = /^((?:'[^']*'|"[^"]*"|[^\s'"])+)\s*/.exec(rest) ?? [];
    if (whole === "") throw shellNeeded(text, name, "a quote is not closed");
    const plain = word.replace(/'[^']*'|"[^"]*"/g, "");
    const found = /[|&;<>`]|\$[({A-Za-z]/.exec(plain)?.[0];
    if (found !== undefined) throw shellNeeded(text, name, `"${found}" has a special meaning in a shell`);
    const typed = word.replace(/^~(?=\/|$)/, () => homedir());
    words.push(typed.replace(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double ?? ""));
    rest = rest.slice(whole.length);
  }
  return words;
}

function shellNeeded(text: string, name: string, why: string): Fault {
  return new Fault("usage", `"${name}" is run without a shell, and ${why}.`, {
    hint: `To have a shell run it: signalbox config set ${name} ${shellWord(JSON.stringify(["sh", "-c", text]))}`,
  });
}

/** How tasks are merged. */
interface MergeConfig {
  readonly testMerges: boolean;
  readonly pushMerges: boolean;
  readonly land: "local" | "remote";
}

/** Where work counts as merged. */
const landing: Shape = { kind: "text", oneOf: ["local", "remote"] };
const boolean: Shape = { kind: "boolean" };

const mergeFields: { readonly [Name in keyof MergeConfig]: Field<MergeConfig[Name]> } = {
  testMerges: {
    key: "test_merges",
    level: "project",
    shape: boolean,
    default: false,
    description: "Whether the project's tests are run on the merged result before the default branch moves",
  },
  pushMerges: {
    key: "push_merges",
    level: "user",
    shape: boolean,
    default: true,
    description: "Whether the default branch is pushed to the remote, if there is one, with every merge",
  },
  land: {
    key: "land",
    level: "user",
    shape: landing,
    default: "local",
    description:
      "Which default branch work is merged into: your own (local) or the remote's (remote); with remote, yours is fast-forwarded where nothing is in the way",
  },
};

/** The whole configuration, with a value for every field. */
export interface Config
  extends WorkspaceConfig,
    ForgeConfig,
    MergeConfig,
    TicketConfig,
    AgentConfig,
    ModelConfig,
    NotifyConfig,
    ChatConfig,
    WebConfig,
    DashboardConfig {
  readonly workflow: string;
  readonly harness: string;
  /** Empty: the same as `harness`. */
  readonly reviewHarness: string;
  /** Empty: the harness's default. */
  readonly model: string;
  readonly branchPrefix: string;
  readonly poolSize: number;
  readonly autostart: boolean;
  readonly logLevel: "debug" | "info" | "warn" | "error";
}

export type PartialConfig = { readonly [Name in keyof Config]?: Config[Name] | undefined };

const text: Shape = { kind: "text" };

export const configFields: { readonly [Name in keyof Config]: Field<Config[Name]> } = {
  workflow: {
    key: "workflow",
    level: "project",
    shape: text,
    default: "default",
    description: "The workflow of new tasks, by its name",
    // A relative path would mean a different file in every folder, and a repository could name a file that is not
    // checked for trust.
    problem: (name) =>
      /^[^/]+(?<!\.ya?ml)$/.test(name) ? undefined : `"workflow" must be the name of a workflow, but is "${name}".`,
  },
  harness: {
    key: "harness",
    level: "project",
    isChoice: true,
    shape: text,
    default: "claude",
    description: "The harness that agents run in",
    problem: (name) => (name === "" ? '"harness" must not be empty.' : undefined),
  },
  reviewHarness: {
    key: "review_harness",
    level: "project",
    isChoice: true,
    shape: text,
    default: "",
    description: "The harness of reviewers; empty for the same as harness",
  },
  model: {
    key: "model",
    level: "project",
    isChoice: true,
    shape: text,
    default: "",
    description: "The model, or the tier of models, that harnesses are asked for; empty for the harness's default",
  },
  branchPrefix: {
    key: "branch_prefix",
    level: "project",
    shape: text,
    default: "signalbox/",
    description: "The prefix of the branches of tasks",
    problem: (prefix) => branchNameProblem(`${prefix}task`),
  },
  poolSize: {
    key: "pool_size",
    level: "project",
    // The daemon's own limit for a project.
    shape: { kind: "integer", min: 1, max: 1_000 },
    default: 4,
    description: "How many workspaces a new project may have",
  },
  autostart: {
    key: "autostart",
    level: "project",
    shape: boolean,
    default: true,
    description: "Whether new tasks start by themselves as soon as a slot is free",
  },
  ...webFields,
  ...dashboardFields,
  logLevel: {
    key: "log_level",
    level: "user",
    shape: { kind: "text", oneOf: ["debug", "info", "warn", "error"] },
    default: "info",
    description: "The lowest level of messages that the daemon logs",
  },
  ...notifyFields,
  ...chatFields,
  ...workspaceFields,
  ...forgeFields,
  ...ticketFields,
  ...mergeFields,
  ...agentFields,
  ...modelFields,
};

export const configNames = Object.keys(configFields) as readonly (keyof Config)[];
