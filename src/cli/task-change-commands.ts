import { buildCommand } from "@stricli/core";
import { flag, json, listFlag, numberFlag, textFlag } from "./parameters.ts";
import { allowFullPermissions } from "./project-commands.ts";
import {
  changeForm,
  makeFlags,
  oneTask,
  project,
  severalForm,
  status,
  task,
  taskExitCodes,
  taskFlag,
  tasks,
  workflow,
} from "./task-parameters.ts";

export const create = buildCommand({
  loader: async () => (await import("./commands/task/create.ts")).create,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: String,
          optional: true,
          placeholder: "BRANCH",
          brief: "Its branch; one is made up where none is given",
        },
        { parse: String, optional: true, placeholder: "SUMMARY", brief: "What is to be done, in one line" },
      ],
    },
    flags: {
      project,
      summary: textFlag("TEXT", 'The same as SUMMARY; an empty one ("") lets its workflow ask what is wanted'),
      context: textFlag("TEXT|-", "What else has to be known; - reads it from stdin"),
      "context-file": textFlag("FILE", "The same, from a file"),
      workflow: workflow("Its workflow: a name, or a path to its file"),
      status: status("The state it begins in, where its workflow lets tasks begin there"),
      ...makeFlags,
      parent: taskFlag("TASK", "The task that it is a part of"),
      from: taskFlag("TASK", "Go on with the branch of this task, which is over"),
      base: textFlag("BRANCH", "The branch that its work starts from and goes into; otherwise the default one"),
      pr: numberFlag(
        "N",
        "Go on with this pull request: its branch, its title and its base",
        1,
        Number.MAX_SAFE_INTEGER,
      ),
      ticket: textFlag("TICKET", "Make it from this ticket: its title, text and priority, where they are not given"),
      "no-spawn": flag("Do not start it when there is room; a person does"),
      preset: textFlag("P", "A preset of its workflow"),
      set: listFlag("NAME=VALUE", "A setting of its workflow"),
      "allow-full-permissions": allowFullPermissions,
      json,
    },
  },
  docs: {
    brief: "Create a task",
    fullDescription: `A single argument with a space in it is the summary, a single word the branch. Where no summary is given, and no ticket, pull request or earlier task brings one along, you are asked for it; where this is no terminal, no task is made. With an empty one (--summary "") the task is unclear: it begins where its workflow asks what is wanted. What no flag says, the environment (SIGNALBOX_WORKFLOW, SIGNALBOX_HARNESS, SIGNALBOX_MODEL), the repository, the project and your configuration say, in this order.

Examples:
  signalbox task create "Make the coffee stronger"
  signalbox task create stronger-coffee "Make the coffee stronger" --label taste --priority 5
  git log -3 | signalbox task create "Explain these commits" --context -

Prints id, project#number, branch and status.

Its harnesses must be known, and able to do what its workflow needs; one that is not installed is only told. Where its agents need full permissions, and nobody has allowed them for the project yet, you are asked first; where this is no terminal, the task is held until somebody allows them.

--json: { task, workflow: { from, file }, warnings }. The task is as in signalbox task show
Exit codes: 0 ok, 1 refused, or you said no; there is no new task, 2 wrong usage, 3 no such project, task or workflow`,
  },
});

export const update = buildCommand({
  loader: async () => (await import("./commands/task/update.ts")).update,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ ...task, optional: true, brief: `${task.brief}, and what is meant where none is given` }],
    },
    flags: {
      status: status("Ask for this state"),
      summary: textFlag("TEXT", "What is to be done, in one line"),
      branch: {
        ...textFlag("B", "Its branch; without a value, the one that is checked out in its workspace, or here"),
        inferEmpty: true,
      },
      ...makeFlags,
      // Optional, because otherwise the library would want to have --no-autostart to itself.
      autostart: { kind: "boolean", optional: true, withNegated: false, brief: "Start it when there is room" },
      "no-autostart": flag("Do not start it by itself"),
      file: textFlag("FILE|-", "Hand the task file in; - reads it from stdin"),
      yes: flag("Do not ask whether work that is not merged is meant to end as done"),
      json,
    },
  },
  docs: {
    brief: "Change a task, and ask for a state",
    fullDescription: `Of several changes, those of its fields come first, then the task file, then the state; what would come after a refusal does not happen. With --status the task file counts only if the state is granted. --label and --depends-on replace all that was there; an empty value ("") leaves none. Where the task has a workspace, --branch changes what is checked out there: a branch that exists is checked out, unless something uncommitted is in the way; otherwise the present one gets the name.

Examples:
  signalbox task update --status agent-review
  signalbox task update coffee#12 --summary "Make the coffee stronger" --priority 5
  signalbox task update --branch

--json: { edit: ${changeForm}, document: { changed, ignored }, move: ${changeForm} }. What was not asked for is null.
${taskExitCodes("refused, with every reason and what to do about it")}`,
  },
});

export const edit = buildCommand({
  loader: async () => (await import("./commands/task/edit.ts")).edit,
  parameters: {
    positional: oneTask,
    flags: { file: textFlag("FILE|-", "Take this file instead of an editor; - reads it from stdin") },
  },
  docs: {
    brief: "Open a task file in your editor",
    fullDescription: `The editor is what VISUAL or EDITOR says, else vi. Where it fails, nothing changes, and what you wrote is kept. What the head of the file says about the task is not read; it is changed with signalbox task update

${taskExitCodes("the editor failed, or the file was refused; nothing has changed")}`,
  },
});

export const migrate = buildCommand({
  loader: async () => (await import("./commands/task/migrate.ts")).migrate,
  parameters: {
    positional: oneTask,
    flags: {
      workflow: workflow("Put it under this workflow, a name or a path, instead of its own"),
      to: status("Put it in this state; otherwise it stays where it is"),
      apply: flag("Do it; otherwise it is only shown"),
      json,
    },
  },
  docs: {
    brief: "Put a task under the present version of its workflow",
    fullDescription: `A task keeps the workflow as it was when the task was created. Shown is what is different now, and where the task can be put.

--json: { plan: { isSame, states, ways, prompts, targets, droppedSettings }, change: ${changeForm} }
${taskExitCodes("refused; nothing has changed")}`,
  },
});

export const deleteTask = buildCommand({
  loader: async () => (await import("./commands/task/delete.ts")).deleteTask,
  parameters: { positional: tasks, flags: { yes: flag("Do not ask"), json } },
  docs: {
    brief: "Forget a task that is over",
    fullDescription: `Its history is kept in a file, whose path is printed. On a terminal you are asked first; elsewhere --yes is needed.

--json: { kept, task }. ${severalForm}
${taskExitCodes("it is not over, or you said no")}`,
  },
});
