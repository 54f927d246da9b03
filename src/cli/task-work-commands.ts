import { buildCommand } from "@stricli/core";
import { flag, json } from "./parameters.ts";
import { oneTask, taskExitCodes } from "./task-parameters.ts";

/** Commands that show a task's work, or lead to it. */

const part = "{ files: [{ path, from, added, deleted }], text, isCut }";

export const diff = buildCommand({
  loader: async () => (await import("./commands/task/diff.ts")).diff,
  parameters: {
    positional: oneTask,
    flags: {
      stat: flag("Only say how many lines of each file have changed"),
      "name-only": flag("Only name the files that have changed"),
      committed: flag("Leave out what is not committed yet"),
      json,
    },
  },
  docs: {
    brief: "Show what a task has changed",
    fullDescription: `Compared with where its branch parted from the one that it goes into. What its workspace has uncommitted follows as a part of its own. Of a task that is over, what it brought in is shown. On a terminal your pager is used (PAGER, else less).

Examples:
  signalbox task diff coffee#12
  signalbox task diff coffee#12 --committed > coffee.patch

--json: { target, base, commit, committed: ${part}, uncommitted, workspace }. What is uncommitted has the same form, or is null
${taskExitCodes("failed")}`,
  },
});

export const path = buildCommand({
  loader: async () => (await import("./commands/task/path.ts")).path,
  parameters: { positional: oneTask },
  docs: {
    brief: "Print the folder that a task is worked on in",
    fullDescription: `Example:
  cd "$(signalbox task path coffee#12)"

${taskExitCodes("it has no workspace, or that is gone")}`,
  },
});

export const shell = buildCommand({
  loader: async () => (await import("./commands/task/shell.ts")).shell,
  parameters: { positional: oneTask },
  docs: {
    brief: "Open a shell in the folder that a task is worked on in",
    fullDescription: `The shell is what SHELL says, with SIGNALBOX_TASK set. In there signalbox shows you things, but takes no orders: whoever is in a workspace may be the agent.

${taskExitCodes("it has no workspace, or the shell cannot be started")}`,
  },
});

export const open = buildCommand({
  loader: async () => (await import("./commands/task/open.ts")).open,
  parameters: { positional: oneTask },
  docs: {
    brief: "Open the folder that a task is worked on in with your editor",
    fullDescription: `The editor is what VISUAL or EDITOR says. One with windows of its own, such as code, is not waited for.

${taskExitCodes("it has no workspace, or the editor failed")}`,
  },
});
