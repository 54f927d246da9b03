import { parse, stringify } from "yaml";
import { type Call, Refusal } from "../../api/client.ts";
import type { PlanView } from "../../api/person.ts";
import { routes } from "../../api/routes.ts";
import { sharedFiles } from "../../engine/plan-order.ts";
import { Fault } from "../../fault.ts";
import { isJsonObject } from "../../json.ts";
import { shellWord } from "../../shell-quote.ts";
import { oneLine } from "../../text.ts";
import { askYes, canAsk, type Draft, editText, handIn, readInput } from "../ask.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { tellChange, writeFailure } from "../fast/tell.ts";
import { nameTask } from "../find.ts";
import { writeTable } from "../tables.ts";
import { count, given, wrap, writeJson } from "../text.ts";
import { command } from "./command.ts";
import { flag, json, oneTask, taskExitCodes, textFlag } from "./parameters.ts";

export const plan = command({
  parameters: {
    positional: oneTask,
    flags: {
      edit: flag("Open it in your editor"),
      file: textFlag("FILE|-", "Replace it by this file, as YAML or JSON; - reads it from stdin"),
      approve: flag("Approve it, so that the work begins"),
      fingerprint: textFlag("HASH", "Approve or replace only the plan with this fingerprint, the one that you read"),
      json,
    },
  },
  docs: {
    brief: "Show the plan of a task, change it and approve it",
    fullDescription: `The plan is a list of items: id, title, description, needs (ids of items that must be done first), files (paths or globs that it will change) and size (S, M or L). It can be changed while the task waits for you and no child has started, as team does with the setting plan_approval. It is checked like the architect's answer: a plan that could never be finished is refused, and nothing changes. With --approve, the plan is changed first if you give another.

Your approval is for the plan that you were shown last, here or in signalbox run; with --fingerprint, for the plan with this fingerprint. If somebody has changed the plan since, the approval or change is refused, and the plan is shown as it is now. A file that was written with --json replaces only the plan that it was made from.

Examples:
  signalbox task plan coffee#12
  signalbox task plan coffee#12 --edit --approve
  signalbox task plan coffee#12 --file plan.yml

--json: { task, items: [{ id, title, description, needs, files, size }], fingerprint, canChange, why }
${taskExitCodes("refused; nothing has changed")}`,
  },
  async func({ edit, file, approve, fingerprint, json }, reference) {
    if (edit && file !== undefined)
      throw new Fault("usage", "--edit and --file cannot both be given.", { hint: "Leave one of them out." });
    const call = createCall(this);
    const about = await nameTask(call, reference);
    const isShown = file === undefined && !approve;
    const before = await call(routes.getPlan, isShown ? shownTo(about) : about);
    const named = fingerprint ?? (edit ? before.fingerprint : undefined);
    const acting = async () => {
      const view = await editedAgain(this, call, about, { ...before, fingerprint: named }, { edit, file });
      const plan = view?.fingerprint ?? fingerprint;
      const change = approve ? (await call(routes.approveTask, { ...about, body: given({ plan }) })).change : null;
      return { view: view ?? before, change, isChanged: view !== undefined };
    };
    const { view, change, isChanged } = await acting().catch(async (error: unknown) => {
      if (json || !isOutdated(error)) throw error;
      // Refused with the plan as it is now, so that the next request can be about that.
      showPlan(this, await call(routes.getPlan, shownTo(about)));
      throw error;
    });
    if (json) return this.print(writeJson(view));
    if (isChanged) this.say(`The plan has ${count(view.items.length, "item")} now.`);
    if (change !== null) return tellChange(this, change);
    if (approve) return;
    if (!edit && file === undefined) {
      showPlan(this, view);
      if (!view.canChange) return this.say(view.why);
    }
    this.say(`To approve it: signalbox task plan ${view.task} --approve --fingerprint ${view.fingerprint}`);
    this.say(`To change it: signalbox task plan ${view.task} --edit`);
  },
});

type About = Awaited<ReturnType<typeof nameTask>>;

/** A look at the plan that is shown to the person, whose next approval is for this plan. */
function shownTo({ params, query }: About) {
  return { params, query: { ...query, shown: "true" as const } };
}

function isOutdated(error: unknown): boolean {
  return error instanceof Refusal && error.reasons.some(({ code }) => code === "moved-on");
}

/** The plan that a person edits. Without a fingerprint, the daemon compares with the plan that was shown last. */
type Basis = Omit<PlanView, "fingerprint"> & { readonly fingerprint: string | undefined };

interface Wish {
  readonly edit: boolean;
  readonly file: string | undefined;
}

/** Like `changed`. A refused text is opened in the editor again, if the person wants that. */
async function editedAgain(context: Context, call: Call, about: About, before: Basis, wish: Wish) {
  const kept: KeptDraft = { draft: undefined };
  for (;;) {
    try {
      return await changed(context, call, about, before, wish, kept);
    } catch (error) {
      const isRefused = error instanceof Refusal || (error instanceof Fault && error.code === "plan.unreadable");
      if (kept.draft === undefined || !isRefused) throw error;
      const { path } = kept.draft;
      const later = `To hand it in later: signalbox task plan ${before.task} --file ${shellWord(path)}`;
      if (isOutdated(error) || !canAsk()) {
        context.say(later);
        throw error;
      }
      context.say(writeFailure(context, error));
      if (await askYes("Edit it again?", true)) continue;
      context.say(later);
      throw new Fault("plan.refused", "The plan is as it was.");
    }
  }
}

/** The text of an edit that was refused: the next edit goes on with it. */
export interface KeptDraft {
  draft: Draft | undefined;
}

/** The plan after the person has changed it, in an editor or with a file; undefined if it is unchanged. */
export async function changed(
  context: Context,
  call: Call,
  about: About,
  before: Basis,
  { edit, file }: Wish,
  kept: KeptDraft,
): Promise<PlanView | undefined> {
  if (!edit && file === undefined) return undefined;
  if (!before.canChange)
    throw new Fault("plan.fixed", before.why, { hint: `See the task: signalbox task explain ${before.task}` });
  const original = stringify(before.items);
  const earlier = kept.draft;
  const useFile = `signalbox task plan ${before.task} --file FILE`;
  const draft = edit
    ? await editText(context, earlier?.text ?? original, `${before.task}-plan.yml`, useFile)
    : undefined;
  if (draft?.text === original || (draft !== undefined && isBlank(draft.text))) {
    for (const each of [draft, earlier]) each?.remove();
    kept.draft = undefined;
    context.say("The plan is unchanged.");
    return undefined;
  }
  const written = draft?.text ?? (await readInput(context, file ?? "-"));
  const saved = await handIn(context, given({ text: written, draft }), (words) => {
    const { items, fingerprint = before.fingerprint } = readPlan(words);
    return call(routes.putPlan, { ...about, body: given({ items, replaces: fingerprint }) });
  }).catch((error: unknown) => {
    earlier?.remove();
    kept.draft = draft;
    throw error;
  });
  earlier?.remove();
  kept.draft = undefined;
  return saved;
}

/** Whether a text has nothing but comments: the person has emptied it to give up. */
function isBlank(text: string): boolean {
  return text.split("\n").every((line) => /^\s*(?:#.*)?$/.test(line));
}

/**
 * A list; or an object with the list in its only field that has one, such as the architect's answer, or the output of
 * `task plan --json`, whose fingerprint says which plan it replaces.
 */
function readPlan(text: string): { readonly items: unknown; readonly fingerprint?: string } {
  try {
    const value: unknown = parse(text);
    if (!isJsonObject(value)) return { items: value };
    const lists = Object.values(value).filter(Array.isArray);
    const { fingerprint } = value;
    return {
      items: lists.length === 1 ? lists[0] : value,
      ...(typeof fingerprint === "string" ? { fingerprint } : {}),
    };
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new Fault("plan.unreadable", `The plan is not valid YAML: ${why}`, {
      hint: "Correct it. Nothing has changed.",
    });
  }
}

const maxWarnings = 5;

/**
 * The plan as a table, with each description below its item, and which items may be built at the same time although they
 * change the same files. Descriptions of more than `maxLines` lines are cut.
 */
export function showPlan(
  { print, say, paint, talkPaint, tableWidth }: Pick<Context, "print" | "say" | "paint" | "talkPaint" | "tableWidth">,
  { task, items }: PlanView,
  maxLines = Number.POSITIVE_INFINITY,
): void {
  if (items.length === 0) return;
  const columns = ["ID", "SIZE", "NEEDS", "FILES", "TITLE"].map((title) => ({ title, isText: title === "TITLE" }));
  const rows = items.map(({ id, size, needs, files, title }) => [
    ...[id, size, needs.join(" ") || "–", files.join(" ") || "–", title].map((cell) => oneLine(cell)),
  ]);
  const about = items.map(({ description }) => descriptionLines(description, tableWidth));
  const isCut = about.some((lines) => lines.length > maxLines);
  print(
    writeTable(columns, rows, tableWidth, (row) => {
      const lines = about[row] ?? [];
      const shown = lines.length > maxLines ? [...lines.slice(0, maxLines - 1), `${indent}…`] : lines;
      return shown.map((line) => paint.dim(line));
    }),
  );
  if (isCut) say(`Long descriptions are cut. To see all of them: signalbox task plan ${task}`);
  const shared = sharedFiles(items);
  for (const { one, other, file } of shared.slice(0, maxWarnings))
    say(
      `${talkPaint.yellow("warning:")} ${one} and ${other} both name ${file}, and may be built at the same time. If that conflicts, let one need the other.`,
    );
  if (shared.length > maxWarnings) say(`… and ${shared.length - maxWarnings} more pairs of items that share a file.`);
}

const indent = "    ";

/** A description in lines that fit below the item's row; long words are broken. */
function descriptionLines(description: string, width: number): readonly string[] {
  const text = description.trim();
  if (text === "") return [];
  const room = Math.max(1, width - indent.length);
  // What an agent wrote must not look like a row of the table.
  const lines = text.split(/[\r\n\u2028\u2029]+/).flatMap((each) => {
    const line = oneLine(each);
    return width === Number.POSITIVE_INFINITY ? [line] : wrap(line, room).split("\n");
  });
  return lines.map((line) => indent + line);
}
