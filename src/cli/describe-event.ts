import type { EventView } from "../api/tasks.ts";
import type { TaskEventType } from "../engine/event-types.ts";
import { joinedLines } from "../text.ts";
import type { Context } from "./context.ts";
import { count, displayWidth, listed, wrapMessage, writeTime } from "./text.ts";

type Data = EventView["data"];

/** Describes an event in a few words. For an unknown type the data is shown. */
export function describeEvent({ type, data }: EventView): string {
  const describe = Object.hasOwn(descriptions, type) ? descriptions[type as TaskEventType] : undefined;
  return describe === undefined ? JSON.stringify(data) : describe(data);
}

const descriptions: Readonly<Record<TaskEventType, (data: Data) => string>> = {
  "task.created": ({ status, workflow, parent, item, continues, ...rest }) =>
    `in ${text(status)}, with the workflow ${text(workflow)}${
      item === undefined ? "" : `, as the part "${text(item)}" of ${text(parent)}${again(rest.try)}`
    }${continues === undefined ? "" : `, continuing ${text(continues)}`}`,
  "task.moved": ({ from, to, cause, evidence, reason }) =>
    `${text(from)} → ${text(to)}${inBrackets([text(cause), ...items(evidence).map(evidenceText)])}${text(reason) === "" ? "" : `: ${text(reason)}`}`,
  "task.settled": () => "all effects are done",
  "task.working": ({ actions }) => `at work: ${texts(actions).join(", ")}`,
  "task.worked": ending,
  "task.held": ({ word, reason }) => `${text(reason)}${inBrackets([text(word)])}`,
  "task.continued": ({ held }) => (text(held) === "" ? "" : `it was held after ${text(held)}`),
  "task.attended": ({ text: said }) => text(said),
  "task.approved": ({ commit, status }) =>
    `in ${text(status)}${text(commit) === "" ? "" : `, at commit ${short(commit)}`}`,
  "task.answered": ({ text: said, via, who }) => `${text(said)}${voice(via, who)}`,
  "task.commented": ({ text: said }) => text(said),
  "task.migrated": ({ from, to, status }) => `version ${short(from)} → ${short(to)}, in ${text(status)}`,
  "part.started": ({ item, slot, ...rest }) => `the part "${text(item)}"${again(rest.try)} in slot ${text(slot)}`,
  "task.edited": ({ changed, values }) =>
    listed(texts(changed).flatMap((name) => editedText(name, isEmpty(values) ? undefined : (values as Data)[name]))),
  "workspace.mended": ({ workspace, branch }) =>
    `the broken HEAD of ${workspace} was set to ${branch}; what was there is saved (signalbox salvage list)`,
  "workspace.restored": ({ workspace, commit }) =>
    `the workspace ${workspace} was restored${text(commit) === "" ? "" : ` at ${text(commit).slice(0, 10)}, the last commit that was saved`}`,
  "branch.moved": ({ branch, before, after, isKnown, setAside }) => {
    if (text(setAside) !== "")
      return `${text(branch)} had the commit ${text(after).slice(0, 10)}, which no merge of a part has made; it is kept as ${text(setAside)}, and the branch is at ${text(before).slice(0, 10)} again`;
    const how = after === "" ? "was deleted" : `was moved to ${text(after).slice(0, 10)}`;
    const who =
      isKnown === true ? "in this task's worktree, or to a commit made there" : "while this task's agent worked";
    return `your branch ${text(branch)} ${how} ${who}; it was at ${text(before).slice(0, 10)}`;
  },
  "document.unclaimed": ({ role, sections, reason }) =>
    `${text(role)} left ${listed(texts(sections).map((each) => `## ${each}`))} without handing it in, so it does not count${text(reason) === "" ? "" : `. ${text(reason)}`}`,
  "document.changed": ({ sections }) => listed(texts(sections).map((each) => `## ${each}`)),
  "document.incomplete": ({ sections, cut }) =>
    texts(cut).length > 0
      ? `${listed(texts(cut).map((each) => `## ${each}`))} was handed down in part: the task file would be too large. The file names the command that shows all of it`
      : `${listed(texts(sections).map((each) => `## ${each}`))} could not be handed down: none of the tasks it depends on had it`,
  "request.rejected": ({ request, reasons }) =>
    `${requestText(request)}: ${items(reasons)
      .map((reason) => text(reason.text))
      .join(" ")}`,
  "request.granted": ({ request, project, given }) =>
    `${text(request)}${text(project) === "" ? "" : ` of ${text(project)}`}${isEmpty(given) ? "" : `: ${JSON.stringify(given)}`}`,
  "config.changed": ({ keys }) => listed(texts(keys)),
  "project.added": ({ path }) => text(path),
  "project.changed": ({ keys }) => listed(texts(keys)),
  "project.removed": ({ project }) => text(project),
  "pause.began": ({ project, now }) =>
    `${text(project) || "everything"}${now === true ? ", and its agents were ended" : ""}`,
  "pause.ended": ({ project }) => text(project) || "everything",
  "limit.began": ({ harness, until, reason }) => `${text(harness)} until ${writeTime(text(until))}: ${text(reason)}`,
  "limit.ended": ({ harness }) => text(harness),
  "effect.failed": ({ action, reason }) => `${text(action)}: ${text(reason)}`,
  "agent.started": ({ run, harness, model, agent, insteadOf, resumed, sandbox }) =>
    `${text(run)}${text(agent) === "" ? "" : ` by ${text(agent)}`} in ${text(harness)}${inBrackets([text(insteadOf) === "" ? text(model) : `${text(model)} instead of ${text(insteadOf)}`, resumed === true ? "resumed" : "", sandbox === true ? "sandboxed" : ""])}`,
  "agent.slept": ({ run }) => text(run),
  "agent.woken": ({ run }) => text(run),
  "agent.raised": ({ run, reason }) => `${text(run)}: ${text(reason)}`,
  "person.called": ({ text: what, command, tasks }) =>
    `${joinedLines(text(what))}${command === "" ? "" : ` → ${text(command)}`}${Number(tasks) > 1 ? ` (with ${count(Number(tasks) - 1, "other task")})` : ""}`,
  "agent.limited": ({ harness, until, reason }) => `${text(harness)} until ${text(until)}: ${text(reason)}`,
  "message.sent": ({ to, text: said }) => `to ${text(to)}: ${text(said)}`,
  "message.delivered": ({ to, evidence }) => `to ${text(to)}${evidence === "typed" ? ", unconfirmed" : ""}`,
  "message.undelivered": ({ to, reason }) => `to ${text(to)}: ${text(reason)}`,
  "agent.ended": (data) => [text(data.run), ending(data)].filter((each) => each !== "").join(" "),
  "work.completed": ({ run, outcome, summary, documents }) => {
    const titles = items(documents).map(({ title }) => `"${text(title)}"`);
    return `${text(run)} ${text(outcome)}: ${text(summary)}${titles.length === 0 ? "" : ` (with ${listed(titles)})`}`;
  },
  "stage.messaged": ({ from, to, priority, text: said }) =>
    `${text(from)} → ${text(to)}${priority === "normal" ? "" : ` (${text(priority)})`}: ${text(said)}`,
  "agent.retried": ({ role, attempt, delay }) =>
    `${text(role)}, attempt ${text(attempt)}${Number(delay) > 0 ? ` in ${text(delay)} s` : ""}`,
  "agent.respawned": ({ role }) => text(role),
  "agent.resumed": ({ role }) => text(role),
  "agent.stepped": ({ step, limit }) => `step ${text(step)}${limit === undefined ? "" : ", cut off by the limit"}`,
  "agent.reminded": ({ role, message }) => `${text(role)}: ${text(message)}`,
  "dialogue.asked": ({ message }) => text(message),
  "dialogue.answered": ({ text: said, confirmed, via, who }) =>
    `${confirmed === true ? "confirmed" : text(said)}${voice(via, who)}`,
  "panel.answered": (data) => [text(data.member), ending(data)].filter((each) => each !== "").join(" "),
  "finding.reviewed": ({ round, findings, open }) => {
    const changed = items(findings).map(({ id, state }) => `${text(id)} ${text(state)}`);
    return `round ${text(round)}: ${listed(changed) || "nothing new"}, ${text(open)} to be dealt with`;
  },
  "finding.approved": ({ findings, reason }) => [listed(texts(findings)), text(reason)].filter(Boolean).join(": "),
  "finding.added": ({ findings }) =>
    listed(items(findings).map(({ id, file, title }) => `${text(id)} ${text(file)}: ${text(title)}`)),
  "finding.dismissed": ({ findings, reason }) => [listed(texts(findings)), text(reason)].filter(Boolean).join(": "),
  "plan.edited": ({ items: many }) => (typeof many === "number" ? count(many, "item") : ""),
  "children.ended": ending,
  "protected.changed": ({ changes }) => listed(texts(changes)) || "nothing any more",
  "tests.ended": ({ commit, word }) => `${text(word)}, at commit ${short(commit)}`,
  "protected.tested": ({ base, work }) =>
    `with the base's protected files: ${text(base)}; as the work has them: ${text(work)}`,
  "protected.confirmed": ({ commit, changes }) => `${listed(texts(changes))}, at commit ${short(commit)}`,
  "merge.asked": ({ target }) => `into ${text(target)}`,
  "merge.waits": ({ target, reason }) => `into ${text(target)}: ${text(reason)}`,
  "merge.landed": ({ target, before, after }) =>
    before === after ? `was already in ${text(target)}` : `into ${text(target)}: ${short(before)} → ${short(after)}`,
  "merge.failed": ({ target, word, reason }) => `into ${text(target)}: ${text(reason)}${inBrackets([text(word)])}`,
  "merge.predicted": ({ other, files }) => `it will conflict with ${text(other)} in ${listed(texts(files))}`,
  "merge.undone": ({ target, after }) => `undone in ${text(target)} with ${short(after)}`,
  "pr.opened": pullRequestText,
  "pr.commented": (data) => `${pullRequestText(data)}${Number(data.round) > 0 ? `: round ${text(data.round)}` : ""}`,
  "pr.merged": pullRequestText,
  "pr.closed": pullRequestText,
  "pr.feedback": (data) => `${pullRequestText(data)}: ${text(data.text)}`,
};

/** `#7 https://github.com/acme/coffee/pull/7` */
function pullRequestText({ number, url }: Data): string {
  return [`#${text(number)}`, text(url)].filter((each) => each !== "").join(" ");
}

/** ` (Ann over telegram)`; empty for an answer that came through no chat. */
function voice(via: unknown, who: unknown): string {
  if (text(via) === "") return "";
  return inBrackets([`${text(who) === "" ? "" : `${text(who)} `}over ${text(via)}`]);
}

/** `error: why` */
function ending({ word, reason }: Data): string {
  return text(reason) === "" ? text(word) : `${text(word)}: ${text(reason)}`;
}

/** `preset quick-fix`, `auto_merge=true`; only the field's name where the new value is not known. */
function editedText(field: string, value: unknown): readonly string[] {
  if (typeof value === "string") return [value === "" ? `no ${field}` : `${field} ${value}`];
  if (isEmpty(value)) return [field];
  return Object.entries(value as Data).map(([name, each]) =>
    each === null ? `${name} taken back` : `${name}=${typeof each === "object" ? JSON.stringify(each) : String(each)}`,
  );
}

/** `## Plan 1a2b3c4d by worker#1 at 5e6f7a8b` */
function evidenceText({ section, hash, role, run, commit }: Data): string {
  const who = text(run) || text(role);
  return [
    `## ${text(section)}`,
    short(hash),
    ...(who === "" ? [] : [`by ${who}`]),
    ...(text(commit) === "" ? [] : [`at ${short(commit)}`]),
  ].join(" ");
}

function requestText(request: unknown): string {
  const { kind, to } = (request ?? {}) as Data;
  return to === undefined ? text(kind) : `${text(kind)} to ${text(to)}`;
}

function isEmpty(value: unknown): boolean {
  return typeof value !== "object" || value === null || Object.keys(value).length === 0;
}

function inBrackets(parts: readonly string[]): string {
  const shown = parts.filter((part) => part !== "");
  return shown.length === 0 ? "" : ` (${shown.join("; ")})`;
}

function short(hash: unknown): string {
  return text(hash).slice(0, 8);
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Of a part that replaces a failed one. */
function again(tried: unknown): string {
  return tried === 1 ? "" : `, try ${text(tried)}`;
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(text) : [];
}

function items(value: unknown): readonly Data[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "object" && each !== null) : [];
}

const typeWidth = "dialogue.answered".length;
/** Events that belong to no task are marked with "home" instead. */
const idWidth = "k2m4p".length;
const byWidth = "reviewer#2".length;

/** One line of history: when, what, who and the details; in a list of many tasks, also which task. */
export function writeEvent(
  event: EventView,
  { paint, tableWidth }: Pick<Context, "paint" | "tableWidth">,
  ofMany = false,
): string {
  const { type, at, task } = event;
  const colour = loud[type] === undefined ? paint.cyan : paint[loud[type]];
  const time = writeTime(at);
  const who = whoDid(event).padEnd(byWidth);
  const about = (task || "home").padEnd(idWidth);
  const head = [paint.dim(time), ...(ofMany ? [paint.bold(about)] : []), colour(type.padEnd(typeWidth)), who].join(
    "  ",
  );
  const text = describeEvent(event).replace(/\s*\n\s*/g, " ");
  const taken = time.length + (ofMany ? about.length + 2 : 0) + typeWidth + who.length + 6;
  if (taken + displayWidth(text) <= tableWidth || (text === "" && taken - 2 <= tableWidth))
    return `${head}  ${text}`.trimEnd();
  const room = tableWidth - taken;
  if (taken - 2 > tableWidth) {
    const said = `${who.trimEnd()}${text === "" ? "" : `: ${text}`}`;
    return `${head.slice(0, -who.length).trimEnd()}\n    ${wrapMessage(said, tableWidth - 4, "    ")}`;
  }
  if (room >= minRoom) return `${head}  ${wrapMessage(text, room, " ".repeat(taken))}`;
  return `${head.trimEnd()}\n    ${wrapMessage(text, tableWidth - 4, "    ")}`;
}

/** With less room than this at the end of the line, the text goes below it. */
const minRoom = 40;

const loud: Readonly<Record<string, "red" | "yellow">> = {
  "task.held": "yellow",
  "request.rejected": "yellow",
  "effect.failed": "red",
  "agent.raised": "yellow",
  "agent.limited": "yellow",
  "message.undelivered": "red",
};

/** The run if it is known, otherwise the role. */
function whoDid({ type, by, data }: EventView): string {
  const asked = type === "request.rejected" ? (data.request as { actor?: { run?: unknown } } | undefined) : undefined;
  // An ended run is the subject of the event, not its author.
  const run = asked === undefined ? (type === "agent.ended" ? undefined : data.run) : asked.actor?.run;
  return typeof run === "string" && run !== "" ? run : by;
}
