import { buildCommand } from "@stricli/core";
import { json } from "./parameters.ts";
import { changeForm, oneTask, taskExitCodes } from "./task-parameters.ts";

/** Commands that need no more than the name of a task. */
const parameters = { positional: oneTask, flags: { json } };

export const continueTask = buildCommand({
  loader: async () => (await import("./commands/task/continue.ts")).continueTask,
  parameters,
  docs: {
    brief: "End a person's wait, or try a held task again",
    fullDescription: `Where a state waits for a person, the task goes where its workflow says. Where a task is held, what did not succeed is started again.

--json: ${changeForm}
${taskExitCodes("refused; nothing has changed")}`,
  },
});

export const cancel = buildCommand({
  loader: async () => (await import("./commands/task/cancel.ts")).cancel,
  parameters,
  docs: {
    brief: "Ask for the state in which the task is cancelled",
    fullDescription: `--json: ${changeForm}
${taskExitCodes("refused; nothing has changed")}`,
  },
});

export const retry = buildCommand({
  loader: async () => (await import("./commands/task/retry.ts")).retry,
  parameters,
  docs: {
    brief: "Carry out again what failed",
    fullDescription: `What failed is shown by signalbox task show TASK

--json: { retried, task }
${taskExitCodes("refused; nothing has changed")}`,
  },
});
