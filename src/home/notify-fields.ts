import type { Shape } from "../engine/language/shape.ts";
import { needReasons } from "../engine/needs.ts";
import type { Field } from "./config-field.ts";

/** How a person is called. */
export interface NotifyConfig {
  readonly notifyDesktop: boolean;
  /** Empty: nobody is told. */
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
    description: "Whether the desktop shows notifications, where there is one",
  },
  notifyWebhook: {
    key: "notify.webhook",
    level: "user",
    shape: text,
    default: "",
    description: "Where notifications are sent, as an http or https address; empty for nowhere",
    problem: (address) =>
      address === "" || /^https?:$/.test(URL.parse(address)?.protocol ?? "")
        ? undefined
        : `"webhook" must be an http or https address, but is "${address}".`,
  },
  notifyWebhookSecretEnv: {
    key: "notify.webhook_secret_env",
    level: "user",
    shape: text,
    default: "",
    description: "The variable of the environment that has the secret which notifications are signed with",
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
      "A command that is run for each notification, as a list of arguments; it gets the title and the text as two more, and SIGNALBOX_NOTE_TITLE, _TEXT, _TASK, _PROJECT, _REASON, _COMMAND and _KEY as variables",
    problem: ([program]) => (program === "" ? '"command" must begin with a program.' : undefined),
  },
  notifyReasons: {
    key: "notify.reasons",
    level: "user",
    isDaemons: true,
    shape: reasons,
    default: [],
    description: `What you are called for; empty for everything: ${list}`,
  },
  notifyQuiet: {
    key: "notify.quiet",
    level: "user",
    isDaemons: true,
    shape: text,
    default: "",
    description: "The hours in which you are not called, such as 22:00-07:00; what came up is told when they end",
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
    description: "The reasons that you are called for in those hours too",
  },
};

/** Which calls the person wants, with what is usual where nothing is said. */
export function callSettings(values: { readonly [Name in keyof NotifyConfig]?: NotifyConfig[Name] | undefined }) {
  return {
    reasons: values.notifyReasons ?? notifyFields.notifyReasons.default,
    quiet: values.notifyQuiet ?? notifyFields.notifyQuiet.default,
    urgent: values.notifyUrgent ?? notifyFields.notifyUrgent.default,
  };
}
