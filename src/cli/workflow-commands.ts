import { buildCommand, buildRouteMap } from "@stricli/core";
import { builtInWorkflows } from "../home/workflows.ts";
import { exitCodeHelp, flag, json, reference, wholeNumber } from "./parameters.ts";

const one = { kind: "tuple", parameters: [reference] } as const;
const several = { kind: "array", parameter: reference, minimum: 1 } as const;

const list = buildCommand({
  loader: async () => (await import("./commands/workflow/list.ts")).list,
  parameters: { flags: { json } },
  docs: {
    brief: "List the built-in workflows and your own",
    fullDescription: `Yours are the files workflows/*.yml in SIGNALBOX_HOME (~/.signalbox). One that has the name of a built-in workflow takes its place. In a repository its own come first: the files .signalbox/workflows/*.yml in it.

--json: { folder, workflows: [{ name, from, file, states, description, hash, problems }] }
Exit codes: 0 ok, 1 failed, 2 wrong usage`,
  },
});

const show = buildCommand({
  loader: async () => (await import("./commands/workflow/show.ts")).show,
  parameters: { positional: one, flags: { json } },
  docs: {
    brief: "Show everything a workflow says, and what follows from it",
    fullDescription: `Also shown are the ways that rules imply, the engine's own ways at a limit (⇢), and which runs begin and end with each way.

--json: { name, description, hash, file, initial, unclear, settings, presets, roles, limits, pollInterval,
  states: [{ name, terminal, outcome, wait, unless, do, rules, limits, respawn, ask }],
  ways: [{ from, to, by, when, gates, hooks: [{ action, params }], implied, effects, runs: { ended, started, told } }],
  prompts, schemas, counters, sections, owners }. Conditions are text; what is not set is null.
${exitCodeHelp("the file has errors")}`,
  },
});

const validate = buildCommand({
  loader: async () => (await import("./commands/workflow/validate.ts")).validate,
  parameters: { positional: several, flags: { json } },
  docs: {
    brief: "Check that workflow files are well formed",
    fullDescription: `Problems are printed as file:line:column level: message. To find out whether every task can also reach an end, use signalbox workflow verify.

--json: { workflows: [{ name, file, ok, problems: [{ level, file, line, column, message, fix }] }] }
${exitCodeHelp("errors were found")}`,
  },
});

const verify = buildCommand({
  loader: async () => (await import("./commands/workflow/verify.ts")).verify,
  parameters: {
    positional: several,
    flags: {
      notes: flag("Show notes too, not only errors and warnings"),
      save: {
        kind: "parsed",
        parse: String,
        optional: true,
        placeholder: "DIR",
        brief: "Write each counterexample into this folder, to be followed",
      },
      json,
    },
  },
  docs: {
    brief: "Prove that every task can reach an end, or show how one cannot",
    fullDescription: `Explores every position a task can get into, with the engine that moves real tasks. A finding comes with the shortest way to see it happen: numbered steps and the route (↻ marks a circle).

--json: { workflows: [{ name, file, hash, proved, positions, steps, variants, problems,
  findings: [{ level, code, state, message, fix, example, steps, route, mermaid, saved }] }] }
${exitCodeHelp("a workflow is not proved")}`,
  },
});

const graph = buildCommand({
  loader: async () => (await import("./commands/workflow/graph.ts")).graph,
  parameters: {
    positional: one,
    flags: {
      format: {
        kind: "enum",
        values: ["mermaid", "dot", "text"],
        optional: true,
        brief: "What to draw: text on a terminal, else mermaid, where nothing is said",
      },
      json,
    },
  },
  docs: {
    brief: "Draw a workflow as text, for Mermaid or for Graphviz",
    fullDescription: `Escalations are drawn as ⇢ (text), ⚠ (mermaid) or dashed (dot).

Examples:
  signalbox workflow graph default --format dot | dot -Tsvg > default.svg
  signalbox workflow graph default --format mermaid > default.mmd

--json: { name, format, drawing }
${exitCodeHelp("the file has errors")}`,
  },
});

const simulate = buildCommand({
  loader: async () => (await import("./commands/workflow/simulate.ts")).simulate,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ ...reference, optional: true, brief: `${reference.brief}; not needed with --follow` }],
    },
    flags: {
      runs: {
        kind: "parsed",
        parse: wholeNumber(1, 1_000_000),
        placeholder: "N",
        brief: "Lives to rehearse",
        default: "1000",
      },
      seed: {
        kind: "parsed",
        parse: wholeNumber(0, 2 ** 32 - 1),
        placeholder: "S",
        brief: "The same seed gives the same lives",
        default: "1",
      },
      preset: {
        kind: "parsed",
        parse: String,
        optional: true,
        placeholder: "P",
        brief: "Use this preset; otherwise each life draws one",
      },
      set: {
        kind: "parsed",
        parse: String,
        variadic: true,
        optional: true,
        placeholder: "NAME=VALUE",
        brief: "Set a setting; may be given several times",
      },
      trace: flag("Print the first life step by step (as --runs 1 does)"),
      prompts: flag("Print prompts in full where a life is printed"),
      follow: {
        kind: "parsed",
        parse: String,
        optional: true,
        placeholder: "FILE",
        brief: "Follow a counterexample that verify saved",
      },
      json,
    },
  },
  docs: {
    brief: "Rehearse a workflow: let tasks live through everything that can happen",
    fullDescription: `Needs no agent, no network and no tokens. Effects are printed, never performed.

Examples:
  signalbox workflow simulate default --runs 1
  signalbox workflow simulate pipeline --preset quick-fix --set auto_merge=true
  signalbox workflow simulate --follow found/my-flow-wedge-1.json

--json: { workflow, runs, seed, steps, ends, wedged, cut, violations, coverage: [{ from, to, times }],
  trace: [{ text, from, to, cause, held, step, effects }] }
with --follow: { workflow, code, steps (as in trace), circle, asSaid, problem, ends }
Exit codes: 0 ok, 1 a life got stuck, an invariant was broken, or the example did not end as verify said, 2 wrong usage, 3 no such workflow or file`,
  },
});

const eject = buildCommand({
  loader: async () => (await import("./commands/workflow/eject.ts")).eject,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: String,
          proposeCompletions: () => builtInWorkflows().map(({ name }) => name),
          placeholder: "NAME",
          brief: "A built-in workflow",
        },
        {
          parse: String,
          optional: true,
          placeholder: "NEW_NAME",
          brief: "The name of your copy; without one it takes the place of the built-in workflow",
        },
      ],
    },
    flags: { force: flag("Replace a workflow of yours that has this name"), json },
  },
  docs: {
    brief: "Copy a built-in workflow into your folder, to change it",
    fullDescription: `--json: { name, from, file }
Exit codes: 0 ok, 1 the file is there already or cannot be written, 2 wrong usage, 3 no such built-in workflow`,
  },
});

export const workflowCommands = buildRouteMap({
  routes: { list, show, validate, verify, graph, simulate, eject },
  aliases: { ls: "list" },
  docs: { brief: "Read, check, draw and rehearse workflows" },
});
