import { type BodyOf, type Call, Refusal, writeRefusal } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { ChangeView, TaskView } from "../../api/tasks.ts";
import type { Change, Migration } from "../../engine/migrate.ts";
import { Fault } from "../../fault.ts";
import { shellWord } from "../../shell-quote.ts";
import { canAsk, confirm, editText, readInput } from "../ask.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { tellChange } from "../fast/tell.ts";
import { asDependency, branchAt, type NamedTask, nameTask, shownTask, workflowReference } from "../find.ts";
import { forEach, tellWritten } from "../tell.ts";
import { count, given, listed, wrap, writeJson } from "../text.ts";
import { commentTask, moveTask } from "../unanswered-requests.ts";
import { command, type FlagsOf } from "./command.ts";
import {
  changeForm,
  choiceFlags,
  flag,
  json,
  listFlag,
  makeFlags,
  oneTask,
  optionalWord,
  readSettingFlag,
  severalForm,
  status,
  task,
  taskExitCodes,
  tasks,
  textFlag,
  workflow,
} from "./parameters.ts";

const updateFlags = {
  status: status("Ask for this state"),
  summary: textFlag("TEXT", "What should be done, in one line"),
  branch: {
    ...textFlag("B", "Its branch; without a value, the branch that is checked out in its workspace, or here"),
    inferEmpty: true,
  },
  ...makeFlags,
  ...choiceFlags,
  unset: listFlag("NAME", "A setting of the task that is taken back: the preset or the workflow decides again"),
  // Optional, because otherwise the library would define --no-autostart itself.
  autostart: { kind: "boolean", optional: true, withNegated: false, brief: "Start the task when there is room" },
  "no-autostart": flag("Do not start the task by itself"),
  file: textFlag("FILE|-", "Store this text as the task file; - reads it from stdin"),
  yes: flag("Do not ask for confirmation when a task with unmerged work ends as done"),
  json,
} as const;

type UpdateFlags = FlagsOf<typeof updateFlags>;

/** Changes the fields, then the task file, then the state: each step only if the steps before it succeeded. */
export const update = command({
  isForRuns: true,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ ...task, optional: true, brief: `${task.brief}, and the default` }],
    },
    flags: updateFlags,
  },
  docs: {
    brief: "Change a task, and ask for a state",
    fullDescription: `Fields change first, then the task file, then the state; a refusal stops the rest. With --status the task file is stored only if the state is granted. --label, --depends-on, --hand-down and --budget replace the existing values; an empty value ("") removes them all. A new preset or setting applies from now on: an agent at work keeps its model, and a wait that has begun stays as it is; settings of the task override its preset. If the task has a workspace, --branch changes what is checked out there: an existing branch is checked out, unless uncommitted changes are in the way; otherwise the current branch is renamed.

Examples:
  signalbox task update --status agent-review
  signalbox task update coffee#12 --summary "Make the coffee stronger" --priority 5
  signalbox task update coffee#12 --preset quick-fix --set auto_merge=true
  signalbox task update coffee#12 --unset auto_merge
  signalbox task update --branch

--json: { edit: ${changeForm}, document: { changed, ignored }, move: ${changeForm} }. Parts that you did not ask for are null.
${taskExitCodes("refused, with every reason and what to do about it")}`,
  },
  async func(flags, reference = ".") {
    const set = readEdit(flags);
    const text = flags.file === undefined ? undefined : await readInput(this, flags.file);
    const { status: to } = flags;
    const changes = Object.keys(set);
    if (changes.length === 0 && text === undefined && to === undefined) {
      throw new Fault("usage", "There is nothing to change.", {
        hint: "Ask for a state with --status, or see the other flags: signalbox task update --help",
      });
    }
    const call = createCall(this);
    const named = await nameTask(call, reference);
    const branch = flags.branch === "" ? { branch: await checkedOut(call, named) } : {};
    const edit = changes.length === 0 ? null : await call(routes.editTask, { ...named, body: { ...set, ...branch } });
    if (edit !== null && !flags.json) tellEdit(this, edit, edit.kind === "ignored" ? [] : changes);
    if (!flags.json) await warnMissing(this, call, [flags.harness, flags["review-harness"]]);
    const document =
      text === undefined || to !== undefined ? null : await call(routes.putDocument, { ...named, body: { text } });
    if (document !== null && !flags.json) tellWritten(this, document);
    const asked = given({ to, document: text, unmerged: flags.yes || undefined });
    const move = to === undefined ? null : await askMove(this, call, named, { ...asked, to }, edit !== null);
    if (move === undefined) return;
    if (flags.json) return this.print(writeJson({ edit, document, move }));
    if (move !== null) tellChange(this, move);
  },
});

function readEdit(flags: UpdateFlags): BodyOf<typeof routes.editTask> {
  if (flags.autostart === true && flags["no-autostart"]) {
    throw new Fault("usage", "--autostart and --no-autostart cannot both be given.", {
      hint: "Leave one of them out.",
    });
  }
  return given({
    summary: flags.summary,
    branch: flags.branch,
    harness: flags.harness,
    reviewHarness: flags["review-harness"],
    model: flags.model,
    labels: flags.label?.filter((label) => label !== ""),
    priority: flags.priority,
    dependsOn: flags["depends-on"]?.filter((each) => each !== "").map(asDependency),
    handDown: flags["hand-down"]?.filter((each) => each !== ""),
    budget: flags.budget,
    preset: flags.preset,
    settings: readSettings(flags),
    autostart: flags.autostart === true ? true : flags["no-autostart"] ? false : undefined,
  });
}

/** Undefined where no setting is named. The API takes a setting back for null. */
function readSettings({ set = [], unset = [] }: Pick<UpdateFlags, "set" | "unset">) {
  const given = set.map(readSettingFlag);
  const twice = unset.find((name) => given.some(([other]) => other === name));
  if (twice !== undefined)
    throw new Fault("usage", `--set and --unset both name "${twice}".`, { hint: "Leave one of them out." });
  const all = [...given, ...unset.map((name) => [name, null] as const)];
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

/** If the task has a workspace, the daemon reads its branch; an empty name asks it to. */
async function checkedOut(call: Call, named: NamedTask): Promise<string> {
  const { task } = await call(routes.getTask, named);
  const branch = task.workspace === "" ? branchAt(process.cwd()) : "";
  if (branch !== undefined) return branch;
  throw new Fault("usage", "No branch is checked out in this folder.", { hint: "Name one: --branch NAME" });
}

function tellEdit({ say }: Context, { task }: ChangeView, changes: readonly string[]): void {
  if (changes.length === 0) {
    say("Nothing to change: the task already has these values.");
    return;
  }
  say(`Changed: ${listed(changes.map((name) => names[name] ?? name))}.`);
  const isChosen = changes.includes("preset") || changes.includes("settings");
  if (!isChosen || task.phase !== "waiting" || !task.needsPerson) return;
  say(
    `The wait in ${task.status} has begun and stays: it counts for what comes after. signalbox task explain ${task.id}`,
  );
}

/** A known harness is accepted even if it is not installed, so this warns. */
async function warnMissing({ say, talkPaint }: Context, call: Call, harnesses: readonly (string | undefined)[]) {
  for (const name of harnesses) {
    if (name === undefined) continue;
    const { harnesses: found } = await call(routes.listHarnesses, { query: { name } });
    for (const { title, found: isThere, hint } of found)
      if (!isThere) say(`${talkPaint.yellow("warning:")} ${title} is not installed. ${hint}`);
  }
}

const names: Readonly<Record<string, string>> = {
  reviewHarness: "review harness",
  dependsOn: "dependencies",
  handDown: "handed-down sections",
};

/** Undefined if the person declines. */
async function askMove(
  context: Context,
  call: Call,
  named: NamedTask,
  body: BodyOf<typeof routes.moveTask>,
  wasEdited: boolean,
): Promise<ChangeView | undefined> {
  try {
    return await moveTask(call, named, body, context.sentAt);
  } catch (error) {
    const isUnmerged = error instanceof Refusal && error.reasons.some(({ code }) => code === "unmerged");
    if (isUnmerged && canAsk()) {
      const question = `${error.reasons[0]?.text} End it as ${body.to} without merging it?`;
      if (!(await confirm(context, question, false))) return undefined;
      return await moveTask(call, named, { ...body, unmerged: true });
    }
    if (!(error instanceof Refusal) || !wasEdited) throw error;
    const { message, hint } = writeRefusal(error.reasons, "Nothing else has changed.");
    throw new Fault("refused", message, { hint, cause: error });
  }
}

export const migrate = command({
  parameters: {
    positional: oneTask,
    flags: {
      workflow: workflow("Use this workflow, a name or a path, instead of the task's own"),
      to: status("Put the task in this state; otherwise it stays where it is"),
      apply: flag("Migrate the task; otherwise the changes are only shown"),
      json,
    },
  },
  docs: {
    brief: "Move a task to the current version of its workflow",
    fullDescription: `A task keeps the version of the workflow that it was created with. This shows what has changed since, and in which states the task can be put.

--json: { plan: { isSame, states, ways, prompts, targets, droppedSettings }, change: ${changeForm} }
${taskExitCodes("refused; nothing has changed")}`,
  },
  async func({ json, ...wanted }, reference) {
    const call = createCall(this);
    const { workflow, to, apply } = wanted;
    const body = given({ workflow: workflow && workflowReference(workflow), to, apply });
    const answer = await call(routes.migrateTask, { ...(await nameTask(call, reference)), body });
    if (json) return this.print(writeJson(answer));
    const plan = answer.plan as unknown as Migration;
    this.print(describePlan(plan, this.columns).join("\n"));
    if (answer.change !== null) return tellChange(this, answer.change);
    if (plan.isSame && to === undefined) return;
    const same = workflow === undefined ? "" : ` --workflow ${shellWord(workflow)}`;
    const target = to === undefined ? "" : ` --to ${shellWord(to)}`;
    this.say(`\nNothing has changed. To do it: signalbox task migrate ${shellWord(reference)}${same}${target} --apply`);
  },
});

function describePlan(plan: Migration, columns: number): readonly string[] {
  const { isSame, states, ways, prompts, targets, droppedSettings } = plan;
  const row = (title: string, values: readonly string[]) =>
    values.length === 0 ? [] : [`${title.padEnd(18)}${wrap(values.join(", "), columns - 18, " ".repeat(18))}`];
  const change = (title: string, { added, removed, changed }: Change) => [
    ...row(`${title} added`, added),
    ...row(`${title} removed`, removed),
    ...row(`${title} changed`, changed),
  ];
  const differences = [
    ...change("states", states),
    ...change("ways", ways),
    ...change("prompts", prompts),
    ...row("settings dropped", droppedSettings),
  ];
  return [
    ...(isSame ? ["The task already uses this version."] : differences),
    ...(isSame || differences.length > 0 ? [] : ["This version has the same states, ways and prompts."]),
    ...row("can be put in", targets),
  ];
}

export const edit = command({
  parameters: {
    positional: oneTask,
    flags: { file: textFlag("FILE|-", "Use this file instead of an editor; - reads it from stdin") },
  },
  docs: {
    brief: "Open a task file in your editor",
    fullDescription: `The editor is VISUAL or EDITOR, otherwise vi. If the editor fails, nothing changes, and your text is kept. The fields at the head of the file are ignored; to change them: signalbox task update

${taskExitCodes("the editor failed, or the file was refused; nothing has changed")}`,
  },
  async func({ file }, reference) {
    const call = createCall(this);
    const named = await nameTask(call, reference);
    if (file !== undefined) {
      const text = await readInput(this, file);
      return tellWritten(this, await call(routes.putDocument, { ...named, body: { text } }));
    }
    const { task } = await call(routes.getTask, named);
    const params = { task: task.id };
    const { text: before } = await call(routes.getDocument, { params });
    const draft = await editText(this, before, `${task.id}.md`, `signalbox task edit ${task.id} --file FILE`);
    if (draft.text === before) {
      draft.remove();
      return this.say(`The task file of ${shownTask(task)} is unchanged.`);
    }
    try {
      tellWritten(this, await call(routes.putDocument, { params, body: { text: draft.text } }));
    } catch (error) {
      this.say(`Your text is kept in ${draft.path}`);
      throw error;
    }
    draft.remove();
  },
});

export const comment = command({
  isForRuns: true,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [task, optionalWord("TEXT|-", "The comment; without it, or with -, it is read from stdin")],
    },
    flags: { json },
  },
  docs: {
    brief: "Add a comment to a task's history",
    fullDescription: `The comment is for the people who follow the task. It is in its history and nowhere else: no agent is told, and the task stays where it is. An agent may comment on its own task.

Examples:
  signalbox task comment . "The grinder has no tests, so I tried it by hand"
  signalbox task comment coffee#12 - < notes.md

--json: { task, at }
${taskExitCodes("refused; nothing has changed")}`,
  },
  async func({ json }, reference, words = "-") {
    const text = words === "-" ? await readInput(this, "-") : words;
    const call = createCall(this);
    const answer = await commentTask(call, await nameTask(call, reference), text);
    if (json) return this.print(writeJson(answer));
    this.say(`The comment is in the history of the task: signalbox task history ${answer.task}`);
  },
});

export const deleteTask = command({
  parameters: { positional: tasks, flags: { yes: flag("Do not ask"), json } },
  docs: {
    brief: "Delete a task that is over",
    fullDescription: `The parts of its plans, which must have ended, are deleted with it. Its history is kept in a file, whose path is printed. Commits that are not merged are kept too; the command that brings them back is printed. On a terminal you are asked first; elsewhere --yes is needed.

--json: { kept, left, unmerged, parts: [TASK], task }. ${severalForm}
${taskExitCodes("it is not over, or you said no")}`,
  },
  async func({ yes, json }, ...references) {
    const call = createCall(this);
    if (!yes) {
      const tasks: TaskView[] = [];
      for (const each of new Set(references)) tasks.push((await call(routes.getTask, await nameTask(call, each))).task);
      const names: string[] = [];
      for (const task of tasks) {
        const below = (await call(routes.listTasks, { query: { parent: task.id, limit: "500" } })).tasks;
        const parts = below.filter(({ part }) => part !== null).length;
        const and = parts === 0 ? "" : ` and its ${count(parts, "part")}`;
        names.push(`${shownTask(task)}${task.summary && ` "${task.summary}"`}${and}`);
      }
      if (!(await confirm(this, `Delete ${names.join(", ")}?`, false))) return;
    }
    await forEach(this, references, json, {
      act: async (_, call, reference) => {
        const { task } = await call(routes.getTask, await nameTask(call, reference));
        const forgotten = await call(routes.deleteTask, { params: { task: task.id } });
        return { ...forgotten, task: shownTask(task) };
      },
      tell: (own, { kept, left, unmerged, parts, task }) => {
        if (unmerged !== "") own.say(unmerged);
        for (const folder of left) own.say(`Its workspace could not be saved, so the folder is kept: ${folder}`);
        const and = parts.length === 0 ? " is" : ` and its ${count(parts.length, "part")} are`;
        own.say(`${task}${and} deleted. Its history is kept in:`);
        own.print(kept);
      },
    });
  },
});
