import type { FindingsView } from "../../api/person.ts";
import { routes } from "../../api/routes.ts";
import { severities } from "../../engine/findings.ts";
import { Fault } from "../../fault.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { nameTask } from "../find.ts";
import { writeTable } from "../tables.ts";
import { count, given, listed, writeJson } from "../text.ts";
import { command } from "./command.ts";
import { flag, json, listFlag, numberFlag, task, taskExitCodes, textFlag } from "./parameters.ts";

export const findings = command({
  isForRuns: true,
  parameters: {
    positional: {
      kind: "array",
      parameter: {
        ...task,
        placeholder: "TASK [approve|dismiss ID | add]",
        brief: `${task.brief}. After it, to decide: approve or dismiss, and the ids of findings; to add one of your own: add`,
      },
      minimum: 1,
    },
    flags: {
      approve: listFlag("ID", "A finding that is to be fixed, as after the word approve"),
      dismiss: listFlag("ID", "A finding that is not a defect, as after the word dismiss"),
      message: textFlag(
        "TEXT",
        "Your note about the findings, which agents are shown; of a finding that you add, what is wrong",
      ),
      file: textFlag("F", "Of a finding that you add: the file that it is in"),
      line: numberFlag("N", "Of a finding that you add: its line", 1, 10_000_000),
      severity: textFlag("S", `Of a finding that you add: ${severities.join(", ")}; the default is medium`),
      all: flag("Also show findings that are fixed or dismissed"),
      json,
    },
    aliases: { m: "message" },
  },
  docs: {
    brief: "Show what reviews have found, approve or dismiss it, and add findings",
    fullDescription: `Reviewers report findings and say which are fixed; only a person approves them. Whether a task waits for that, and what follows from it, is in its workflow. A finding that you dismiss is not opened again, however a later review words it. All findings that you name are decided, or none. A finding that you add is approved with that; only a reviewer says that it is fixed.

Examples:
  signalbox task findings coffee#12
  signalbox task findings coffee#12 approve F1 F3
  signalbox task findings coffee#12 dismiss F2 -m "The cup is meant to be small"
  signalbox task findings coffee#12 add --file README.md --line 12 -m "Name the new flag"

--json: { task, round, quiet, said, findings: [{ id, state, severity, file, line, title, evidence, commit, round, by, reason, note }], parts: [{ task, item, round, open, found }] }
${taskExitCodes("refused; nothing has changed")}`,
  },
  async func({ message, all, json, file, line, severity, ...flags }, reference = "", ...words) {
    if (words[0] === "add") return addOne(this, reference, words, { file, line, severity, message, json }, flags);
    if (file !== undefined || line !== undefined || severity !== undefined)
      throw new Fault("usage", "--file, --line and --severity are of a finding that you add.", {
        hint: 'Add it: add --file src/app.ts -m "What is wrong"',
      });
    const { approve, dismiss } = decisionIn(words, flags);
    if (approve.length > 0 && dismiss.length > 0)
      throw new Fault("usage", "Findings cannot be approved and dismissed with one command.", {
        hint: "Decide with two commands.",
      });
    if (message !== undefined && approve.length + dismiss.length === 0)
      throw new Fault("usage", "--message is the reason of a decision, and nothing is decided.", {
        hint: "Name the findings that it is about, after the task: approve F1, or dismiss F1",
      });
    const call = createCall(this);
    const about = await nameTask(call, reference);
    const decided = approve.length > 0 ? approve : dismiss;
    const state = approve.length > 0 ? "approved" : "dismissed";
    const view =
      decided.length === 0
        ? await call(routes.listFindings, about)
        : await call(routes.decideFindings, { ...about, body: given({ findings: decided, state, reason: message }) });
    if (json) return this.print(writeJson(view));
    if (decided.length > 0) return this.say(`${state === "approved" ? "Approved" : "Dismissed"} ${listed(decided)}.`);
    show(this, view, all);
  },
});

interface Added {
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly severity: string | undefined;
  readonly message: string | undefined;
  readonly json: boolean;
}

async function addOne(
  context: Context,
  reference: string,
  words: readonly string[],
  { file, line, severity, message, json }: Added,
  { approve = [], dismiss = [] }: Decided,
): Promise<void> {
  if (words.length > 1)
    throw new Fault("usage", `After add, "${words[1]}" means nothing.`, { hint: 'Say what is wrong with -m "…"' });
  if (approve.length + dismiss.length > 0)
    throw new Fault("usage", "Findings cannot be added and decided with one command.", { hint: "Use two commands." });
  if (file === undefined)
    throw new Fault("usage", "The finding names no file.", { hint: "Name it: --file src/app.ts" });
  if (message === undefined)
    throw new Fault("usage", "The finding has no text.", { hint: 'Say what is wrong: -m "The lid leaks"' });
  const grade = severities.find((each) => each === severity);
  if (severity !== undefined && grade === undefined)
    throw new Fault("usage", `"${severity}" is no severity.`, { hint: `Say one of: ${severities.join(", ")}` });
  const call = createCall(context);
  const about = await nameTask(call, reference);
  const view = await call(routes.addFinding, { ...about, body: given({ file, text: message, line, severity: grade }) });
  if (json) return context.print(writeJson(view));
  const id = view.findings.at(-1)?.id;
  context.say(`Added ${id}. It is approved: an agent is to fix it, and a reviewer says whether it is fixed.`);
}

interface Decided {
  readonly approve?: readonly string[];
  readonly dismiss?: readonly string[];
}

/** The findings that are decided by the words after the task, and by the flags. */
function decisionIn([verb, ...ids]: readonly string[], { approve = [], dismiss = [] }: Decided): Required<Decided> {
  if (verb === undefined) return { approve, dismiss };
  if (verb !== "approve" && verb !== "dismiss")
    throw new Fault("usage", `"${verb}" is no decision about findings.`, { hint: "Say approve, dismiss or add." });
  if (ids.length === 0)
    throw new Fault("usage", `After ${verb}, the ids of findings are missing.`, {
      hint: `Name them: ${verb} F1 F3`,
    });
  return verb === "approve" ? { approve: [...approve, ...ids], dismiss } : { approve, dismiss: [...dismiss, ...ids] };
}

function show(context: Context, view: FindingsView, all: boolean): void {
  const { task, round, said, findings, parts } = view;
  if (findings.length > 0) showFindings(context, view, all);
  else if (round > 0) context.say(`The ${count(round, "review")} named no findings.`);
  else if (parts.length === 0) context.say("No review has reported findings yet.");
  if (findings.every(({ state }) => state !== "open") && said !== "") context.say(`The reviewer's last words: ${said}`);
  for (const part of parts) {
    const found = part.found === 0 ? "no findings" : `${count(part.found, "finding")}, ${part.open} open`;
    context.say(
      `Part "${part.item}": ${found} in ${count(part.round, "review")}: signalbox task findings ${part.task}`,
    );
  }
  if (parts.length > 0 && findings.length === 0 && round === 0) context.say(`Only parts of ${task} were reviewed.`);
}

function showFindings(context: Context, { task, findings }: FindingsView, all: boolean): void {
  const shown = all ? findings : findings.filter(({ state }) => state !== "fixed" && state !== "dismissed");
  const columns = [
    { title: "ID" },
    { title: "STATE" },
    { title: "SEVERITY" },
    { title: "WHERE" },
    { title: "FINDING", isText: true },
  ];
  const rows = shown.map(({ id, state, severity, file, line, title, evidence, reason, note, by }) => {
    const said = [note === "" ? "" : `your note: ${note}`, reason === "" ? "" : `${by}: ${reason}`];
    const text = [title, evidence, ...said.map((each) => each && `(${each})`)]
      .filter((each) => each !== "")
      .join(" – ");
    return [id, state, severity, line > 0 ? `${file}:${line}` : file, text.replace(/\s+/g, " ")];
  });
  if (rows.length > 0) context.print(writeTable(columns, rows, context.tableWidth));
  const hidden = findings.length - shown.length;
  const [open] = findings.filter(({ state }) => state === "open");
  if (open !== undefined) {
    const decide = `signalbox task findings ${task}`;
    context.say(
      `To have one fixed: ${decide} approve ${open.id}. If it is not a defect: ${decide} dismiss ${open.id} -m "Why"`,
    );
  }
  if (hidden > 0) context.say(`${count(hidden, "finding")} fixed or dismissed: signalbox task findings ${task} --all`);
}
