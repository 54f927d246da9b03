import type { Shape } from "../engine/language/shape.ts";
import { needReasons } from "../engine/needs.ts";
import type { Field } from "./config-fields.ts";

/** How a person is called. */
export interface NotifyConfig {
  readonly notifyDesktop: boolean;
  /** Empty: no webhook. */
  readonly notifyWebhook: string;
  readonly notifyWebhookSecretEnv: string;
  /** A list of arguments; empty for none. */
  readonly notifyCommand: readonly string[];
  /** Empty: all. */
  readonly notifyReasons: readonly string[];
  /** `22:00-07:00`; empty for never. */
  readonly notifyQuiet: string;
  readonly notifyUrgent: readonly string[];
}

const text: Shape = { kind: "text" };
const reasons: Shape = {
  kind: "list",
  of: { kind: "text", oneOf: Object.keys(needReasons) },
};
const list = Object.keys(needReasons).join(", ");
const hours = /^([01]?\d|2[0-3]):[0-5]\d-([01]?\d|2[0-3]):[0-5]\d$/;

export const notifyFields: { readonly [Name in keyof NotifyConfig]: Field<NotifyConfig[Name]> } = {
  notifyDesktop: {
    key: "notify.desktop",
    level: "user",
    shape: { kind: "boolean" },
    default: true,
    description: "Whether the desktop, if there is one, shows notifications",
  },
  notifyWebhook: {
    key: "notify.webhook",
    level: "user",
    shape: text,
    default: "",
    description: "The http or https address that notifications are sent to; empty for none",
    problem: (address) =>
      address === "" || /^https?:$/.test(URL.parse(address)?.protocol ?? "")
        ? undefined
        : '"webhook" must be an http or https address.',
  },
  notifyWebhookSecretEnv: {
    key: "notify.webhook_secret_env",
    level: "user",
    shape: text,
    default: "",
    description: "The environment variable with the secret that notifications are signed with",
    // The value is not repeated: it may be the secret itself.
    problem: (name) =>
      /^([A-Za-z_]\w*)?$/.test(name) ? undefined : '"webhook_secret_env" must be the name of a variable.',
  },
  notifyCommand: {
    key: "notify.command",
    level: "user",
    isDaemons: true,
    isCommand: true,
    shape: { kind: "list", of: text },
    default: [],
    description:
      "A command that is run for each notification, as a list of arguments; the title and the text are appended as two more arguments, and SIGNALBOX_NOTE_TITLE, _TEXT, _TASK, _PROJECT, _REASON, _COMMAND and _KEY are set as variables",
    problem: ([program]) => (program === "" ? '"command" must begin with a program.' : undefined),
  },
  notifyReasons: {
    key: "notify.reasons",
    level: "user",
    isDaemons: true,
    shape: reasons,
    default: [],
    description: `The reasons that you are called for; empty for all: ${list}`,
  },
  notifyQuiet: {
    key: "notify.quiet",
    level: "user",
    isDaemons: true,
    shape: text,
    default: "",
    description:
      "The hours in which you are not called, such as 22:00-07:00; calls from these hours are delivered when they end",
    problem: (quiet) =>
      quiet === "" || hours.test(quiet)
        ? undefined
        : `"quiet" must be two times of the day, such as 22:00-07:00, but is "${quiet}".`,
  },
  notifyUrgent: {
    key: "notify.urgent",
    level: "user",
    isDaemons: true,
    shape: reasons,
    default: [],
    description: "The reasons that you are called for even in those hours",
  },
};

/** Which calls the person wants, with the default for every field that is not set. */
export function callSettings(values: { readonly [Name in keyof NotifyConfig]?: NotifyConfig[Name] | undefined }) {
  return {
    reasons: values.notifyReasons ?? notifyFields.notifyReasons.default,
    quiet: values.notifyQuiet ?? notifyFields.notifyQuiet.default,
    urgent: values.notifyUrgent ?? notifyFields.notifyUrgent.default,
  };
}

/** Where pull requests are opened. */
export interface ForgeConfig {
  readonly forge: "auto" | "github" | "none";
  /** Empty: github.com. */
  readonly forgeHost: string;
  /** Empty: the host's default address. */
  readonly forgeApiUrl: string;
  /** Empty: the variables that gh reads, then the token of its login. */
  readonly forgeTokenEnv: string;
  readonly forgeMerge: "merge" | "squash" | "rebase";
  /** Seconds. */
  readonly forgeInterval: number;
}

export const forgeFields: { readonly [Name in keyof ForgeConfig]: Field<ForgeConfig[Name]> } = {
  forge: {
    key: "forge",
    level: "user",
    shape: { kind: "text", oneOf: ["auto", "github", "none"] },
    default: "auto",
    description: "Where pull requests are opened; auto means GitHub if the remote is on GitHub and you are logged in",
  },
  forgeHost: {
    key: "forge_host",
    level: "user",
    shape: text,
    default: "",
    description: "The host that forge_api_url and forge_token_env belong to; empty for github.com",
    problem: (host) => (/^[\w.:-]*$/.test(host) ? undefined : `"forge_host" must be a host, but is "${host}".`),
  },
  forgeApiUrl: {
    key: "forge_api_url",
    level: "user",
    shape: text,
    default: "",
    description: "The address of that host's API; empty for its default address",
    problem: (address) =>
      address === "" || /^https?:$/.test(URL.parse(address)?.protocol ?? "")
        ? undefined
        : `"forge_api_url" must be an http or https address, but is "${address}".`,
  },
  forgeTokenEnv: {
    key: "forge_token_env",
    level: "user",
    shape: text,
    default: "",
    description:
      "The environment variable with the token for that host; empty for the variables that gh reads, then gh's login",
    // The value is not repeated: it may be the token itself.
    problem: (name) =>
      /^([A-Za-z_]\w*)?$/.test(name) ? undefined : '"forge_token_env" must be the name of a variable.',
  },
  forgeMerge: {
    key: "forge_merge",
    level: "user",
    shape: { kind: "text", oneOf: ["merge", "squash", "rebase"] },
    default: "merge",
    description: "How pull requests are merged",
  },
  forgeInterval: {
    key: "forge_interval",
    level: "user",
    shape: { kind: "integer", min: 5, max: 86_400 },
    default: 60,
    description: "How many seconds the daemon waits between two checks of a pull request",
  },
};

/** Where a project has its tickets. */
export interface TicketConfig {
  readonly tickets: "files" | "github";
  readonly ticketsLabel: string;
}

export const ticketFields: { readonly [Name in keyof TicketConfig]: Field<TicketConfig[Name]> } = {
  tickets: {
    key: "tickets",
    level: "project",
    isDaemons: true,
    shape: { kind: "text", oneOf: ["files", "github"] },
    default: "files",
    description: "Where tickets are: files in .tickets, or issues of the project's remote on GitHub",
  },
  ticketsLabel: {
    key: "tickets_label",
    level: "project",
    isDaemons: true,
    shape: text,
    default: "ready",
    description: "The label that an issue must have to be a ticket",
    // GitHub treats the text after a comma as another label.
    problem: (label) =>
      /^[^,\n]{1,50}$/.test(label) ? undefined : `"tickets_label" must be a label, without a comma, but is "${label}".`,
  },
};
