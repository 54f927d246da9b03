import type { RunView } from "../../api/agents.ts";
import type { Call } from "../../api/client.ts";
import { type ProjectView, routes } from "../../api/routes.ts";
import type { ActionView } from "../../api/tasks.ts";
import { parseTaskDocument } from "../../documents/task-document.ts";
import { didYouMean } from "../../engine/language/problem.ts";
import { Fault } from "../../fault.ts";
import { listWorkflows } from "../../home/workflows.ts";
import { shellWord } from "../../shell-quote.ts";
import { allRuns } from "../all-runs.ts";
import { createCall, fetchText } from "../connect.ts";
import type { Context } from "../context.ts";
import { writeEvent } from "../describe-event.ts";
import { describeExplanation, describeRuns, describeTask, evidenceOf, writeNeeds } from "../describe-task.ts";
import { nameTask, projectAt, projectNamed, shownTask } from "../find.ts";
import { loadSound } from "../findings.ts";
import { writeTable } from "../tables.ts";
import { hiddenIn, marksIn, writeTasks } from "../task-table.ts";
import { cut, defaultListLimit, wrapMessage, writeJson } from "../text.ts";
import { watchWork } from "../watch/live.ts";
import { command, type FlagsOf } from "./command.ts";
import { allEvents, followEvents } from "./events.ts";
import {
  eventForm,
  flag,
  json,
  numberFlag,
  oneTask,
  project,
  pullRequestForm,
  status,
  taskExitCodes,
  taskFlag,
  taskForm,
  textFlag,
  wholeNumber,
} from "./parameters.ts";

export const actions = command({
  parameters: {
    positional: oneTask,
    flags: { all: flag("Also list actions that are not allowed now, and why"), json },
  },
  docs: {
    brief: "List what you can do with a task, with the exact commands",
    fullDescription: `The task's workflow decides what is allowed.

--json: { task, actions: [{ name, label, key, command, to, consequence, allowed, why }] }. It lists every action, allowed or not
${taskExitCodes("failed")}`,
  },
  async func({ all, json }, reference) {
    const call = createCall(this);
    const answer = await call(routes.listActions, await nameTask(call, reference));
    if (json) return this.print(writeJson(answer));
    const allowed = answer.actions.filter((each) => each.allowed);
    const others = answer.actions.filter((each) => !each.allowed);
    const { task } = answer;
    const { bold, cyan } = this.paint;
    const summary = task.summary.replace(/\s+/g, " ");
    const room = this.columns - shownTask(task).length - task.status.length - 3;
    this.print(`${bold(shownTask(task))} ${cyan(task.status)}${summary === "" ? "" : `  ${cut(summary, room)}`}`);
    this.print([...evidenceOf(task), ""].join("\n"));
    this.print(writeAllowed(allowed, this));
    if (all) return this.print(`\n${bold("Not now")}\n${others.map((each) => writeRefused(each, this)).join("\n")}`);
    if (others.length > 0)
      this.say(`\nTo also see what is not allowed now, and why: signalbox task actions ${task.id} --all`);
  },
});

function writeAllowed(allowed: readonly ActionView[], { paint, tableWidth }: Context): string {
  const titles = [{ title: "ACTION" }, { title: "COMMAND", paint: paint.cyan, isText: true }] as const;
  return writeTable(
    titles,
    allowed.map(({ label, to, command }) => [to === "" || label.endsWith(to) ? label : `${label} → ${to}`, command]),
    tableWidth,
  );
}

function writeRefused({ label, why }: ActionView, { columns }: Context): string {
  return `  ${label}\n    ${wrapMessage(why, columns - 4, "    ")}`;
}

export const explain = command({
  isForRuns: true,
  parameters: { positional: oneTask, flags: { json } },
  docs: {
    brief: "Say where a task is, what blocks it, who can move it and what comes next",
    fullDescription: `--json: { task, where, blocked: [{ reason, fix }], moves: [{ to, by, open, command, missing }], next: [{ what, at }],
  owed: [{ id, entry, action, state, tries, dueAt, failure }], promises: [{ promise, state, evidence }], warnings }
${taskExitCodes("failed")}`,
  },
  async func({ json }, reference) {
    const call = createCall(this);
    const explanation = await call(routes.explainTask, await nameTask(call, reference));
    this.print(json ? writeJson(explanation) : describeExplanation(explanation, this));
  },
});

export const exportTask = command({
  parameters: { positional: oneTask },
  docs: {
    brief: "Print a task's whole history as JSON, one object on each line",
    fullDescription: `Example:
  signalbox task export coffee#12 > coffee-12.jsonl

${taskExitCodes("failed")}`,
  },
  async func(_flags, reference) {
    const text = await fetchText(this, routes.exportTask, await nameTask(createCall(this), reference));
    // `print` removes control sequences, which a terminal must not obey; a file gets the text unchanged.
    if (this.isTerminal) this.print(text);
    else this.process.stdout.write(text);
  },
});

export const history = command({
  isForRuns: true,
  parameters: {
    positional: oneTask,
    flags: {
      limit: numberFlag("N", "Only the newest N events", 1, 1_000_000),
      follow: flag("Keep printing new events"),
      json,
    },
  },
  docs: {
    brief: "Show the history of a task, the oldest event first",
    fullDescription: `Prints one line for each event: when, what, who (the run, if it is known) and the details. A move that passed a gate names the sections and the beginning of their hashes; a refused request names the reasons.

--json: { events: [${eventForm}], last }
with --follow: ${eventForm}, one on each line.
${taskExitCodes("failed")}`,
  },
  async func({ follow, limit, json }, reference) {
    const call = createCall(this);
    const { task } = await call(routes.getTask, await nameTask(call, reference));
    const query = { task: task.id };
    const all = await allEvents(call, query, 0);
    const shown = limit === undefined ? all : all.slice(-limit);
    const last = all.at(-1)?.position ?? 0;
    if (json && !follow) return this.print(writeJson({ events: shown, last }));
    const tell = (event: (typeof all)[number]) => this.print(json ? writeJson(event, 0) : writeEvent(event, this));
    for (const event of shown) tell(event);
    if (follow) return followEvents(this, { ...query, after: String(last) }, tell);
    const hidden = all.length - shown.length;
    if (hidden > 0) this.say(`${hidden} more before these: signalbox task history ${task.id}`);
  },
});

const listFlags = {
  project: {
    ...project,
    brief: "Tasks of this project; otherwise of this folder's project, or of all projects if the folder is in none",
  },
  all: flag("Tasks of all projects"),
  status: status("Only tasks in this state, open or over"),
  open: flag("Only tasks that are not over; this is the default"),
  closed: flag("Only tasks that are over; with --open, both"),
  parent: taskFlag("TASK", "Only the children of this task"),
  "needs-me": flag("Only tasks that need a person now, with the reason and the command"),
  limit: {
    kind: "parsed",
    parse: wholeNumber(1, 1_000),
    placeholder: "N",
    brief: "At most this many",
    default: String(defaultListLimit),
  },
  before: numberFlag("N", "Continue where an earlier list ended", 0, Number.MAX_SAFE_INTEGER),
  watch: flag("Show a live view of the tasks and their agents, until q or Ctrl-C"),
  json,
} as const;

type ListFlags = FlagsOf<typeof listFlags>;

export const list = command({
  parameters: {
    flags: listFlags,
  },
  docs: {
    brief: "List tasks, the newest first, and parts below their parent",
    fullDescription: `A mark before a task: ! it needs a person, ✗ its session is dead, ◌ its agent waits for a seat, ‖ it is paused, ● its session is alive, ? unknown. With --watch: ! it needs you, ● its agent is busy, ○ its agent waits for a message, ◌ it is about to start, ✓ it is done.

--json: { tasks: [TASK], next }. A TASK is as in signalbox task show, and also has group, since, ask, doing, cost, lines, commits and checks. With --watch, a line for each change: { tasks, runs, needs: [{ task, reason, command }] }
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such project or task`,
  },
  async func(flags) {
    const call = createCall(this);
    const { projects } = await call(routes.listProjects);
    const project = flags.project === undefined ? undefined : projectNamed(projects, flags.project);
    const shown = project ?? (flags.all ? undefined : projectAt(projects, process.cwd()));
    const query = {
      ...(shown === undefined ? {} : { project: shown.name }),
      ...(flags.status === undefined ? {} : { status: flags.status }),
      ...(flags.parent === undefined ? {} : { parent: await idOf(call, flags.parent) }),
      ...(flags["needs-me"] ? { needs: "true" as const } : openness(flags)),
      limit: String(flags.limit),
    };
    if (flags.watch) return watchWork(this, query, flags.json);
    const before = flags.before === undefined ? {} : { before: String(flags.before) };
    const answer = await call(routes.listTasks, { query: { ...query, ...before } });
    if (flags.status !== undefined && answer.tasks.length === 0) mustBeState(this, flags.status, shown ?? projects);
    if (flags.json) return this.print(writeJson(answer));
    const { tasks, next } = answer;
    if (tasks.length === 0) return this.say(whyEmpty(flags, shown?.name, projects.length));
    if (flags["needs-me"]) this.print(writeNeeds(tasks, this, Date.now()));
    else this.print(writeTasks(tasks, { paint: this.paint, columns: this.tableWidth }, Date.now()));
    const marks = flags["needs-me"] ? "" : marksIn(tasks);
    if (marks !== "") this.say(`\n${marks}`);
    if (this.isTerminal && !flags["needs-me"]) for (const line of hiddenIn(tasks)) this.say(line);
    // The marks cannot show that a workspace was deleted.
    for (const task of flags["needs-me"] ? [] : tasks)
      for (const { brief, command } of task.needs.filter(({ reason }) => reason === "workspace"))
        this.say(`\n${shownTask(task)}: ${brief}\n  ${command}`);
    if (next !== null)
      this.say(`\nThere are more: signalbox task list ${[...sameFlags(flags), `--before ${next}`].join(" ")}`);
  },
});

/** Refuses a state that no workflow has: the list would always be empty. */
function mustBeState({ home }: Context, status: string, where: ProjectView | readonly ProjectView[]): void {
  const repositories = [where].flat().map(({ path }) => path);
  const found = (repositories.length === 0 ? [undefined] : repositories).flatMap((repository) =>
    listWorkflows({ home, repository }),
  );
  const files = [...new Map(found.map((each) => [each.file, each])).values()];
  const states = files.flatMap((each) => {
    try {
      return Object.keys(loadSound(each).states);
    } catch {
      return [];
    }
  });
  if (states.includes(status)) return;
  throw new Fault("usage", `None of the available workflows has a state "${status}".`, {
    hint: didYouMean(status, [...new Set(states)]),
  });
}

/** With --status, tasks in that state are listed, open or over. */
function openness({ open, closed, status }: ListFlags): { open?: "true" | "false" } {
  if (open === closed) return open || status !== undefined ? {} : { open: "true" };
  return { open: open ? "true" : "false" };
}

async function idOf(call: Call, reference: string): Promise<string> {
  const { task } = await call(routes.getTask, await nameTask(call, reference));
  return task.id;
}

function whyEmpty(flags: ListFlags, project: string | undefined, projects: number): string {
  if (projects === 0)
    return "There are no tasks, and no project yet. To register a repository, run in it: signalbox init";
  const where = project === undefined ? "" : ` in ${project}`;
  if (flags["needs-me"]) return `No task${where} needs you now. To see what happens: signalbox status --watch`;
  const isPlain = flags.status === undefined && flags.parent === undefined && flags.before === undefined;
  if (!isPlain) return `No task${where} matches. To see all: signalbox task list --open --closed`;
  if (flags.closed && !flags.open) return `No task${where} is over yet. To see the others: signalbox task list`;
  return `There are no ${flags.closed ? "" : "open "}tasks${where}. To create one: signalbox task create "What is to be done"`;
}

function sameFlags(flags: ListFlags): readonly string[] {
  const { project, status, parent, limit } = flags;
  const values = { project, status, parent, limit: limit === defaultListLimit ? undefined : limit };
  return [
    ...(["all", "open", "closed", "needs-me"] as const).flatMap((name) => (flags[name] ? [`--${name}`] : [])),
    ...Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name} ${shellWord(String(value))}`],
    ),
  ];
}

export const show = command({
  isForRuns: true,
  parameters: {
    positional: oneTask,
    flags: {
      section: textFlag("NAME", "Print this section of the task file, such as Review"),
      document: flag("Print the whole task file"),
      json,
    },
  },
  docs: {
    brief: "Show all details of a task, or its task file",
    fullDescription: `They include why the task is held, the effects that it owes, the sections of its task file with their authors, and its runs: how each ended, how long it took, what it cost, what it said when its work was complete or why it failed. With --section or --document, the text itself is printed, as it was last stored.

Examples:
  signalbox task show coffee#12
  signalbox task show coffee#12 --section Review

--json: { task, effects: [{ id, entry, action, state, tries, dueAt, failure }],
  preset, settings: [{ name, value, from }], pullRequest: ${pullRequestForm},
  document: { text, authors: { SECTION: { role, run, commit } }, artifacts: [{ section, hash, role, run, commit, at }] } }
task: ${taskForm}
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no such task or section`,
  },
  async func({ json, section, document: isWhole }, reference) {
    if ([section !== undefined, isWhole, json].filter(Boolean).length > 1)
      throw new Fault("usage", "Only one of --section, --document and --json can be given.", {
        hint: "--json has the text of the task file too, in document.text.",
      });
    const call = createCall(this);
    const found = await call(routes.getTask, await nameTask(call, reference));
    const { task, effects, pullRequest, preset = "", settings = [] } = found;
    const document = await call(routes.getDocument, { params: { task: task.id } });
    if (isWhole) return this.print(document.text);
    if (section !== undefined) return this.print(sectionText(document.text, section));
    if (json) return this.print(writeJson({ task, effects, preset, settings, pullRequest, document }));
    this.print(describeTask(found, document, this, Date.now()));
    for (const line of describeRuns(await runsOf(call, task.id), this)) this.print(line);
    // A task that is over can still need attention, for example after its merge was undone.
    const { blocked } = task.phase === "over" ? await call(routes.explainTask, { params: { task: task.id } }) : notOver;
    for (const { reason, fix } of blocked) this.print(`\n${this.paint.yellow(reason)}\n  ${fix}`);
    const handed = await call(routes.listHandedOver, { params: { task: task.id } });
    const hasHanded = handed.documents.length + handed.messages.length + (handed.answers ?? []).length > 0;
    this.say(`
To see what can happen next: signalbox task explain ${task.id}
To see what has happened:    signalbox task history ${task.id}${
      hasHanded ? `\nTo read what agents said:    signalbox task documents ${task.id}` : ""
    }${document.text.trim() === "" ? "" : `\nTo read the task file:       signalbox task show ${task.id} --document`}`);
  },
});

const notOver = { blocked: [] };

/** The records of a task's runs. Agents see none, and a daemon without agents has none. */
export async function runsOf(call: Call, task: string): Promise<readonly RunView[]> {
  try {
    return await allRuns(call, { task, all: "true" });
  } catch (error) {
    if (error instanceof Fault && ["caller.denied", "agents.unavailable"].includes(error.code)) return [];
    throw error;
  }
}

/** The text of a section. People name it with or without the ##, in upper or lower case. */
function sectionText(text: string, wanted: string): string {
  const { byHeading } = parseTaskDocument(text);
  const name = wanted.replace(/^#+\s*/, "").trim();
  const isMeant = (heading: string) => heading.toLowerCase() === name.toLowerCase();
  const heading = byHeading.has(name) ? name : [...byHeading.keys()].find(isMeant);
  const section = heading === undefined ? undefined : byHeading.get(heading);
  if (section !== undefined) return section.body.trim();
  const all = [...byHeading.keys()];
  throw new Fault("not-found", `The task file has no section "${name}".`, {
    hint: all.length === 0 ? "It has no sections yet." : didYouMean(name, all),
  });
}
