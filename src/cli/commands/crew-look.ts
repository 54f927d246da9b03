import type { RunView } from "../../api/agents.ts";
import type { Call } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { CrewView, SlotView } from "../../api/tickets.ts";
import { allRuns } from "../all-runs.ts";
import { createCall, createOnlooker } from "../connect.ts";
import type { Context } from "../context.ts";
import { findProjectToShow, findSlotToShow, lastTaskOf } from "../find.ts";
import { pause, unlessInterrupted, untilInterrupted } from "../screen.ts";
import { aboutTickets, aboutTroubles, marksOf, writeIdleAgents, writeRuns, writeSlots } from "../tables.ts";
import { given, writeJson } from "../text.ts";
import { type CrewBoard, crewLines, slotLines } from "../watch/crew.ts";
import { watchLive, withRun } from "../watch/live.ts";
import { command, type FlagsOf } from "./command.ts";
import {
  agentExitCodes,
  agentForm,
  color,
  flag,
  json,
  numberFlag,
  oneAgent,
  onlyProject,
  projectToShow,
  raw,
  usageForm,
} from "./parameters.ts";
import { printRun, showScreen } from "./task-agent.ts";

/** A run, as the API returns it. */
const runForm = `{ id, task, project, number, summary, key, role, agent, harness, model, mode, session, window, pid,
  folder, activity, since, signAt, what, raised, messagesWaiting, watchers, startedAt, endedAt, word,
  usage: ${usageForm} }`;

const pollInterval = 1_000;

export const agentPs = command({
  parameters: {
    flags: {
      all: flag("Also list ended agents"),
      project: onlyProject,
      watch: flag("Show the list again after each change, until Ctrl-C"),
      json,
    },
  },
  docs: {
    brief: "List the working agents, and what they are doing",
    fullDescription: `A mark before an agent: ● it is busy, ○ it waits for a message, ◌ it is about to start or waits for a seat (at most agents.most agents work at the same time), ! it needs a person, ? unknown, ✗ it has ended. A cost is ? if the harness does not report it. Named agents that do nothing are listed below: without a task, or stuck, with the reason and what to do.

--json: { runs: [${runForm}], agents: [${agentForm}] }
With --watch, each line is one such document. activity is waiting, starting, busy, idle, asks, unknown or ended.
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project`,
  },
  async func({ all, project, watch, json }) {
    const ending = watch ? untilInterrupted() : undefined;
    const call = createOnlooker(this, ending);
    const look = async () => {
      const runs = await allRuns(call, given({ project, all: all ? "true" : undefined }));
      const { agents } = await call(routes.listAgents, { query: given({ project }) });
      return { runs, agents };
    };
    const shape = { paint: this.paint, columns: this.tableWidth };
    const show = ({ runs, agents }: Awaited<ReturnType<typeof look>>) => {
      if (runs.length > 0) this.print(writeRuns(runs, shape, Date.now()));
      const isShown = (name: string, of: string) => runs.some((run) => run.agent === name && run.project === of);
      const idle = agents.filter(
        ({ name, project: of, state }) => state === "idle" || (state === "stuck" && !isShown(name, of)),
      );
      if (idle.length > 0) this.print(`${runs.length > 0 ? "\n" : ""}${writeIdleAgents(idle, shape)}`);
      if (runs.length === 0) this.say(whyEmpty(all, project));
      else this.say(`\n${marksOf(runs)}`);
    };
    if (ending === undefined) {
      const seen = await look();
      return json ? this.print(writeJson(seen)) : show(seen);
    }
    for (let last = ""; !ending.aborted; await pause(pollInterval, ending)) {
      const seen = await look().catch(unlessInterrupted(ending));
      if (seen === undefined) return;
      const now = JSON.stringify(seen);
      // On a terminal redraw anyway: the ages have changed.
      if (now === last && (json || !this.isTerminal)) continue;
      last = now;
      if (json) this.print(writeJson(seen, 0));
      else {
        // Bypass the filter for control characters: these are intended.
        if (this.isTerminal) this.process.stdout.write("\u001b[H\u001b[2J");
        show(seen);
      }
    }
  },
});

function whyEmpty(all: boolean, project: string | undefined): string {
  const where = project === undefined ? "" : ` for ${project}`;
  const more = all ? "" : " To see ended agents: signalbox agent ps --all\n";
  const begin = all ? `No agent has worked${where} yet.` : `No agent is working${where}.${more.trimEnd()}`;
  return `${begin}\nTo start one: signalbox task create "What is to be done"`;
}

const logsFlags = {
  project: projectToShow,
  follow: flag("Keep printing new output until its task is over"),
  raw,
  color,
} as const;

type LogsFlags = FlagsOf<typeof logsFlags>;

/** Every step of an agent is a separate run: prints all of them, one after the other. */
export const logs = command({
  parameters: {
    positional: oneAgent,
    flags: logsFlags,
  },
  docs: {
    brief: "Print the whole output of an agent",
    fullDescription: `Prints all steps of its current or last task; with --follow also the steps to come. Otherwise the same as signalbox task logs

${agentExitCodes("it has had no task yet")}`,
  },
  async func(flags, name) {
    const ending = untilInterrupted();
    const call = createOnlooker(this, ending);
    const task = lastTaskOf((await findSlotToShow(call, flags.project, name)).slot);
    await printRuns(this, call, task, flags, ending).catch(unlessInterrupted(ending));
  },
});

async function printRuns(context: Context, call: Call, task: string, flags: LogsFlags, ending: AbortSignal) {
  const { follow, color, raw } = flags;
  const print = (which: { readonly run?: string }) =>
    printRun(context, call, { params: { task }, query: {}, which, follow, color, raw, ending });
  const told = new Set<string>();
  for (;;) {
    // Read the phase before the runs: a run that begins later is seen in the next round.
    const { phase } = (await call(routes.getTask, { params: { task }, query: {} })).task;
    const { runs } = await call(routes.listRuns, { query: { task, all: "true" } });
    const fresh = runs.filter(({ key, activity }) => activity !== "waiting" && !told.has(key));
    for (const { key } of fresh) {
      if (ending.aborted) return;
      told.add(key);
      context.say(context.talkPaint.dim(key));
      await print({ run: key });
    }
    // `print` explains why there is nothing yet.
    if (told.size === 0 && !follow) return print({});
    if (!follow || ending.aborted || (phase === "over" && fresh.length === 0)) return;
    if (fresh.length === 0) await pause(logInterval, ending);
  }
}

const logInterval = 500;

export const crewPs = command({
  parameters: { flags: { project: projectToShow, json } },
  docs: {
    brief: "List the agents with their tickets",
    fullDescription: `A mark before an agent: ○ idle, it has no task; ◐ ready, its program is about to be started, or waits for room; ● working; ✓ done, its work is tested and merged; ! stuck, it needs a person, or waits before a retry. The last column says why it is stuck, what it waits for, or which error is retried. Tokens and costs include all tasks that the agent has had.

--json: { agents: [{ name, session, worktree, branch, task, task_assigned_at, status, started_at, step_count, last_step_at, total_input_tokens, total_output_tokens, total_cost_usd }] }
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project`,
  },
  async func(flags) {
    const call = createCall(this);
    const { name: project } = await findProjectToShow(call, flags.project);
    const crew = await call(routes.getCrew, { params: { project } });
    if (flags.json) return this.print(writeJson({ agents: crew.agents.map(asState) }));
    // In a pipe, each agent is one whole line.
    const columns = this.tableWidth;
    const why = { title: "WHY", says: ({ reason }: SlotView) => reason };
    if (crew.agents.length > 0) this.print(writeSlots({ paint: this.paint, columns }, crew.agents, Date.now(), why));
    else this.say(`${project} has no agents. To create three: signalbox crew spawn 3`);
    if (crew.agents.length > 0) this.say("\n");
    tellRunner(this, crew);
  },
});

/** Prints whether tickets are given out, and what prevents it. */
export function tellRunner(context: Context, crew: CrewView): void {
  context.say(aboutTickets(crew));
  const warning = context.talkPaint.yellow("warning:");
  for (const { isTrouble, text } of aboutTroubles(crew)) context.say(isTrouble ? `${warning} ${text}` : text);
}

/** Uses the keys of the file in which crews formerly kept their state. */
function asState(slot: SlotView) {
  return {
    name: slot.name,
    session: slot.session,
    worktree: slot.workspace === "" ? null : slot.workspace,
    branch: slot.branch,
    task: slot.ticket === "" ? slot.task || null : slot.ticket,
    task_assigned_at: slot.assignedAt,
    status: slot.state,
    started_at: slot.madeAt,
    step_count: slot.steps,
    last_step_at: slot.stepAt,
    total_input_tokens: slot.inputTokens,
    total_output_tokens: slot.outputTokens,
    total_cost_usd: slot.cost,
  };
}

export const peek = command({
  parameters: {
    positional: oneAgent,
    flags: {
      project: projectToShow,
      lines: numberFlag("N", "Also show this many lines of the scrollback", 1, 10_000),
      color,
      json,
    },
  },
  docs: {
    brief: "Show the current screen of an agent",
    fullDescription: `The same as signalbox task peek, for its current or last task.

--json: as there
${agentExitCodes("it has had no task yet")}`,
  },
  async func({ project, ...flags }, name) {
    const { slot } = await findSlotToShow(createCall(this), project, name);
    await showScreen(this, flags, lastTaskOf(slot));
  },
});

export const dashboard = command({
  parameters: { flags: { project: projectToShow, json } },
  docs: {
    brief: "Watch the agents and the tickets that wait for them, until q or Ctrl-C",
    fullDescription: `Shows every agent, idle ones too, with what its program is doing, and follows the event feed. Without a terminal it prints a line for each agent that has changed. signalbox crew d is the same. To watch all tasks: signalbox status --watch

--json: one document on each line, as signalbox crew ps prints it, after each change
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project`,
  },
  async func(flags) {
    const { name: project } = await findProjectToShow(createCall(this), flags.project);
    const watched = {
      project,
      look: async (call: Call): Promise<CrewBoard> => {
        const crew = await call(routes.getCrew, { params: { project } });
        return { crew, runs: (await call(routes.listRuns, { query: { project } })).runs };
      },
      withRun: (board: CrewBoard, run: RunView) => ({ ...board, runs: withRun(board.runs, run) }),
      lines: crewLines,
      document: ({ crew }: CrewBoard) => ({ agents: crew.agents.map(asState) }),
      texts: slotLines,
    };
    await watchLive(this, watched, flags.json);
  },
});
