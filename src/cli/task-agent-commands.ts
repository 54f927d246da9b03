import { buildCommand } from "@stricli/core";
import { flag, json, numberFlag, textFlag } from "./parameters.ts";
import { changeForm, color, oneTask, raw, severalForm, task, taskExitCodes, tasks } from "./task-parameters.ts";

/** Commands about the agents of one task. */

const role = textFlag(
  "R",
  "The agent with this role, or this run such as reviewer#2; otherwise the one that is at work",
);

/** What an agent shows, on the wire. */
const screenForm = "{ run, role, harness, source, text, next, isOver }";

export const spawn = buildCommand({
  loader: async () => (await import("./commands/task/spawn.ts")).spawn,
  parameters: { positional: tasks, flags: { json } },
  docs: {
    brief: "Start a task that waits for a slot, or for somebody's word",
    fullDescription: `It starts whether or not it would start by itself. If there is no room for its agent now, the agent waits; signalbox task explain TASK says for what.

--json: ${changeForm}. ${severalForm}
${taskExitCodes("refused; nothing has changed")}`,
  },
});

export const respawn = buildCommand({
  loader: async () => (await import("./commands/task/respawn.ts")).respawn,
  parameters: { positional: tasks, flags: { json } },
  docs: {
    brief: "Bring a task's dead agent back",
    fullDescription: `The task stays where it is. The agent goes on in its session where its harness can do that; otherwise it begins again, with what the task file says. A workspace or a branch that was deleted is made again first, from what was collected, also where no agent is to be started.

--json: ${changeForm}. ${severalForm}
${taskExitCodes("refused; nothing has changed")}`,
  },
});

export const attach = buildCommand({
  loader: async () => (await import("./commands/task/attach.ts")).attach,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ ...task, optional: true, brief: `${task.brief}; without one, the only task with a terminal` }],
    },
    flags: { role },
  },
  docs: {
    brief: "Show a task's agent in this terminal, and talk to it",
    fullDescription: `F12, or Ctrl-Q and then d, brings you back; the agent goes on. Inside of a tmux of your own it is shown in a pane of that. Where this is no terminal, the command that would have been run is printed.

Examples:
  signalbox task attach coffee#12
  signalbox task attach coffee/stronger-coffee --role reviewer

Exit codes: 0 ok, 1 there is no terminal here, or it cannot be shown, 2 wrong usage, 3 no such task or agent`,
  },
});

export const send = buildCommand({
  loader: async () => (await import("./commands/task/send.ts")).send,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        task,
        {
          parse: String,
          optional: true,
          placeholder: "TEXT|-",
          brief: "What it is told; - and nothing at all read it from stdin",
        },
      ],
    },
    flags: { role, wait: flag("Wait until it has arrived, or a person has to see to it"), json },
  },
  docs: {
    brief: "Tell a task's agent something",
    fullDescription: `It is delivered as soon as the agent listens: not while it is busy, and never into a dialog. Several messages arrive one after the other, each once. An agent that waits to be started is told once it is there; waitsFor says what it waits for.

Prints waiting, delivered, typed (its harness gives no sign that it arrived) or undelivered.

--json: { id, from, to, text, at, state, problem, waitsFor }
${taskExitCodes("refused, or with --wait: it did not arrive")}`,
  },
});

export const reply = buildCommand({
  loader: async () => (await import("./commands/task/reply.ts")).reply,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        task,
        {
          parse: String,
          optional: true,
          placeholder: "TEXT|-",
          brief: "Your answer; - and nothing at all read it from stdin",
        },
      ],
    },
    flags: { json },
  },
  docs: {
    brief: "Answer what a task's agent asks in a dialogue",
    fullDescription: `Where it asks you to confirm, yes ends the dialogue, and everything else goes back to the agent. What it asks is shown by signalbox task explain TASK. Where no agent asks in a dialogue it is refused, with the command that works there. To talk to an agent in a terminal, use signalbox task send TASK.

--json: ${changeForm}
${taskExitCodes("refused; nothing has changed")}`,
  },
});

export const peek = buildCommand({
  loader: async () => (await import("./commands/task/peek.ts")).peek,
  parameters: {
    positional: oneTask,
    flags: { role, lines: numberFlag("N", "Also so many lines from above the screen", 1, 10_000), color, json },
  },
  docs: {
    brief: "Show what a task's agent shows now",
    fullDescription: `What is on its screen; of an agent without a terminal, the end of what it has told: > what it was asked, · what it does, and what it says; with --json, the end of what it has printed. What a terminal would obey is taken out.

--json: ${screenForm}
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such task or agent`,
  },
});

export const logs = buildCommand({
  loader: async () => (await import("./commands/task/logs.ts")).logs,
  parameters: {
    positional: oneTask,
    flags: { role, follow: flag("Go on with what it prints from now on, until it ends"), raw, color },
  },
  docs: {
    brief: "Print everything that a task's agent has printed",
    fullDescription: `Of an agent in a terminal that is its screen with what was above it. With --follow a line of a screen is printed once it stands still. Of one without a terminal it is what it was asked (>), what it used (·), what it said and what went wrong (!), then what its program printed on its other channel. What a terminal would obey is taken out.

Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such task or agent`,
  },
});
