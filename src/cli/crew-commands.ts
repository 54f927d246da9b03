import { buildCommand, buildRouteMap } from "@stricli/core";
import { spawnParameters } from "./agent-commands.ts";
import { flag, json, numberFlag } from "./parameters.ts";
import { allowFullPermissions } from "./project-commands.ts";
import { changeForm, color, project, projectToShow, raw, workflow } from "./task-parameters.ts";
import { ticket } from "./ticket-commands.ts";

const name = { parse: String, placeholder: "NAME", brief: "A named agent, such as A" } as const;
const oneName = { kind: "tuple", parameters: [name] } as const;
const yes = flag("Do not ask whether it is meant");
const exitCodes = (failed: string) => `Exit codes: 0 ok, 1 ${failed}, 2 wrong usage, 3 no such agent or project`;

/** A named agent, and all of them, on the wire. */
const slotForm = `{ name, state, reason, task, lastTask, ticket, branch, workspace, session, steps, assignedAt, stepAt, madeAt,
  inputTokens, outputTokens, cost }`;
const crewForm = `{ project, running, most, workflow, agents: [${slotForm}], waiting, unready, leftOver, unread, troubles,
  problems: [{ ticket, problem }], poolSize }`;

const spawn = buildCommand({
  loader: async () => (await import("./commands/agent/spawn.ts")).spawnCrew,
  parameters: spawnParameters,
  docs: {
    brief: "Make idle agents",
    fullDescription: `The same as signalbox agent spawn

--json: as there
Exit codes: 0 ok, 1 the name is taken, or there is no such harness, 2 wrong usage, 3 no such project`,
  },
});

const assign = buildCommand({
  loader: async () => (await import("./commands/crew/assign.ts")).assign,
  parameters: {
    positional: { kind: "tuple", parameters: [name, ticket] },
    flags: { project, workflow: workflow("The workflow of its task; otherwise crew"), json },
  },
  docs: {
    brief: "Give a ticket to an idle agent",
    fullDescription: `A task is made from the ticket, on the branch agent/NAME-TICKET. The ticket must be ready, and no task that is not over may have it.

Prints agent, ticket, task and branch.

--json: { agent: ${slotForm}, task, warnings }. The task is as in signalbox task show
Exit codes: 0 ok, 1 it is not idle, or the ticket is not to be had, 2 wrong usage, 3 no such agent, ticket, project or workflow`,
  },
});

const run = buildCommand({
  loader: async () => (await import("./commands/crew/run.ts")).run,
  parameters: {
    flags: {
      project,
      most: numberFlag("N", "How many tickets may be worked on at once; 10 where nothing is said", 1, 1_000),
      workflow: workflow("The workflow of the tasks; otherwise crew"),
      "allow-full-permissions": allowFullPermissions,
      json,
    },
  },
  docs: {
    brief: "Give ready tickets to idle agents from now on, until signalbox crew stop",
    fullDescription: `The daemon does it, also after it was started again. Whenever an agent is idle it gets the most urgent ticket that is ready and open. A ticket that ever had a task is not given out again; a person can do that with signalbox crew assign NAME TICKET. How many tasks are at work at once is also a matter of the project's pool size.

--json: ${crewForm}
Exit codes: 0 ok, 1 failed, or you said no, 2 wrong usage, 3 no such project or workflow`,
  },
});

const stop = buildCommand({
  loader: async () => (await import("./commands/crew/run.ts")).stop,
  parameters: { flags: { project, json } },
  docs: {
    brief: "Give out no more tickets; what is at work goes on",
    fullDescription: `To let what is at work rest as well, and go on later where it was: signalbox pause --now

--json: ${crewForm}
Exit codes: 0 ok, also where it did not run, 1 failed, 2 wrong usage, 3 no such project`,
  },
});

const ps = buildCommand({
  loader: async () => (await import("./commands/crew/ps.ts")).ps,
  parameters: { flags: { project: projectToShow, json } },
  docs: {
    brief: "List the agents with their tickets",
    fullDescription: `A mark before an agent: ○ idle, it has no task; ◐ ready, its program is about to be started, or waits for room; ● working; ✓ done, its work is tested and merged; ! stuck, a person should look at it, or it waits before it is tried again. The last column says why it is stuck, what it waits for, or what went wrong before it is tried again. Tokens and costs are those of all tasks that it has had.

--json: { agents: [{ name, session, worktree, branch, task, task_assigned_at, status, started_at, step_count, last_step_at, total_input_tokens, total_output_tokens, total_cost_usd }] }
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project`,
  },
});

const peek = buildCommand({
  loader: async () => (await import("./commands/crew/see.ts")).peek,
  parameters: {
    positional: oneName,
    flags: {
      project: projectToShow,
      lines: numberFlag("N", "Also so many lines from above the screen", 1, 10_000),
      color,
      json,
    },
  },
  docs: {
    brief: "Show what an agent shows now",
    fullDescription: `As signalbox task peek, of the task that it has, or had last.

--json: as there
${exitCodes("it has had no task yet")}`,
  },
});

const logs = buildCommand({
  loader: async () => (await import("./commands/crew/logs.ts")).logs,
  parameters: {
    positional: oneName,
    flags: {
      project: projectToShow,
      follow: flag("Go on with what it prints from now on, until its task is over"),
      raw,
      color,
    },
  },
  docs: {
    brief: "Print everything that an agent has printed",
    fullDescription: `Of the task that it has, or had last: all its steps, and with --follow also those to come. Otherwise as signalbox task logs.

${exitCodes("it has had no task yet")}`,
  },
});

const kill = buildCommand({
  loader: async () => (await import("./commands/crew/end.ts")).kill,
  parameters: { positional: oneName, flags: { project, yes, json } },
  docs: {
    brief: "End what an agent is at, and begin its task again",
    fullDescription: `For one that is working or stuck. Its task goes back to where its workflow begins, if a way leads there; what was not committed is salvaged.

--json: ${changeForm}
${exitCodes("it is neither working nor stuck, or you said no")}`,
  },
});

const cleanup = buildCommand({
  loader: async () => (await import("./commands/crew/end.ts")).cleanup,
  parameters: { positional: oneName, flags: { project, yes, json } },
  docs: {
    brief: "Cancel the task of an agent, and keep the agent",
    fullDescription: `Its workspace is given back; what was not committed is salvaged, its branch stays, and so does the ticket, which is open.

--json: { cancelled }
${exitCodes("refused, or you said no")}`,
  },
});

const merge = buildCommand({
  loader: async () => (await import("./commands/crew/merge.ts")).merge,
  parameters: { positional: oneName, flags: { project, json } },
  docs: {
    brief: "Merge by hand what an agent has done",
    fullDescription: `For one that is done or stuck. What is done is tested and merged by itself: that is waited for. What is stuck is merged as its workflow does it, as far as it is committed. If changes of yours are in the way, you are told, and it goes on once they are not.

--json: { merged, reason, task }. The task is as in signalbox task show
${exitCodes("it is neither done nor stuck, or not merged")}`,
  },
});

const clean = buildCommand({
  loader: async () => (await import("./commands/crew/end.ts")).clean,
  parameters: { flags: { project, yes, json } },
  docs: {
    brief: "Cancel the tasks of all agents, and take the agents away",
    fullDescription: `Gives out no more tickets, does for each agent what signalbox crew cleanup NAME does, then forgets the agents. It says first what it takes; on a terminal you are asked, elsewhere --yes is needed. Tickets, branches, history, logs and what was salvaged stay, and so does everything of other tasks.

--json: { cancelled, done }
Exit codes: 0 ok, 1 refused, or you said no, 2 wrong usage, 3 no such project`,
  },
});

const dashboard = buildCommand({
  loader: async () => (await import("./commands/crew/see.ts")).dashboard,
  parameters: { flags: { project: projectToShow, json } },
  docs: {
    brief: "Watch the agents and the tickets that wait for them, until q or Ctrl-C",
    fullDescription: `Every agent, also one that is idle, with what its program is at. Drawn from the stream of events; where there is no terminal, a line for each agent that is different from before. signalbox crew d is the same. All tasks: signalbox status --watch

--json: one document on each line, as signalbox crew ps prints it, whenever it is different from before
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project`,
  },
});

export const crewCommands = buildRouteMap({
  routes: { spawn, assign, run, stop, ps, peek, logs, kill, cleanup, merge, clean, dashboard },
  aliases: { d: "dashboard", ls: "ps", new: "spawn" },
  docs: { brief: "Let named agents work off the tickets of a project" },
});
