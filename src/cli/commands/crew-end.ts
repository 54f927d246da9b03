import type { RunView } from "../../api/agents.ts";
import type { Call } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { TaskView } from "../../api/tasks.ts";
import type { SlotView } from "../../api/tickets.ts";
import { Fault } from "../../fault.ts";
import { allRuns } from "../all-runs.ts";
import { confirm } from "../ask.ts";
import { createCall, createOnlooker } from "../connect.ts";
import type { Context } from "../context.ts";
import { exitCodes, tellChange } from "../fast/tell.ts";
import { findProject, findSlot, mustSuit, projectHere, shownTask } from "../find.ts";
import { offerRuns } from "../offers.ts";
import { pause, unlessInterrupted, untilInterrupted } from "../screen.ts";
import { shownRun } from "../tables.ts";
import { count, given, listed, writeJson } from "../text.ts";
import { command } from "./command.ts";
import { agentExitCodes, changeForm, flag, json, oneAgent, onlyProject, project } from "./parameters.ts";

const yes = flag("Do not ask for confirmation");

export const agentCleanup = command({
  parameters: {
    flags: {
      project: onlyProject,
      "dry-run": flag("Only show what would be removed"),
      yes: flag("Do not ask"),
      json,
    },
  },
  docs: {
    brief: "Remove named agents without a task, dead windows, and the logs of runs whose tasks are over",
    fullDescription: `Tasks, branches and history are kept. The command first lists what it removes. On a terminal you are asked; elsewhere --yes is needed.

--json: { done }
Exit codes: 0 ok, 1 failed, or you said no, 2 wrong usage, 3 no such project`,
  },
  async func({ project, yes, "dry-run": dryRun, json }) {
    const call = createCall(this);
    const about = given({ project });
    const wanted = await call(routes.cleanAgents, { body: { ...about, dryRun: true } });
    if (json && dryRun) return this.print(writeJson(wanted));
    if (wanted.done.length === 0)
      return json ? this.print(writeJson(wanted)) : this.say("There is nothing to clean up.");
    if (dryRun) {
      for (const each of wanted.done) this.print(`would remove ${each}`);
      return this.say("Nothing has changed. To do it: signalbox agent cleanup");
    }
    if (!yes) {
      for (const each of wanted.done) this.say(`  ${each}`);
      const where = project === undefined ? "" : ` of ${project}`;
      const logs = wanted.done.some((each) => each.startsWith("the folder of "))
        ? " The logs in these folders are removed too."
        : "";
      if (!(await confirm(this, `Remove ${count(wanted.done.length, "thing")}${where}?${logs}`, false))) return;
    }
    const answer = await call(routes.cleanAgents, { body: about });
    if (json) return this.print(writeJson(answer));
    for (const each of answer.done) this.print(`removed ${each}`);
  },
});

export const agentKill = command({
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: String,
          proposeCompletions: offerRuns,
          placeholder: "RUN|NAME",
          brief: "A run such as coffee#12/worker#1, its id, or the name of a working agent",
        },
      ],
    },
    flags: { yes: flag("Do not ask for confirmation"), json },
  },
  docs: {
    brief: "End a working agent",
    fullDescription: `Ends its program and every process that it started. The workflow of its task decides what follows, as when an agent ends by itself: the agent may be started again. To end a task, use signalbox task cancel TASK.

--json: ${changeForm}
Exit codes: 0 ok, 1 it has already ended, or you said no, 2 wrong usage, 3 no such agent`,
  },
  async func({ yes, json }, reference) {
    const call = createCall(this);
    const run = await findRun(call, reference);
    const name = shownRun(run);
    if (process.stdin.isTTY && !(await confirm(this, `End ${name}, which is ${run.activity}?`, yes))) return;
    const change = await call(routes.killRun, { params: { task: run.task, run: run.key }, query: {}, body: {} });
    if (json) return this.print(writeJson(change));
    this.say(`${name} is ended.`);
    tellChange(this, change);
  },
});

/** Finds a run by its shown name, its id, or its named agent. Ended runs are searched only for a better message. */
async function findRun(call: Call, reference: string): Promise<RunView> {
  const { runs } = await call(routes.listRuns, { query: {} });
  const exact = runs.filter((run) => namesOf(run).includes(reference));
  const found = exact.length > 0 ? exact : await namedHere(call, runs, reference);
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined)
    throw new Fault("usage", `${reference} can be ${listed(found.map(shownRun), "or")}.`, {
      hint: `Name one of them, such as: signalbox agent kill ${shownRun(only)}`,
    });
  const all = await allRuns(call, { all: "true" });
  const ended = all.find((run) => [shownRun(run), run.id].includes(reference));
  if (ended !== undefined)
    throw new Fault("run.over", `${reference} has already ended (${ended.word}).`, {
      hint: "See which agents are working: signalbox agent ps",
    });
  throw new Fault("run.missing", `No working agent is called "${reference}".`, {
    hint: "See the working agents and their names: signalbox agent ps",
  });
}

function namesOf(run: RunView): readonly string[] {
  const { id, agent, project } = run;
  return [shownRun(run), id, ...(agent === "" ? [] : [`${project}/${agent}`])];
}

/** A bare agent name belongs to this folder's project, because other projects may have the same name. */
async function namedHere(call: Call, runs: readonly RunView[], name: string): Promise<readonly RunView[]> {
  const called = runs.filter(({ agent }) => agent === name);
  const [first] = called;
  if (first === undefined) return [];
  const here = await projectHere(call);
  const own = called.filter(({ project }) => project === here?.name);
  if (own.length > 0) return own;
  const names = [...new Set(called.map(({ project }) => `${project}/${name}`))];
  throw new Fault("usage", `This folder is not in a project with a working agent "${name}".`, {
    hint: `If you mean ${listed(names, "or")}, run: signalbox agent kill ${names[0]}`,
  });
}

export const crewKill = command({
  parameters: { positional: oneAgent, flags: { project, yes, json } },
  docs: {
    brief: "End an agent's work, and begin its task again",
    fullDescription: `The agent must be working or stuck. Its task goes back to the first state of its workflow, if a way leads there; uncommitted work is salvaged.

--json: ${changeForm}
${agentExitCodes("it is neither working nor stuck, or you said no")}`,
  },
  async func({ project: named, yes, json }, name) {
    const call = createCall(this);
    const { project, slot } = await findSlot(call, named, name);
    mustSuit("kill", slot);
    if (!(await confirm(this, `End the work of ${name}, and begin ${slot.task} again?`, yes))) return;
    const change = await call(routes.restartSlot, { params: { project, agent: name }, body: {} });
    if (json) return this.print(writeJson(change));
    tellChange(this, change);
    this.say(
      `Its task begins again when there is room. To cancel the task and keep ${name}: signalbox crew cleanup ${name}`,
    );
  },
});

export const crewCleanup = command({
  parameters: { positional: oneAgent, flags: { project, yes, json } },
  docs: {
    brief: "Cancel the task of an agent, and keep the agent",
    fullDescription: `The workspace is released, and uncommitted work is salvaged. The branch is kept, and the ticket stays open.

--json: { cancelled }
${agentExitCodes("refused, or you said no")}`,
  },
  async func({ project: named, yes, json }, name) {
    const call = createCall(this);
    const { slot } = await findSlot(call, named, name);
    if (slot.task !== "" && !(await confirm(this, `Cancel ${slot.task}, on which ${name} works?`, yes))) return;
    const cancelled = await cancelTasks(this, call, [slot]);
    if (json) return this.print(writeJson({ cancelled }));
    if (cancelled.length === 0) return this.say(`${name} has no task. There is nothing to clean up.`);
    this.print(`cancelled ${slot.task}`);
    this.say("Uncommitted work is salvaged: signalbox salvage list");
  },
});

export const clean = command({
  parameters: { flags: { project, yes, json } },
  docs: {
    brief: "Cancel the tasks of all agents, and remove the agents",
    fullDescription: `Gives out no more tickets, does for each agent what signalbox crew cleanup NAME does, then removes the agents. The command first lists what it cancels; on a terminal you are asked, elsewhere --yes is needed. Tickets, branches, history, logs and salvaged work are kept, and other tasks are not touched.

--json: { cancelled, done }
Exit codes: 0 ok, 1 refused, or you said no, 2 wrong usage, 3 no such project`,
  },
  async func({ project: named, yes, json }) {
    const call = createCall(this);
    const { name: project } = await findProject(call, named);
    const { agents, running } = await call(routes.getCrew, { params: { project } });
    if (agents.length === 0 && !running) {
      if (json) return this.print(writeJson({ cancelled: [], done: [] }));
      return this.say("There is nothing to clean up.");
    }
    if (!yes) {
      for (const { name, task, ticket } of agents)
        this.say(`  ${name}  ${task === "" ? "has no task" : `${task}${ticket && ` (${ticket})`} is cancelled`}`);
      if (!(await confirm(this, cleanQuestion(project, agents), false))) return;
    }
    // Includes agents that got a ticket while the person was being asked.
    const now = await call(routes.stopCrew, { params: { project }, body: {} });
    const cancelled = await cancelTasks(this, call, now.agents);
    // Leave alone what other tasks have left behind.
    const { done } = await call(routes.cleanAgents, { body: { project, onlyAgents: true } });
    if (json) return this.print(writeJson({ cancelled, done }));
    for (const task of cancelled) this.print(`cancelled ${task}`);
    for (const each of done) this.print(`removed ${each}`);
    if (cancelled.length > 0) this.say("Uncommitted work is salvaged: signalbox salvage list");
  },
});

function cleanQuestion(project: string, agents: readonly SlotView[]): string {
  const tasks = agents.filter(({ task }) => task !== "").length;
  const many = count(agents.length, "agent");
  if (agents.length === 0) return `Give out no more tickets of ${project}?`;
  if (tasks === 0) return `Remove ${many} of ${project}?`;
  return `Cancel ${count(tasks, "task")} of ${project}, and remove ${many}?`;
}

/** An agent is idle after its task's last effect: its program has ended, and its workspace is released. */
async function cancelTasks(context: Context, call: Call, slots: readonly SlotView[]): Promise<readonly string[]> {
  const busy = slots.filter(({ task }) => task !== "");
  const cancelled: string[] = [];
  for (const { task, lastTask } of busy) if (await cancelOne(call, lastTask)) cancelled.push(task);
  const ending = untilInterrupted();
  for (const { name, lastTask } of busy) {
    for (let left = maxPolls; ; left--) {
      const { task } = await call(routes.getTask, { params: { task: lastTask }, query: {} });
      if (task.phase === "over") break;
      if (task.held !== null || left === 0 || ending.aborted) {
        context.say(`${name} is not idle yet. To see why: signalbox task explain ${lastTask}`);
        break;
      }
      await pause(endInterval, ending);
    }
  }
  return cancelled;
}

/** False if the task has ended in the meantime: then there is nothing to cancel, and no error. */
async function cancelOne(call: Call, id: string): Promise<boolean> {
  try {
    await call(routes.cancelTask, { params: { task: id }, query: {}, body: {} });
    return true;
  } catch (error) {
    const { task } = await call(routes.getTask, { params: { task: id }, query: {} });
    if (task.outcome !== null) return false;
    throw error;
  }
}

const endInterval = 200;

const maxPolls = 300;

/** Finished work is already being merged. Stuck work is merged because a person asks for it. */
export const merge = command({
  parameters: { positional: oneAgent, flags: { project, json } },
  docs: {
    brief: "Merge an agent's work by hand",
    fullDescription: `The agent must be done or stuck. Done work is tested and merged by itself: the command waits for that. Stuck work is merged as its workflow does it, as far as it is committed. If your own changes are in the way, the command says so, and continues when they no longer are.

--json: { merged, reason, task }. The task is as in signalbox task show
${agentExitCodes("it is neither done nor stuck, or not merged")}`,
  },
  async func({ project, json }, name) {
    const ending = untilInterrupted();
    const call = createOnlooker(this, ending);
    const { slot } = await findSlot(call, project, name);
    mustSuit("merge", slot);
    const params = { task: slot.lastTask };
    let problem = "";
    let told = "";
    if (slot.state === "stuck") {
      const answer = await call(routes.mergeTask, { params, query: {}, body: {} });
      if (answer.state !== "waits") problem = answer.reason;
    } else this.say(`The work of ${name} is tested and merged by itself. Ctrl-C stops only the waiting.`);
    const tell = async () => {
      const { reason: now } = (await findSlot(call, project, name)).slot;
      if (now !== "" && now !== told) this.say(now);
      told = now;
    };
    const task = await whenThere(call, slot.lastTask, tell, ending).catch(unlessInterrupted(ending));
    if (task === undefined) return;
    const merged = task.outcome === "done";
    const reason = merged ? "" : problem || (await findSlot(call, project, name)).slot.reason;
    if (!merged) this.process.exitCode = exitCodes.failed;
    if (json) return this.print(writeJson({ merged, reason, task }));
    if (merged)
      return this.print(`Merged ${shownTask(task)}: ${task.previousStatus} → ${this.paint.cyan(task.status)}`);
    this.say(`${this.talkPaint.red("Not merged.")} ${reason}`.trimEnd());
    this.say(`${shownTask(task)} is in ${task.status}. To see why: signalbox task explain ${task.id}`);
  },
});

/** Polls until the task has settled. Calls `tell` while it waits, because the person may have to act. */
async function whenThere(call: Call, id: string, tell: () => Promise<void>, ending: AbortSignal): Promise<TaskView> {
  for (;;) {
    const { task } = await call(routes.getTask, { params: { task: id }, query: {} });
    const isOnItsWay = task.phase === "doing" || task.phase === "entering";
    if (!isOnItsWay || task.held !== null || ending.aborted) return task;
    await tell();
    await pause(mergeInterval, ending);
  }
}

const mergeInterval = 300;
