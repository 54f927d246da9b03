import { buildCommand } from "@stricli/core";
import { flag, json, textFlag } from "./parameters.ts";
import { severalForm, taskExitCodes, tasks } from "./task-parameters.ts";

const noGiveBack = flag("Where it conflicts, leave the task where it is, and tell no agent");

export const merge = buildCommand({
  loader: async () => (await import("./commands/task/merge.ts")).merge,
  parameters: {
    positional: tasks,
    flags: {
      strategy: {
        ...{ kind: "enum", values: ["merge", "ff"], optional: true },
        brief: "merge: always a merge commit (the default); ff: never one",
      },
      local: flag("Merge here, also where the task has a pull request"),
      "dry-run": flag("Only say what would be merged"),
      "no-give-back": noGiveBack,
      undo: flag("Take back what the task brought in, with one commit more"),
      json,
    },
  },
  docs: {
    brief: "Merge a task's work into the default branch, and end the task",
    fullDescription: `One merge at a time for each branch; nothing is checked out for it. Your own checkout follows where your changes are not in the same files; otherwise the merge waits and goes on by itself. Where the project has a remote, the branch is pushed first. The task moves only after its work was seen in the branch. Where it conflicts, the task goes back to its agent, with what there is to resolve under ## Feedback in the task file, if a person has one way to send it there.

--json: { state, reason, files, target, commit, before, after, givenBack: { to, run, how }, commits, changed, dryRun, untested, warnings, task }. ${severalForm}
${taskExitCodes("not merged, or not yet")}`,
  },
});

export const sync = buildCommand({
  loader: async () => (await import("./commands/task/sync.ts")).sync,
  parameters: {
    positional: tasks,
    flags: { from: textFlag("BRANCH", "Another branch than the default one"), "no-give-back": noGiveBack, json },
  },
  docs: {
    brief: "Bring what is new in the default branch into a task's branch",
    fullDescription: `It is merged in the task's workspace. Where changes there are in the way, nothing is changed. Where it conflicts, the branch stays where it is, and the task's agent gets it to resolve: what there is to do stands under ## Feedback in the task file; a live agent is told, a dead one is started.

--json: { from, commit, commits, files, givenBack: { to, run, how }, task }. ${severalForm}
${taskExitCodes("refused, or it conflicts")}`,
  },
});
