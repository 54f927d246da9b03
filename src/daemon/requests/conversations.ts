import type { Routes } from "../../api/routes.ts";
import type { SaidView } from "../../api/task-views.ts";
import { Fault } from "../../fault.ts";
import type { Message } from "../../ports/records.ts";
import type { StoredEvent } from "../../ports/store.ts";
import { findTask } from "../authorise.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";
import { eventsOf } from "../project.ts";
import { isoTime } from "../views.ts";
import { wholeNumber } from "../whole-number.ts";

const defaultPage = 50;
const maxPage = 200;
const maxText = 20_000;

/** What was said, from the task's history and from the messages to its runs. */
export function listConversations(core: Core): Handler<Routes["listConversations"]> {
  return async (asked) => {
    const { task } = await findTask(core, asked);
    const limit = wholeNumber("limit", asked.query.limit, 1, maxPage) ?? defaultPage;
    const before = asked.query.before === undefined ? undefined : cursorIn(asked.query.before);
    const newest = createNewest(limit + 1, before);
    for await (const event of eventsOf(core.store, task.id)) newest.add(saidIn(event));
    for (const message of await core.store.messages.list({ task: task.id })) newest.add(messageSaid(message));
    const found = newest.list();
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      task: task.id,
      said: page.map(shown),
      next: last === undefined || found.length <= limit ? null : `${last.at}.${last.id}`,
    };
  };
}

interface Place {
  readonly at: number;
  readonly id: string;
}

type Said = Place & Pick<SaidView, "from" | "role" | "run" | "kind" | "text">;

function shown({ at, text, ...said }: Said): SaidView {
  return { ...said, at: isoTime(at), text: text.slice(0, maxText), isCut: text.length > maxText };
}

/** Of two that were said at the same time, one is always the newer: no page repeats or drops one. */
function newestFirst(a: Place, b: Place): number {
  return b.at - a.at || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}

/** Keeps the newest entries before a place, however many are added. */
function createNewest(most: number, before: Place | undefined) {
  let kept: Said[] = [];
  const cut = () => {
    kept = kept.sort(newestFirst).slice(0, most);
  };
  return {
    add(said: Said | undefined) {
      if (said === undefined || (before !== undefined && newestFirst(before, said) >= 0)) return;
      if (kept.push(said) > 4 * most) cut();
    },
    list(): readonly Said[] {
      cut();
      return kept;
    },
  };
}

function cursorIn(before: string): Place {
  const [, at, id] = /^(\d{1,15})\.(.+)$/.exec(before) ?? [];
  if (at !== undefined && id !== undefined) return { at: Number(at), id };
  throw new Fault("request.invalid", "`before` is not what the page before has given.", { hint: "Leave it out." });
}

/** What an event says that somebody said; undefined if nobody said anything. */
function saidIn({ position, event, at }: StoredEvent): Said | undefined {
  const { type, by, data } = event;
  const run = textOf(data.run);
  const about = (kind: Said["kind"], from: Said["from"], text: unknown): Said | undefined => {
    // Padded, so that the order of the ids is that of the events.
    const id = `event-${String(position).padStart(16, "0")}`;
    const role = from === "human" ? "" : run === "" ? by : roleOf(run);
    return textOf(text) === "" ? undefined : { id, at, from, role, run, kind, text: textOf(text) };
  };
  switch (type) {
    case "dialogue.asked":
      return about("dialogue", "agent", data.message);
    case "dialogue.answered":
      return about("dialogue", "human", data.text);
    case "task.answered":
      return about("answer", "human", data.text);
    case "task.commented":
      return about("comment", by === "human" ? "human" : "agent", data.text);
    case "work.completed":
      return about("report", "agent", data.summary);
    case "stage.messaged":
      return about("stage", "agent", data.text);
    case "agent.ended":
      return data.word === "ok" || run === "" ? undefined : about("error", "agent", data.reason);
    default:
      return undefined;
  }
}

function messageSaid({ id, at, from, to, text }: Message): Said | undefined {
  // What the daemon types by itself, such as a reminder, is no conversation.
  if (from !== "human") return undefined;
  return { id: `message-${id}`, at, from: "human", role: "", run: to, kind: "message", text };
}

function roleOf(run: string): string {
  return run.slice(0, run.lastIndexOf("#") === -1 ? run.length : run.lastIndexOf("#"));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
