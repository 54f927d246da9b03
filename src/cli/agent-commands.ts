import { buildCommand, buildRouteMap } from "@stricli/core";
import { offerHarnesses, offerRuns } from "./offers.ts";
import { flag, json, textFlag } from "./parameters.ts";
import { changeForm, onlyProject, project, task } from "./task-parameters.ts";

/** What was used up, on the wire. */
const usageForm = "{ inputTokens, outputTokens, cachedTokens, cost }";
/** A run on the wire. */
const runForm = `{ id, task, project, number, summary, key, role, agent, harness, model, mode, session, window, pid,
  folder, activity, since, signAt, what, raised, messagesWaiting, watchers, startedAt, endedAt, word,
  usage: ${usageForm} }`;
/** A named agent on the wire. */
const agentForm = `{ name, project, harness, model, state, task, reason, runs, usage: ${usageForm} }`;

/** What named agents are made with. */
export const spawnParameters = {
  positional: {
    kind: "tuple",
    parameters: [
      {
        parse: String,
        optional: true,
        placeholder: "NAME|COUNT",
        brief: "What it is called, or how many are made with the next free letters; 1 where nothing is said",
      },
    ],
  },
  flags: {
    project,
    harness: {
      ...textFlag("H", "The harness that it runs in; otherwise the project's"),
      proposeCompletions: offerHarnesses,
    },
    model: textFlag("M", "The model that its harness is asked for"),
    json,
  },
} as const;

const spawn = buildCommand({
  loader: async () => (await import("./commands/agent/spawn.ts")).spawn,
  parameters: spawnParameters,
  docs: {
    brief: "Make named agents, to which tasks can be given",
    fullDescription: `A named agent is a slot with a harness and a model. It starts nothing by itself: give it a task with signalbox agent assign NAME TASK. Tasks that are given to nobody run without one.

Prints the names.

--json: { agents: [${agentForm}] }
Exit codes: 0 ok, 1 the name is taken, or there is no such harness, 2 wrong usage, 3 no such project`,
  },
});

const ps = buildCommand({
  loader: async () => (await import("./commands/agent/ps.ts")).ps,
  parameters: {
    flags: {
      all: flag("Also those that have ended"),
      project: onlyProject,
      watch: flag("Show it again whenever something has changed, until Ctrl-C"),
      json,
    },
  },
  docs: {
    brief: "List the agents at work, and what they are at",
    fullDescription: `A mark before an agent: ● it is busy, ○ it waits for a message, ◌ it is about to start or waits for a seat, ! a person should look at it, ? nobody can tell, ✗ it has ended. What an agent has cost is ? where its harness does not tell. Named agents without a task stand below.

--json: { runs: [${runForm}], agents: [${agentForm}] }
With --watch one such document is on each line. activity is waiting, starting, busy, idle, asks, unknown or ended.
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project`,
  },
});

const assign = buildCommand({
  loader: async () => (await import("./commands/agent/assign.ts")).assign,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ parse: String, placeholder: "NAME", brief: "A named agent without a task" }, task],
    },
    flags: { project, json },
  },
  docs: {
    brief: "Give a task to a named agent",
    fullDescription: `The runs of the task are made with that agent's harness and model from then on.

--json: ${agentForm}
Exit codes: 0 ok, 1 it has a task already, or the task is over, 2 wrong usage, 3 no such agent, project or task`,
  },
});

const kill = buildCommand({
  loader: async () => (await import("./commands/agent/kill.ts")).kill,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: String,
          proposeCompletions: offerRuns,
          placeholder: "RUN|NAME",
          brief: "A run such as coffee#12/worker#1, its id, or the name of an agent that is at work",
        },
      ],
    },
    flags: { yes: flag("Do not ask whether it is meant"), json },
  },
  docs: {
    brief: "End an agent that is at work",
    fullDescription: `Ends its program with everything that it started. The workflow of its task decides what follows, as it does when an agent ends by itself: it may be started again. To end a task, use signalbox task cancel TASK.

--json: ${changeForm}
Exit codes: 0 ok, 1 it has ended already, or you said no, 2 wrong usage, 3 no such agent`,
  },
});

const cleanup = buildCommand({
  loader: async () => (await import("./commands/agent/cleanup.ts")).cleanup,
  parameters: {
    flags: {
      project: onlyProject,
      "dry-run": flag("Only say what would be taken away"),
      yes: flag("Do not ask"),
      json,
    },
  },
  docs: {
    brief: "Take away named agents without a task, dead windows, and the logs of runs whose tasks are over",
    fullDescription: `What agents have written to tasks, branches and history stays. It says first what it takes away. On a terminal you are asked; elsewhere --yes is needed.

--json: { done }
Exit codes: 0 ok, 1 failed, or you said no, 2 wrong usage, 3 no such project`,
  },
});

export const agentCommands = buildRouteMap({
  routes: { spawn, ps, assign, kill, cleanup },
  aliases: { ls: "ps", new: "spawn" },
  docs: { brief: "Look at agents, name them, and end them" },
});
