import { buildRouteMap } from "@stricli/core";
import { routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { askPermissions, canAsk, mustAllow } from "../ask.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { exitCodes } from "../fast/tell.ts";
import { asReference, findProject, findSlot, mustSuit, shownTask, workflowReference } from "../find.ts";
import { offerHarnesses } from "../offers.ts";
import { given, writeJson } from "../text.ts";
import { command, type FlagsOf } from "./command.ts";
import { agentCleanup, agentKill, clean, crewCleanup, crewKill, merge } from "./crew-end.ts";
import { agentPs, crewPs, dashboard, logs, peek, tellRunner } from "./crew-look.ts";
import {
  agent,
  agentExitCodes,
  agentForm,
  json,
  numberFlag,
  oneAgent,
  optionalWord,
  project,
  task,
  textFlag,
  workflow,
} from "./parameters.ts";
import { allowFullPermissions } from "./project.ts";
import { ticket } from "./ticket.ts";

/**
 * `agent` and `crew` are one family: both are about the named agents of a project. `agent` gives them tasks, `crew`
 * tickets. Their `spawn` is the same command; other verbs that they share differ, and are declared side by side.
 */

/** The parameters of commands that create named agents. */
const spawnParameters = {
  positional: {
    kind: "tuple",
    parameters: [
      optionalWord(
        "NAME|COUNT",
        "The agent's name, or how many to create, named with the next free letters; the default is 1",
      ),
    ],
  },
  flags: {
    project,
    harness: {
      ...textFlag("H", "Its harness; otherwise the project's"),
      proposeCompletions: offerHarnesses,
    },
    model: textFlag("M", "The model to ask its harness for, or a tier such as large"),
    json,
  },
} as const;

/** A named agent, and the whole crew, as the API returns them. */
const slotForm = `{ name, state, reason, task, lastTask, ticket, branch, workspace, session, steps, assignedAt, stepAt, madeAt,
  inputTokens, outputTokens, cost }`;

const crewForm = `{ project, running, most, workflow, agents: [${slotForm}], waiting, unready, leftOver, unread, troubles,
  problems: [{ ticket, problem }], warnings, poolSize }`;

const agentSpawn = command({
  parameters: spawnParameters,
  docs: {
    brief: "Create named agents, which you can give tasks to",
    fullDescription: `A named agent is a slot with a harness and a model. It starts nothing by itself: give it a task with signalbox agent assign NAME TASK. Tasks do not need a named agent, except those of a workflow with agents: named, such as pipeline: their runs are done by idle agents with the wanted model, one run at a time, and missing agents are made as agents.per_model allows. If signalbox crew run is on, a new agent begins with a ready ticket at once; the command says so, and how its work is merged.

Prints the names.

--json: { agents: [${agentForm}] }
Exit codes: 0 ok, 1 the name is taken, or there is no such harness, 2 wrong usage, 3 no such project`,
  },
  func(flags, words = "1") {
    return makeAgents(this, flags, words, (name) => `To give it a task: signalbox agent assign ${name} TASK`);
  },
});

const crewSpawn = command({
  parameters: spawnParameters,
  docs: {
    brief: "Create idle agents",
    fullDescription: `The same as signalbox agent spawn

--json: as there
Exit codes: 0 ok, 1 the name is taken, or there is no such harness, 2 wrong usage, 3 no such project`,
  },
  func(flags, words = "1") {
    return makeAgents(this, flags, words, () => "To let them work through tickets: signalbox crew run");
  },
});

async function makeAgents(
  context: Context,
  flags: FlagsOf<typeof spawnParameters.flags>,
  words: string,
  hint: (first: string) => string,
) {
  const call = createCall(context);
  const { name: project } = await findProject(call, flags.project);
  const { harness, model } = flags;
  const who = /^\d+$/.test(words) ? { count: readCount(words) } : { name: words };
  const answer = await call(routes.addAgents, { body: { project, ...who, ...given({ harness, model }) } });
  if (flags.json) return context.print(writeJson(answer));
  for (const { name } of answer.agents) context.print(name);
  const { running, workflow, warnings } = await call(routes.getCrew, { params: { project } });
  if (!running) return context.say(hint(answer.agents[0]?.name ?? ""));
  const tickets = `ready tickets (workflow ${workflow})`;
  context.say(`crew run is on: ${answer.agents.length === 1 ? "it begins" : "they begin"} with ${tickets} at once.`);
  for (const warning of warnings) context.say(`${context.talkPaint.yellow("warning:")} ${warning}`);
  context.say("To give out no more tickets: signalbox crew stop");
}

const maxCount = 100;

function readCount(words: string): number {
  const count = Number(words);
  if (count >= 1 && count <= maxCount) return count;
  throw new Fault("usage", `You can create 1 to ${maxCount} agents at a time, not ${words}.`, {
    hint: "A name begins with a letter.",
  });
}

const agentAssign = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ parse: String, placeholder: "NAME", brief: "A named agent without a task" }, task],
    },
    flags: { project, json },
  },
  docs: {
    brief: "Give a task to a named agent",
    fullDescription: `From then on, the runs of the task use that agent's harness and model.

--json: ${agentForm}
Exit codes: 0 ok, 1 it already has a task, or the task is over, 2 wrong usage, 3 no such agent, project or task`,
  },
  async func(flags, agent, reference) {
    const call = createCall(this);
    const { name: project } = await findProject(call, flags.project);
    const answer = await call(routes.assignAgent, {
      params: { agent },
      body: { project, task: asReference(reference) },
    });
    if (flags.json) return this.print(writeJson(answer));
    this.print(`${answer.name}  ${answer.task}  ${answer.state}`);
    this.say(`Runs of ${answer.task} use ${answer.harness} from now on. To see them: signalbox agent ps`);
  },
});

const agentClear = command({
  parameters: { positional: oneAgent, flags: { project, json } },
  docs: {
    brief: "Make a named agent available again that has failed a run",
    fullDescription: `In a workflow with agents: named, such as pipeline, an agent whose run failed so that its task is held is stuck: it gets no other run, and counts against agents.per_model. If you continue the task (signalbox task continue TASK), the agent is available again by itself; this command does so at once, and leaves the task as it is.

--json: ${agentForm}
${agentExitCodes("it is not stuck after a run")}`,
  },
  async func(flags, agent) {
    const call = createCall(this);
    const { name: project } = await findProject(call, flags.project);
    const answer = await call(routes.clearAgent, { params: { agent }, body: { project } });
    if (flags.json) return this.print(writeJson(answer));
    this.print(`${answer.name}  ${answer.state}`);
  },
});

const crewAssign = command({
  parameters: {
    positional: { kind: "tuple", parameters: [agent, ticket] },
    flags: { project, workflow: workflow("The workflow of its task; otherwise crew"), json },
  },
  docs: {
    brief: "Give a ticket to an idle agent",
    fullDescription: `A task is made from the ticket, on the branch agent/NAME-TICKET. The ticket must be ready, and no open task may have it. The workflow crew merges the work without asking you: see signalbox crew run --help.

Prints agent, ticket, task and branch.

--json: { agent: ${slotForm}, task, warnings }. The task is as in signalbox task show
Exit codes: 0 ok, 1 the agent is not idle, or the ticket is not available, 2 wrong usage, 3 no such agent, ticket, project or workflow`,
  },
  async func(flags, name, ticket) {
    const call = createCall(this);
    const { project, slot } = await findSlot(call, flags.project, name);
    mustSuit("assign", slot);
    const workflow = flags.workflow && workflowReference(flags.workflow);
    const answer = await call(routes.giveTicket, {
      params: { project, agent: name },
      body: given({ ticket, workflow }),
    });
    if (flags.json) return this.print(writeJson(answer));
    const { task, warnings } = answer;
    this.print([name, task.ticket, shownTask(task), task.branch].join("  "));
    for (const warning of warnings) this.say(`${this.talkPaint.yellow("warning:")} ${warning}`);
  },
});

const run = command({
  parameters: {
    flags: {
      project,
      most: numberFlag("N", "How many tickets may be worked on at the same time; the default is 10", 1, 1_000),
      workflow: workflow("The workflow of the tasks; otherwise crew"),
      "allow-full-permissions": allowFullPermissions,
      json,
    },
  },
  docs: {
    brief: "Give ready tickets to idle agents from now on, until signalbox crew stop",
    fullDescription: `The daemon does this, also after a restart. An idle agent gets the most urgent ticket that is ready and open. A ticket that ever had a task is not given out again, except by you: signalbox crew assign NAME TICKET. The project's pool size also limits how many tasks are worked on at the same time.

The workflow crew merges work into the default branch by itself once its tests pass, or without tests if no test command is found, and asks nobody; like every merge, that is pushed if the project has a remote. The command says so, with the test command. With --workflow default, an agent reviews the work, and you merge it.

--json: ${crewForm}
Exit codes: 0 ok, 1 failed, or you said no, 2 wrong usage, 3 no such project or workflow`,
  },
  async func(flags) {
    const call = createCall(this);
    const { name: project } = await findProject(call, flags.project);
    const workflow = flags.workflow && workflowReference(flags.workflow);
    let allowFullPermissions = flags["allow-full-permissions"] || undefined;
    if (allowFullPermissions === undefined && !flags.json && canAsk()) {
      const query = { workflow: workflow ?? "crew" };
      const permissions = await call(routes.projectPermissions, { params: { project }, query });
      if (mustAllow(permissions)) {
        if (!(await askPermissions(this, project, permissions))) {
          this.say("No tickets are given out.");
          this.process.exitCode = exitCodes.failed;
          return;
        }
        allowFullPermissions = true;
      }
    }
    const body = given({ most: flags.most, workflow, allowFullPermissions });
    const crew = await call(routes.runCrew, { params: { project }, body });
    if (flags.json) return this.print(writeJson(crew));
    if (crew.agents.length === 0) this.say(`${project} has no agents yet. To create three: signalbox crew spawn 3`);
    tellRunner(this, crew);
    for (const warning of crew.warnings) this.say(`${this.talkPaint.yellow("warning:")} ${warning}`);
    this.say("To watch: signalbox crew dashboard. To stop: signalbox crew stop");
  },
});

const stop = command({
  parameters: { flags: { project, json } },
  docs: {
    brief: "Give out no more tickets; working agents continue",
    fullDescription: `To also interrupt working agents, and continue them later: signalbox pause --now

--json: ${crewForm}
Exit codes: 0 ok, also if it was not running, 1 failed, 2 wrong usage, 3 no such project`,
  },
  async func(flags) {
    const call = createCall(this);
    const { name: project } = await findProject(call, flags.project);
    const crew = await call(routes.stopCrew, { params: { project }, body: {} });
    if (flags.json) return this.print(writeJson(crew));
    const busy = crew.agents.filter(({ state }) => state !== "idle").map(({ name }) => name);
    const goOn = busy.length === 1 ? `${busy[0]} continues.` : `${busy.length} agents continue.`;
    this.say(`No more tickets are given out. ${busy.length === 0 ? "No agent is working." : goOn}`);
    if (busy.length > 0)
      this.say(`To interrupt that too, without losing anything: signalbox pause --project ${project} --now`);
  },
});

export const agentCommands = buildRouteMap({
  routes: {
    spawn: agentSpawn,
    ps: agentPs,
    assign: agentAssign,
    clear: agentClear,
    kill: agentKill,
    cleanup: agentCleanup,
  },
  aliases: { list: "ps", ls: "ps", new: "spawn" },
  docs: { brief: "List, name and end agents" },
});

export const crewCommands = buildRouteMap({
  routes: {
    spawn: crewSpawn,
    assign: crewAssign,
    run,
    stop,
    ps: crewPs,
    peek,
    logs,
    kill: crewKill,
    cleanup: crewCleanup,
    merge,
    clean,
    dashboard,
  },
  aliases: { d: "dashboard", list: "ps", ls: "ps", new: "spawn" },
  docs: { brief: "Let named agents work through the tickets of a project" },
});
