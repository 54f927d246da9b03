import { buildCommand, buildRouteMap } from "@stricli/core";
import { offerHarnesses } from "./offers.ts";
import { json } from "./parameters.ts";

/** A harness on the wire. */
const harnessForm = `{ name, title, found, path, version, hint, login, loginHint, limitedUntil, atWork, can: { session, turn, resume, namesSession,
  model, effort, reduced, withholds, toolsByName, schema, system, mcp, acknowledges, tokens, cost } }`;

const list = buildCommand({
  loader: async () => (await import("./commands/harness/list.ts")).list,
  parameters: { flags: { json } },
  docs: {
    brief: "List the harnesses, and whether they are installed",
    fullDescription: `The harnesses that come with Signalbox, and those of your configuration.

--json: { harnesses: [${harnessForm}] }
Exit codes: 0 ok, 1 failed, 2 wrong usage`,
  },
});

const check = buildCommand({
  loader: async () => (await import("./commands/harness/check.ts")).check,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: String,
          optional: true,
          proposeCompletions: offerHarnesses,
          placeholder: "NAME",
          brief: "A harness, such as claude; otherwise all",
        },
      ],
    },
    flags: { json },
  },
  docs: {
    brief: "Say whether a harness is installed and logged in, what it can do and what it lacks",
    fullDescription: `--json: { harnesses: [${harnessForm}] }
Exit codes: 0 ok, 1 the one that is named is not installed, or there is none of that name, 2 wrong usage`,
  },
});

export const harnessCommands = buildRouteMap({
  routes: { list, check },
  aliases: { ls: "list" },
  docs: { brief: "Look at the programs that agents run in" },
});
