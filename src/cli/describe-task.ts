import type { RunView } from "../api/agents.ts";
import type { routes } from "../api/routes.ts";
import type { ChildrenView, ExplanationView, PullRequestView, TaskView } from "../api/tasks.ts";
import type { TypeOf } from "../api/wire.ts";
import { parseTaskDocument } from "../documents/task-document.ts";
import { writeAccount } from "../engine/budget.ts";
import type { Context } from "./context.ts";
import { type Paint, visible } from "./fast/tell.ts";
import { shownTask } from "./find.ts";
import { describeCounts, writeParts } from "./parts.ts";
import { count, cut, listed, wrapMessage, writeAge, writeCost, writeDuration, writeTime } from "./text.ts";

/** Where a task is, what blocks it, who can move it, and what happens by itself. */
export function describeExplanation(
  { task, where, blocked, moves, next, owed, promises, warnings }: ExplanationView,
  { paint, columns }: Pick<Context, "paint" | "columns">,
): string {
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ["", paint.bold(title), ...lines];
  const indented = (text: string, by = 2) => `${" ".repeat(by)}${wrapMessage(text, columns - by, " ".repeat(by))}`;
  const head = shownTask(task).length + task.status.length + 3;
  const open = moves.filter((move) => move.open);
  const closed = moves.filter((move) => !move.open);
  return [
    `${paint.bold(shownTask(task))} ${paint.cyan(task.status)}${task.summary === "" ? "" : `  ${cut(task.summary.replace(/\s+/g, " "), columns - head)}`}`,
    wrapMessage(where, columns),
    ...evidenceOf(task).map((line) => wrapMessage(line, columns)),
    ...section(
      "What blocks it",
      blocked.flatMap(({ reason, fix }) => [
        indented(reason),
        ...fix
          .split("\n")
          .flatMap((each) => (each === "" ? [] : [withCommand.test(each) ? `    ${each}` : indented(each, 4)])),
      ]),
    ),
    ...section("Its parts", openParts(task, { paint, columns })),
    ...section(
      "Moves that can be asked for now",
      open.flatMap(({ to, by, command }) => [
        `  → ${paint.cyan(to)} by ${whoOf(by)}`,
        ...(command === "" ? [] : [`    ${command}`]),
      ]),
    ),
    ...section(
      "Moves that can be asked for later",
      closed.flatMap(({ to, by, missing }) => [
        `  → ${paint.cyan(to)} by ${whoOf(by)}`,
        ...missing.map((each) => indented(each, 4)),
      ]),
    ),
    ...section(
      "What happens by itself",
      next.map(({ what, at }) => indented(at === null ? what : `${what} (${writeTime(at)})`)),
    ),
    ...section(
      "What its workflow promises",
      promises.flatMap(({ promise, state, evidence }) => [
        `  ${state === "kept" ? paint.green("kept") : paint.yellow("open")}  ${promise}`,
        indented(evidence, 8),
      ]),
    ),
    ...section(
      "What to expect",
      warnings.map((warning) => indented(warning)),
    ),
    ...section("Owed", writeEffects(owed.map(unlessTold(blocked)), paint, columns)),
  ].join("\n");
}

/** Of a failure that already stands above with what to do, the first line is enough. */
function unlessTold(blocked: ExplanationView["blocked"]) {
  return (effect: EffectView): EffectView => {
    const { failure } = effect;
    const isTold = failure !== null && blocked.some(({ reason }) => reason === failure);
    return isTold ? { ...effect, failure: failure.split("\n")[0] ?? "" } : effect;
  };
}

/** Lines with commands are not wrapped, so that they can be copied. */
const withCommand = /(signalbox|git) \S/;

function whoOf(by: readonly string[]): string {
  return by.length === 0 ? "anyone" : listed(by, "or");
}

type EffectView = ExplanationView["owed"][number];
type DocumentView = TypeOf<typeof routes.getDocument.answer>;

/** A line for each run of a task: how it stands, how long it took, what it cost, and what it said or why it failed. */
export function describeRuns(runs: readonly RunView[], { paint, columns }: Pick<Context, "paint" | "columns">) {
  if (runs.length === 0) return [];
  const lines = runs.slice(-maxRuns).map(({ key, agent, status, duration, usage, report, error }) => {
    const cost = usage.cost === null ? [] : [writeCost(usage.cost)];
    const said = visible(report || error).replace(/\s+/g, " ");
    const head = `  ${[agent === "" ? key : `${key} by ${agent}`, status, writeDuration(duration), ...cost].join("  ")}`;
    return cut(said === "" ? head : `${head}  ${said}`, columns);
  });
  const left = runs.length - lines.length;
  return ["", paint.bold(left > 0 ? `Runs (the last ${lines.length} of ${runs.length})` : "Runs"), ...lines];
}

/** A task that was sent back often has many; `signalbox agent ps --all` lists them all. */
const maxRuns = 20;

/** Describes a task for people. Unset fields are left out. */
export function describeTask(
  {
    task,
    effects,
    pullRequest,
    continues = "",
    openFindings = [],
    preset = "",
    settings = [],
  }: Omit<TypeOf<typeof routes.getTask.answer>, "entry" | "states">,
  document: DocumentView,
  { paint, columns }: Pick<Context, "paint" | "columns">,
  now: number,
): string {
  const choices = [
    ["preset", preset],
    ["settings", settings.map(settingText).join(", ")],
  ] as const;
  const rows = [...rowsOf(task, pullRequest, continues, openFindings, now), ...choices].filter(
    ([, value]) => value !== "",
  );
  const width = Math.max(...rows.map(([title]) => title.length)) + 4;
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ["", paint.bold(title), ...lines];
  return [
    `${paint.bold(shownTask(task))}  ${task.summary === "" ? paint.dim("(no summary)") : task.summary}`,
    ...rows.map(
      ([title, value]) => `  ${title.padEnd(width - 2)}${wrapMessage(value, columns - width, " ".repeat(width))}`,
    ),
    ...section(paint.yellow("Held for a person"), heldLines(task, columns)),
    ...section(paint.yellow("Waits for a larger budget"), budgetLines(task, columns)),
    ...section("Parts", task.children === null ? [] : writeParts(task.children.parts, { paint, columns })),
    ...section("Owed", writeEffects(effects, paint, columns)),
    ...section("Sections of the task file", sectionLines(document)),
  ].join("\n");
}

type SettingView = NonNullable<TypeOf<typeof routes.getTask.answer>["settings"]>[number];

/** `auto_merge=true (of the task)`; a value of the workflow's own is not marked. */
function settingText({ name, value, from }: SettingView): string {
  const whose = from === "workflow" ? "" : ` (of the ${from})`;
  return `${name}=${typeof value === "object" ? JSON.stringify(value) : String(value)}${whose}`;
}

/** The effects that a task owes, or that failed. */
function writeEffects(effects: readonly EffectView[], paint: Paint, columns: number): readonly string[] {
  return effects
    .filter(({ state }) => state === "owed" || state === "failed")
    .map(({ action, state, tries, dueAt, failure }) => {
      const tried = tries === 0 ? "" : `, tried ${count(tries, "time")}`;
      const when = state === "owed" ? ` since ${writeTime(dueAt)}` : "";
      const why = failure === null ? "" : `: ${failure}`;
      const line = wrapMessage(`${action} ${state}${when}${tried}${why}`, columns - 4, "    ");
      return `  ${state === "failed" ? paint.red(line) : line}`;
    });
}

function rowsOf(
  task: TaskView,
  pullRequest: PullRequestView | null,
  continues: string,
  openFindings: readonly string[],
  now: number,
): readonly (readonly [string, string])[] {
  const { priority, autostart, crashCount, previousStatus, outcome } = task;
  const counters = Object.entries(task.counters).map(([name, value]) => `${name} ${value}`);
  return [
    ["id", task.id],
    ["status", statusText(task)],
    ["ended", outcome === null ? "" : outcome],
    ["because", task.reason],
    ["came from", previousStatus],
    ["continues", continues === "" ? "" : `${continues}, from its commits`],
    ["branch", task.branch],
    ["workflow", `${task.workflow} (${task.workflowHash.slice(0, 12)})`],
    [
      "harness",
      [task.harness, ...(task.reviewHarness === "" ? [] : [`reviews with ${task.reviewHarness}`])].join(", "),
    ],
    ["model", task.model],
    ["session", task.session === "none" ? "" : task.session],
    ["runs", task.runs.map(({ key, mode }) => `${key} (${mode})`).join(", ")],
    ["workspace", task.workspace],
    [
      "see the work",
      task.workspace === ""
        ? ""
        : `signalbox task diff ${task.id}, or in your repository: signalbox task fetch ${task.id}`,
    ],
    ["pull request", pullRequest === null ? task.prUrl : pullRequestText(pullRequest)],
    ["description", pullRequest?.url === "" ? `signalbox task documents ${task.id} --pull-request` : ""],
    ["verdict for", task.judged === null ? "" : `${task.judged.commit.slice(0, 10)} (${task.judged.role})`],
    ["tests", task.tested === null ? "" : testsText(task.tested)],
    ["open findings", openFindings.join("; ")],
    ["ticket", task.ticket],
    ["protected", task.protectedChanges.join("; ")],
    ["parent", task.parent],
    ["part", task.part === null ? "" : partText(task.part)],
    ["parts", task.children === null ? "" : childrenText(task.children)],
    ["checkpoint", checkpointText(task)],
    ["depends on", listed(task.dependsOn)],
    ["gets from these", listed(task.handDown.map((name) => `## ${name}`))],
    ["budget", task.budgets.map((budget) => budgetText(task, budget)).join("; ")],
    ["labels", task.labels.join(", ")],
    ["priority", priority === 0 ? "" : String(priority)],
    ["autostart", autostart ? "" : "no: a person starts it"],
    ["counters", counters.join(", ")],
    ["failures", crashCount === 0 ? "" : `${crashCount} in a row`],
    ["created", `${writeTime(task.createdAt)} (${writeAge(task.createdAt, now)} ago)`],
    [
      "changed",
      task.updatedAt === task.createdAt ? "" : `${writeTime(task.updatedAt)} (${writeAge(task.updatedAt, now)} ago)`,
    ],
  ];
}

/** Which commits the last verdict and the last tests of a task are for, a sentence each. */
export function evidenceOf({ judged, tested }: Pick<TaskView, "judged" | "tested">): readonly string[] {
  return [
    ...(judged?.commit === undefined
      ? []
      : [`The last verdict, by ${judged.role}, is for ${judged.commit.slice(0, 10)}.`]),
    ...(tested?.commit === undefined ? [] : [`Tests ${testsText(tested)}.`]),
  ];
}

/** `passed on 1a2b3c4d5e` */
function testsText({ commit, word }: NonNullable<TaskView["tested"]>): string {
  const at = commit.slice(0, 10);
  if (word === "untested") return `none ran on ${at}: no test command was found`;
  return word === "ok" ? `passed on ${at}` : `failed on ${at}`;
}

/** `$4.20 of $5.00 spent, $0.50 reserved, $0.30 left (of coffee#1 and its children)` */
function budgetText(task: TaskView, budget: TaskView["budgets"][number]): string {
  const whose = budget.of === shownTask(task) ? "" : ` (of ${budget.of} and its children)`;
  return `${writeAccount(budget)}${whose}`;
}

/** `https://github.com/acme/coffee/pull/7 (open, approved, checks passing)` */
function pullRequestText({ url, number, state, isDraft, review, checks }: PullRequestView): string {
  const said = [
    isDraft && state === "open" ? "draft" : state,
    ...(review === "none" ? [] : [reviewTexts[review]]),
    ...(checks === "none" ? [] : [`checks ${checks}`]),
  ];
  return `${url === "" ? localPullRequest(number) : url} (${said.join(", ")})`;
}

/** A pull request that only Signalbox has, because the repository has no forge to open it on. */
export function localPullRequest(number: number): string {
  return `none on a forge; Signalbox keeps its description as number ${number}`;
}

const reviewTexts = {
  approved: "approved",
  "changes-requested": "changes requested",
  required: "approval required",
} as const;

function statusText({ status, phase, undone }: TaskView): string {
  if (undone) return `${status} (its merge was undone)`;
  const doing = { entering: "its hooks are owed", waiting: "waiting", doing: "at work", over: "over" }[phase];
  return `${status} (${doing})`;
}

function heldLines(task: TaskView, columns: number): readonly string[] {
  if (task.held === null) return [];
  return [
    `  ${wrapMessage(task.held.reason, columns - 2, "  ")}`,
    `  To try again: signalbox task continue ${task.id}`,
  ];
}

/** Why a budget holds the task's agents up, with the command that helps. */
function budgetLines({ needs, held, waiting, budgets }: TaskView, columns: number): readonly string[] {
  const own = held === null ? needs.filter(({ reason }) => reason === "budget") : [];
  const lines = own.flatMap(({ brief, command }) => [`  ${wrapMessage(brief, columns - 2, "  ")}`, `    ${command}`]);
  const isParents = lines.length === 0 && budgets.length > 0 && waiting.startsWith("The budget of ");
  return isParents ? [`  ${wrapMessage(waiting, columns - 2, "  ")}`] : lines;
}

function sectionLines({ text, authors }: DocumentView): readonly string[] {
  return [...parseTaskDocument(text).byHeading.keys()].map((heading) => {
    const author = Object.hasOwn(authors, heading) ? authors[heading] : undefined;
    if (author === undefined) return `  ## ${heading}`;
    const commit = author.commit === "" ? "" : ` at ${author.commit.slice(0, 8)}`;
    return `  ## ${heading} by ${author.run || author.role}${commit}`;
  });
}

/** What each task needs a person for, since when, and the command, which is never wrapped. */
export function writeNeeds(
  tasks: readonly TaskView[],
  { paint, columns }: Pick<Context, "paint" | "columns">,
  now: number,
): string {
  return tasks.map((task) => entry(task)).join("\n\n");

  function entry(task: TaskView): string {
    const summary = task.summary.replace(/\s+/g, " ");
    const head = `${paint.bold(shownTask(task))}  ${paint.cyan(task.status)}${summary === "" ? "" : `  ${visible(summary)}`}`;
    const needs = task.needs.flatMap(({ brief, command, since }) => [
      `  ${wrapMessage(visible(`${brief} (${writeAge(since, now)})`), columns - 2, "  ")}`,
      ...(command === "" ? [] : [`    ${paint.cyan(command)}`]),
    ]);
    return [head, ...needs].join("\n");
  }
}

/** The state of the least advanced part, while there is one at work. */
function checkpointText({ children }: TaskView): string {
  if (children === null || children.running === 0) return "";
  return `${children.checkpoint}, where the least advanced part is`;
}

function partText({ item, slot, ...part }: NonNullable<TaskView["part"]>): string {
  const again = part.try === 1 ? "" : `, try ${part.try}`;
  return `${item}${again}${slot === null ? "" : `, in slot ${slot}`}`;
}

function childrenText(children: ChildrenView): string {
  if (children.parts.length === 0) return "";
  return describeCounts(children);
}

/** The parts that are not over, at most this many where the command is about something else. */
const maxParts = 12;

/** The parts of a task that has not ended, and what each waits for. */
function openParts(
  { children, id }: TaskView,
  { paint, columns }: Pick<Context, "paint" | "columns">,
): readonly string[] {
  const open = children?.parts.filter(({ state }) => state === "running" || state === "waiting") ?? [];
  const needed = open.toSorted((a, b) => Number(b.needsPerson) - Number(a.needsPerson));
  const more = open.length - maxParts;
  return [
    ...writeParts(needed, { paint, columns }, maxParts),
    ...(more > 0 ? [`  … and ${more} more: signalbox task show ${id}`] : []),
  ];
}
