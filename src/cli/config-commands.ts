import { buildCommand, buildRouteMap } from "@stricli/core";
import { configFields, type Field } from "../home/config-fields.ts";
import { formOf } from "../home/config-value.ts";
import { flag, json } from "./parameters.ts";

const key = {
  parse: String,
  proposeCompletions: () => Object.values(configFields).map((field) => field.key),
  placeholder: "KEY",
  brief: "A key of the configuration, such as workflow or notify.webhook",
} as const;

/** Every key, with its form and what it is for. */
const keys = Object.values<Field>(configFields)
  .map((field) => `  ${field.key}: ${formOf(field)}\n      ${field.description}`)
  .join("\n");

const get = buildCommand({
  loader: async () => (await import("./commands/config-get.ts")).configGet,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ ...key, optional: true, brief: `${key.brief}; without one, all are shown` }],
    },
    flags: { json },
  },
  docs: {
    brief: "Show the values that hold here, and where they come from",
    fullDescription: `Of several who say something the first counts: the environment (SIGNALBOX_ and the key in capitals), the repository (.signalbox/config.yml), what is recorded about the project, you (config.yml in your folder), and what holds by default. With a key only its value is printed.

--json: { values: [{ key, value, source }], files: { user, repository } }
Exit codes: 0 ok, 1 a configuration is wrong, 2 wrong usage`,
  },
});

const set = buildCommand({
  loader: async () => (await import("./commands/config-set.ts")).configSet,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [key, { parse: String, placeholder: "VALUE", brief: "What it is to be" }],
    },
    flags: { repository: flag("Change the repository's configuration, not yours") },
  },
  docs: {
    brief: "Change a value in your configuration, or in the repository's",
    fullDescription: `Comments and order stay as they are. The daemon sees a change of your file by itself. Prints the path of the file. Commands (setup, teardown, test_command, notify.command) are run without a shell; what needs one is written as [sh, -c, "a && b"].

Examples:
  signalbox config set harness codex
  signalbox config set test_command "python3 -m unittest"
  signalbox config set workflow my-flow --repository

Keys and forms:
${keys}

Exit codes: 0 ok, 1 the file is wrong or cannot be written, 2 wrong usage`,
  },
});

export const configCommands = buildRouteMap({
  routes: { get, set },
  docs: { brief: "Read and change the configuration" },
});
