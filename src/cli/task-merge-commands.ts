import { buildCommand } from "@stricli/core";
import { flag, json, textFlag } from "./parameters.ts";
import { oneTask, taskExitCodes } from "./task-parameters.ts";

export const merge = buildCommand({
  loader: async () => (await import("./commands/task/merge.ts")).merge,
  parameters: {
    positional: oneTask,
    flags: {
      strategy: {
        ...{ kind: "enum", values: ["merge", "ff"], optional: true },
        brief: "merge: always a merge commit (the default); ff: never one",
      },
      local: flag("Merge here, also where the task has a pull request"),
      "dry-run": flag("Only say what would be merged"),
      undo: flag("Take back what the task brought in, with one commit more"),
      json,
    },
  },
  docs: {
    brief: "Merge a task's work into the default branch, and end the task",
    fullDescription: `One merge at a time for each branch; nothing is checked out for it. Your own checkout follows where your changes are not in the same files; otherwise the merge waits and goes on by itself. Where the project has a remote, the branch is pushed first. The task moves only after its work was seen in the branch.

--json: { state, reason, files, target, commit, before, after, commits, changed, dryRun, task }
${taskExitCodes("not merged, or not yet; the task stays where it is")}`,
  },
});

export const sync = buildCommand({
  loader: async () => (await import("./commands/task/sync.ts")).sync,
  parameters: {
    positional: oneTask,
    flags: { from: textFlag("BRANCH", "Another branch than the default one"), json },
  },
  docs: {
    brief: "Bring what is new in the default branch into a task's branch",
    fullDescription: `It is merged in the task's workspace. Where that conflicts, or where changes there are in the way, nothing is changed.

--json: { from, commit, commits, task }
${taskExitCodes("refused; nothing has changed")}`,
  },
});
