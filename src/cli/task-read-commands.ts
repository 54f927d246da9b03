import { buildCommand } from "@stricli/core";
import { flag, json, numberFlag, textFlag, wholeNumber } from "./parameters.ts";
import {
  eventForm,
  oneTask,
  project,
  pullRequestForm,
  status,
  taskExitCodes,
  taskFlag,
  taskForm,
  tasks,
  usualLimit,
} from "./task-parameters.ts";

export const list = buildCommand({
  loader: async () => (await import("./commands/task/list.ts")).list,
  parameters: {
    flags: {
      project: { ...project, brief: "Tasks of this project; otherwise of this folder's, or of all outside of any" },
      all: flag("Tasks of all projects"),
      status: status("Only tasks in this state, over or not"),
      open: flag("Only tasks that are not over; this holds where nothing is said"),
      closed: flag("Only tasks that are over; with --open, both"),
      parent: taskFlag("TASK", "Only the children of this task"),
      "needs-me": flag("Only tasks that need a person now, with the reason and the command"),
      limit: {
        kind: "parsed",
        parse: wholeNumber(1, 1_000),
        placeholder: "N",
        brief: "At most so many",
        default: String(usualLimit),
      },
      before: numberFlag("N", "Go on where an earlier list ended", 0, Number.MAX_SAFE_INTEGER),
      watch: flag("Show them with their agents, as they are at every moment, until q or Ctrl-C"),
      json,
    },
  },
  docs: {
    brief: "List tasks, the newest first",
    fullDescription: `A mark before a task: ✗ its session is dead, ! a person should look at it, ◌ its agent waits for a seat, ‖ it is paused, ● its session is alive, ? nobody can tell. With --watch: ! it needs you, ● its agent is busy, ○ its agent waits for a message, ◌ it is about to start, ✓ it is done.

--json: { tasks: [TASK], next }. A TASK is as in signalbox task show. With --watch, a line for each change: { tasks, runs, needs: [{ task, reason, command }] }
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project or task`,
  },
});

export const show = buildCommand({
  loader: async () => (await import("./commands/task/show.ts")).show,
  parameters: { positional: oneTask, flags: { json } },
  docs: {
    brief: "Show everything that is known about a task",
    fullDescription: `Also shown are why it is held, what it owes, and the sections of its task file with their authors.

--json: { task, effects: [{ id, action, state, tries, dueAt, failure }],
  pullRequest: ${pullRequestForm},
  document: { text, authors: { SECTION: { role, run, commit } }, artifacts: [{ section, hash, role, run, commit, at }] } }
task: ${taskForm}
${taskExitCodes("failed")}`,
  },
});

export const explain = buildCommand({
  loader: async () => (await import("./commands/task/explain.ts")).explain,
  parameters: { positional: oneTask, flags: { json } },
  docs: {
    brief: "Say where a task is, what stands in its way, who can move it and what comes next",
    fullDescription: `--json: { task, where, blocked: [{ reason, fix }], moves: [{ to, by, open, command, missing }], next: [{ what, at }],
  owed: [{ id, action, state, tries, dueAt, failure }], warnings }
${taskExitCodes("failed")}`,
  },
});

export const wait = buildCommand({
  loader: async () => (await import("./commands/task/wait.ts")).wait,
  parameters: {
    positional: tasks,
    flags: {
      for: status("Until it is in this state, or has come by there; what ends elsewhere has failed"),
      timeout: textFlag("DURATION", "At most so long, such as 30s, 10m or 2h"),
      any: flag("Only until one of them is there"),
      json,
    },
  },
  docs: {
    brief: "Wait until tasks are over or need a person",
    fullDescription: `For scripts. Prints a line for each task: the task, its state, and what it needs.

Examples:
  signalbox task wait coffee#12
  signalbox task wait coffee#12 coffee#13 --any --timeout 30m
  signalbox task wait coffee#12 --for reviewing

--json: { timedOut, tasks: [{ end, id, project, number, status, outcome, needs }] }. end is reached, over, failed, needs-person or waiting
Exit codes: 0 each is done, or has reached the state; 1 one needs a person, or ended otherwise; 2 wrong usage, 3 no such task, 4 the time is up`,
  },
});

export const actions = buildCommand({
  loader: async () => (await import("./commands/task/actions.ts")).actions,
  parameters: { positional: oneTask, flags: { all: flag("Also those that are not allowed now, and why"), json } },
  docs: {
    brief: "List what you can do with a task, with the exact commands",
    fullDescription: `What is allowed is decided by the task's workflow.

--json: { task, actions: [{ name, label, key, command, to, allowed, why }] }. Every action is there, allowed or not
${taskExitCodes("failed")}`,
  },
});

export const history = buildCommand({
  loader: async () => (await import("./commands/task/history.ts")).history,
  parameters: {
    positional: oneTask,
    flags: {
      limit: numberFlag("N", "Only the newest so many", 1, 1_000_000),
      follow: flag("Go on with what happens from now on"),
      json,
    },
  },
  docs: {
    brief: "Show what happened to a task, the oldest first",
    fullDescription: `One line for each event: when, what, who (the run where it is known), and what it was about. A move that passed a gate names the sections and the beginning of their hashes; a request that was refused, the reasons.

--json: { events: [${eventForm}], last }
with --follow: ${eventForm}. One is on each line.
${taskExitCodes("failed")}`,
  },
});

export const exportTask = buildCommand({
  loader: async () => (await import("./commands/task/export.ts")).exportTask,
  parameters: { positional: oneTask },
  docs: {
    brief: "Print a task's whole history as JSON, one object on each line",
    fullDescription: `Example:
  signalbox task export coffee#12 > coffee-12.jsonl

${taskExitCodes("failed")}`,
  },
});
