import { buildCommand } from "@stricli/core";
import { flag, json, textFlag } from "./parameters.ts";
import { changeForm, oneTask, pullRequestForm, severalForm, taskExitCodes, tasks } from "./task-parameters.ts";

/** Commands that need no more than the names of tasks. */
const parameters = { positional: tasks, flags: { json } };

export const continueTask = buildCommand({
  loader: async () => (await import("./commands/task/continue.ts")).continueTask,
  parameters,
  docs: {
    brief: "End a person's wait, or try a held task again",
    fullDescription: `Where a state waits for a person, the task goes where its workflow says. Where a task is held, what did not succeed is started again.

--json: ${changeForm}. ${severalForm}
${taskExitCodes("refused; nothing has changed")}`,
  },
});

export const cancel = buildCommand({
  loader: async () => (await import("./commands/task/cancel.ts")).cancel,
  parameters,
  docs: {
    brief: "Cancel tasks, and say what was salvaged",
    fullDescription: `A task goes to the state of its workflow in which it is cancelled. Its agents are ended, and its workspace is given back. What was not committed there is salvaged first: it says under which name, and how to get it back.

--json: { kind, from, task, why, salvaged: [{ ref, project, task, at, files, size, on, repositories, commit }], waiting: [{ name, command }], hasCommits }. ${severalForm}
${taskExitCodes("refused; nothing has changed")}`,
  },
});

export const retry = buildCommand({
  loader: async () => (await import("./commands/task/retry.ts")).retry,
  parameters,
  docs: {
    brief: "Carry out again what failed",
    fullDescription: `What failed is shown by signalbox task show TASK

--json: { retried, task }. ${severalForm}
${taskExitCodes("refused; nothing has changed")}`,
  },
});

export const createPr = buildCommand({
  loader: async () => (await import("./commands/task/create-pr.ts")).createPr,
  parameters: {
    positional: oneTask,
    flags: {
      title: textFlag("TEXT", "Its title; otherwise the task's summary"),
      body: textFlag("TEXT|-", "What it says in place of the summary; - reads it from stdin"),
      draft: flag("Open it as a draft"),
      json,
    },
  },
  docs: {
    brief: "Push a task's branch and open its pull request",
    fullDescription: `The task stays where it is. A task that has an open pull request keeps it: its branch is pushed, and the same address is printed. What is known about the task, such as the evidence that passed gates, follows what you say. Where the remote leads to no GitHub, the branch is pushed, and the pull request is only written down here. Without a remote it is refused.

Prints the address.

--json: ${pullRequestForm}
${taskExitCodes("refused, or the remote or the forge failed")}`,
  },
});
