import { parse, stringify } from "yaml";
import type { Call } from "../../api/client.ts";
import type { PlanView } from "../../api/person.ts";
import { routes } from "../../api/routes.ts";
import { sharedFiles } from "../../engine/plan-order.ts";
import { Fault } from "../../fault.ts";
import { editText, handIn, readInput } from "../ask.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { tellChange } from "../fast/tell.ts";
import { nameTask } from "../find.ts";
import { writeTable } from "../tables.ts";
import { count, given, writeJson } from "../text.ts";
import { command } from "./command.ts";
import { flag, json, oneTask, taskExitCodes, textFlag } from "./parameters.ts";

export const plan = command({
  parameters: {
    positional: oneTask,
    flags: {
      edit: flag("Open it in your editor"),
      file: textFlag("FILE|-", "Replace it by this file, as YAML or JSON; - reads it from stdin"),
      approve: flag("Approve it, so that the work begins"),
      json,
    },
  },
  docs: {
    brief: "Show the plan of a task, change it and approve it",
    fullDescription: `The plan is a list of items: id, title, description, needs (ids of items that must be done first), files (paths or globs that it will change) and size (S, M or L). It can be changed while the task waits for you and no child has started, as team does with the setting plan_approval. It is checked like the architect's answer: a plan that could never be finished is refused, and nothing changes. With --approve, the plan is changed first if you give another.

Examples:
  signalbox task plan coffee#12
  signalbox task plan coffee#12 --edit --approve
  signalbox task plan coffee#12 --file plan.yml

--json: { task, items: [{ id, title, description, needs, files, size }], canChange, why }
${taskExitCodes("refused; nothing has changed")}`,
  },
  async func({ edit, file, approve, json }, reference) {
    if (edit && file !== undefined)
      throw new Fault("usage", "--edit and --file cannot both be given.", { hint: "Leave one of them out." });
    const call = createCall(this);
    const about = await nameTask(call, reference);
    const before = await call(routes.getPlan, about);
    const view = await changed(this, call, about, before, { edit, file });
    const { change } = approve ? await call(routes.approveTask, { ...about, body: {} }) : { change: null };
    if (json) return this.print(writeJson(view));
    if (view !== before) this.say(`The plan has ${count(view.items.length, "item")} now.`);
    if (change !== null) return tellChange(this, change);
    if (edit || file !== undefined || approve) return;
    showPlan(this, view);
    if (!view.canChange) return this.say(view.why);
    this.say(`To approve it: signalbox task plan ${view.task} --approve`);
    this.say(`To change it: signalbox task plan ${view.task} --edit`);
  },
});

type About = Awaited<ReturnType<typeof nameTask>>;

/** The plan after the person has changed it, in an editor or with a file. */
export async function changed(
  context: Context,
  call: Call,
  about: About,
  before: PlanView,
  { edit, file }: { readonly edit: boolean; readonly file: string | undefined },
): Promise<PlanView> {
  if (!edit && file === undefined) return before;
  if (!before.canChange)
    throw new Fault("plan.fixed", before.why, { hint: `See the task: signalbox task explain ${before.task}` });
  const text = stringify(before.items);
  const draft = edit ? await editText(context, text, `${before.task}-plan.yml`) : undefined;
  if (draft?.text === text) {
    draft.remove();
    context.say("The plan is unchanged.");
    return before;
  }
  const written = draft?.text ?? (await readInput(context, file ?? "-"));
  return handIn(context, given({ text: written, draft }), (words) =>
    call(routes.putPlan, { ...about, body: { items: readPlan(words) } }),
  );
}

/** A list, or the architect's whole answer with the list in its only field. */
function readPlan(text: string): unknown {
  try {
    const value: unknown = parse(text);
    const lists = typeof value === "object" && value !== null ? Object.values(value).filter(Array.isArray) : [];
    return Array.isArray(value) || lists.length !== 1 ? value : lists[0];
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new Fault("plan.unreadable", `The plan is not valid YAML: ${why}`, {
      hint: "Correct it. Nothing has changed.",
    });
  }
}

const maxWarnings = 5;

/** The plan as a table, and which items may be built at the same time although they change the same files. */
export function showPlan({ print, say, talkPaint, tableWidth }: Context, { items }: PlanView): void {
  if (items.length === 0) return;
  const columns = ["ID", "SIZE", "NEEDS", "FILES", "TITLE"].map((title) => ({ title, isText: title === "TITLE" }));
  const rows = items.map(({ id, size, needs, files, title }) => [
    ...[id, size, needs.join(" ") || "–", files.join(" ") || "–", title],
  ]);
  print(writeTable(columns, rows, tableWidth));
  const shared = sharedFiles(items);
  for (const { one, other, file } of shared.slice(0, maxWarnings))
    say(
      `${talkPaint.yellow("warning:")} ${one} and ${other} both name ${file}, and may be built at the same time. If that conflicts, let one need the other.`,
    );
  if (shared.length > maxWarnings) say(`… and ${shared.length - maxWarnings} more pairs of items that share a file.`);
}
