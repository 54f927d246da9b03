import type { Call } from "../../../api/client.ts";
import { Refusal } from "../../../api/error.ts";
import { routes } from "../../../api/routes.ts";
import type { ChangeView } from "../../../api/task-wires.ts";
import { Fault } from "../../../fault.ts";
import { canAsk } from "../../ask.ts";
import { confirm } from "../../confirm.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { listed } from "../../count.ts";
import { branchAt } from "../../git-head.ts";
import { given } from "../../given.ts";
import { asReference, type NamedTask, nameTask } from "../../name-task.ts";
import { readInput } from "../../read-input.ts";
import { tellChange } from "../../tell-change.ts";
import { tellWritten } from "../../tell-written.ts";
import { writeJson } from "../../write-json.ts";
import { writeRefusal } from "../../write-refusal.ts";

export interface UpdateFlags {
  readonly status?: string;
  readonly summary?: string;
  /** Empty: the one that is checked out in its workspace, or here where it has none. */
  readonly branch?: string;
  readonly label?: readonly string[];
  readonly priority?: number;
  readonly harness?: string;
  readonly "review-harness"?: string;
  readonly model?: string;
  readonly "depends-on"?: readonly string[];
  readonly autostart?: boolean;
  readonly "no-autostart": boolean;
  readonly file?: string;
  readonly yes: boolean;
  readonly json: boolean;
}

/** First what the task is called and how it is made, then its file, then where it stands: each only if all before it went well. */
export async function update(this: Context, flags: UpdateFlags, reference = ".") {
  const set = readEdit(flags);
  const text = flags.file === undefined ? undefined : await readInput(this, flags.file);
  const { status: to } = flags;
  const changes = Object.keys(set);
  if (changes.length === 0 && text === undefined && to === undefined) {
    throw new Fault("usage", "There is nothing to change.", {
      hint: "Ask for a state with --status, or see what else there is: signalbox task update --help",
    });
  }
  const call = createCall(this);
  const named = await nameTask(call, reference);
  const branch = flags.branch === "" ? { branch: await checkedOut(call, named) } : {};
  const edit = changes.length === 0 ? null : await call(routes.editTask, { ...named, body: { ...set, ...branch } });
  if (edit !== null && !flags.json) tellEdit(this, edit.kind === "ignored" ? [] : changes);
  if (!flags.json) await warnMissing(this, call, [flags.harness, flags["review-harness"]]);
  const document =
    text === undefined || to !== undefined ? null : await call(routes.putDocument, { ...named, body: { text } });
  if (document !== null && !flags.json) tellWritten(this, document);
  const asked = given({ to, document: text, unmerged: flags.yes || undefined });
  const move = to === undefined ? null : await askMove(this, call, named, { ...asked, to }, edit !== null);
  if (move === undefined) return;
  if (flags.json) return this.print(writeJson({ edit, document, move }));
  if (move !== null) tellChange(this, move);
}

function readEdit(flags: UpdateFlags) {
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
    dependsOn: flags["depends-on"]?.filter((each) => each !== "").map(asReference),
    autostart: flags.autostart === true ? true : flags["no-autostart"] ? false : undefined,
  });
}

/** In a task's workspace the daemon looks itself, wherever we are. */
async function checkedOut(call: Call, named: NamedTask): Promise<string> {
  const { task } = await call(routes.getTask, named);
  const branch = task.workspace === "" ? branchAt(process.cwd()) : "";
  if (branch !== undefined) return branch;
  throw new Fault("usage", "No branch is checked out in this folder.", { hint: "Name one: --branch NAME" });
}

function tellEdit({ say }: Context, changes: readonly string[]): void {
  if (changes.length === 0) say("The task is so already.");
  else say(`Changed: ${listed(changes.map((name) => names[name] ?? name))}.`);
}

/** A harness that is known is taken, installed or not. */
async function warnMissing({ say, talkPaint }: Context, call: Call, harnesses: readonly (string | undefined)[]) {
  for (const name of harnesses) {
    if (name === undefined) continue;
    const { harnesses: found } = await call(routes.listHarnesses, { query: { name } });
    for (const { title, found: isThere, hint } of found)
      if (!isThere) say(`${talkPaint.yellow("warning:")} ${title} is not installed. ${hint}`);
  }
}

const names: Readonly<Record<string, string>> = { reviewHarness: "review harness", dependsOn: "dependencies" };

/** Undefined where the person would rather not, after all. */
async function askMove(
  context: Context,
  call: Call,
  named: NamedTask,
  body: { to: string; document?: string; unmerged?: boolean },
  wasEdited: boolean,
): Promise<ChangeView | undefined> {
  try {
    return await call(routes.moveTask, { ...named, body });
  } catch (error) {
    const isUnmerged = error instanceof Refusal && error.reasons.some(({ code }) => code === "unmerged");
    if (isUnmerged && canAsk()) {
      const question = `${error.reasons[0]?.text} End it as ${body.to} without merging it?`;
      if (!(await confirm(context, question, false))) return undefined;
      return await call(routes.moveTask, { ...named, body: { ...body, unmerged: true } });
    }
    if (!(error instanceof Refusal) || !wasEdited) throw error;
    const { message, hint } = writeRefusal(error.reasons, "Nothing else has changed.");
    throw new Fault("refused", message, { hint, cause: error });
  }
}
