import type { Call } from "../../api/client.ts";
import type { PlanView } from "../../api/person.ts";
import { routes } from "../../api/routes.ts";
import type { PartView, TaskView } from "../../api/tasks.ts";
import { Fault } from "../../fault.ts";
import { oneLine } from "../../text.ts";
import { nameTask, shownTask } from "../find.ts";
import { clip } from "../text.ts";
import { lostParts } from "../watch/team.ts";
import { conversation } from "./chat.ts";
import { allEvents } from "./events.ts";

/** A finished task whose work a new one continues. */
export interface Continued {
  readonly task: TaskView;
  /** The request for the new task. */
  readonly summary: string;
  /** What the new task's agents must know: the first request, what was said about it, what is done and what is missing. */
  readonly context: string;
}

const maxSummary = 200;

/** Finds the task that `run --from` continues, and writes down what is left of it. */
export async function continuedTask(call: Call, reference: string, request: string | undefined): Promise<Continued> {
  const { task } = await call(routes.getTask, await nameTask(call, reference));
  if (task.part !== null)
    throw new Fault("run.part", `${shownTask(task)} is a part of another task.`, {
      hint: `Continue the whole: signalbox run --from ${task.parent}`,
    });
  if (task.outcome === null)
    throw new Fault("run.open", `${shownTask(task)} is not over: it is in ${task.status}.`, {
      hint: `Come back to it: signalbox run --resume ${task.id}`,
    });
  const lost = lostParts(task);
  if (request === undefined && task.outcome === "done" && lost.length === 0)
    throw new Fault("usage", `${shownTask(task)} is done, and none of its parts is missing.`, {
      hint: `Say what is to be built on top of it: signalbox run "What is to be built" --from ${task.id}`,
    });
  const plan = await call(routes.getPlan, { params: { task: task.id } });
  const talk = conversation(await allEvents(call, { task: task.id }, 0));
  return { task, summary: request ?? summaryOf(task, lost), context: contextOf(task, plan, talk) };
}

/** `Add dark mode (missing: Docs; Pages)` */
function summaryOf({ summary }: TaskView, lost: readonly PartView[]): string {
  const first = summary.replace(/ \(missing: .*\)$/, "");
  const titles = lost.map(({ title, item }) => oneLine(title) || oneLine(item)).join("; ");
  return titles === "" ? first : clip(`${first} (missing: ${titles})`, maxSummary);
}

function contextOf(task: TaskView, { items }: PlanView, talk: ReturnType<typeof conversation>): string {
  const parts = task.children?.parts ?? [];
  const descriptions = new Map(items.map(({ id, description }) => [id, description.trim()]));
  const written = (part: PartView, why: string) =>
    [`- ${part.item}: ${oneLine(part.title)}`, descriptions.get(part.item) ?? "", why]
      .filter((line) => line !== "")
      .join("\n")
      .replaceAll("\n", "\n  ");
  const done = parts.filter(({ state }) => state === "done").map((part) => written(part, ""));
  const missing = parts
    .filter(({ state }) => state !== "done")
    .map((part) => written(part, `Not done: ${part.why || `it ended in ${part.status}.`}`));
  const end = task.reason === "" ? "" : ` (${oneLine(task.reason)})`;
  const sections = [
    `This continues ${shownTask(task)}, which ended as ${task.outcome}${end}. Its branch has the work that is done: build only what is missing, on top of it.`,
    `The first request: ${task.summary}`,
    ...section(
      "What was said about it:",
      talk.map(({ who, text }) => `${who}: ${text.trim()}`),
    ),
    ...section("Done, and on the branch:", done),
    ...section("Missing:", missing),
  ];
  return sections.join("\n\n");
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [[title, ...lines].join("\n")];
}
