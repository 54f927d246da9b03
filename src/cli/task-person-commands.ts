import { buildCommand } from "@stricli/core";
import { json, textFlag } from "./parameters.ts";
import { changeForm, severalForm, status, task, taskExitCodes, tasks } from "./task-parameters.ts";

/** What a person says about a task's work. */

const saidForm = `{ change: ${changeForm}, section, told: { run, how } }`;

const words = (brief: string) => ({ parse: String, optional: true, placeholder: "TEXT|-", brief }) as const;

const nowhere = "without it, and on a terminal, your editor is opened; elsewhere it is read from stdin";

const aliases = { m: "message" } as const;

export const answer = buildCommand({
  loader: async () => (await import("./commands/task/answer.ts")).answer,
  parameters: {
    positional: { kind: "tuple", parameters: [task, words(`Your answer; - reads it from stdin; ${nowhere}`)] },
    flags: {
      message: textFlag("TEXT|-", "The same, as a flag"),
      status: status("Go to this state; needed only where nobody asks, or several agents could go on"),
      json,
    },
    aliases,
  },
  docs: {
    brief: "Answer what a task's agent wants to know, and let it go on",
    fullDescription: `Your answer is written below the earlier ones under ## Answers in the task file, and the task goes where its workflow says. An agent that is alive is told to read it; otherwise one is started. If anything is against it, nothing at all happens. Where no agent has questions, and the state asks for none, an answer is refused: words are no yes. What you are asked is shown by signalbox task explain TASK

Examples:
  signalbox task answer coffee#12 -m "Arabica, and no sugar"
  signalbox task answer coffee#12 - < answers.md

--json: ${saidForm}
${taskExitCodes("refused; nothing has changed")}`,
  },
});

export const requestChanges = buildCommand({
  loader: async () => (await import("./commands/task/request-changes.ts")).requestChanges,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [task, words(`What is to be different; - reads it from stdin; ${nowhere}`)],
    },
    flags: {
      message: textFlag("TEXT|-", "The same, as a flag"),
      status: status("Send it to this state; needed where a person can send it to several"),
      json,
    },
    aliases,
  },
  docs: {
    brief: "Say what is to be different, and send a task back to its agent",
    fullDescription: `It is written below what was said earlier under ## Feedback in the task file, and the task goes to the state in which an agent works on it again. That agent is told, or started. If anything is against it, nothing at all happens.

Examples:
  signalbox task request-changes coffee#12 -m "The cup is too small"
  signalbox task request-changes coffee#12 - < review.md

--json: ${saidForm}
${taskExitCodes("refused; nothing has changed")}`,
  },
});

export const approve = buildCommand({
  loader: async () => (await import("./commands/task/approve.ts")).approve,
  parameters: {
    positional: tasks,
    flags: {
      commit: textFlag("SHA", "Only if the work is still at this commit, the one that you have looked at"),
      json,
    },
  },
  docs: {
    brief: "Say yes to what you are asked about a task",
    fullDescription: `The task goes where its workflow says. Where that needs the work to be merged, it is merged first, as signalbox task merge does it, and only the commit that you approve: what is committed later is not. The commit is written into the task's history.

--json: { commit, change: ${changeForm}, merge }. The change or the merge is null; a merge is as in signalbox task merge. ${severalForm}
${taskExitCodes("refused, or not merged, or not yet; the task stays where it is")}`,
  },
});
