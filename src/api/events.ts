import { route } from "./client.ts";
import { eventWire } from "./tasks.ts";
import { any, integer, list, oneOf, record, shortText } from "./wire.ts";

const name = shortText(100);
/** Numbers in a query are text. */
const numberText = shortText(20);

const types = shortText(1_000);

/** The routes about history. */
export const eventRoutes = {
  listEvents: route({
    name: "listEvents",
    method: "GET",
    path: "/v1/events",
    summary: "List events after a position, the oldest first; or before one, the newest first",
    access: "run",
    query: record(
      {},
      {
        ...{ project: name, task: name, agent: name, after: numberText, limit: numberText },
        /** A position, or `end` for the newest events. Not together with `after`. */
        before: numberText,
        /** Types of events, separated by commas; `agent.*` for all that begin with `agent.` */
        type: types,
      },
    ),
    /** `last`: to be given as `after`, or as `before`, for the next page; with `before`, 0 if there is none. */
    answer: record({ events: list(eventWire), last: integer(0) }),
  }),
  streamEvents: route({
    name: "streamEvents",
    method: "GET",
    path: "/v1/stream",
    summary:
      "Follow the event feed: server-sent events with ids; resume with Last-Event-ID or after=; live=true adds the state of agents",
    access: "person",
    query: record(
      {},
      { project: name, task: name, agent: name, after: numberText, type: types, live: oneOf("true", "false") },
    ),
    answer: eventWire,
    answerType: "text/event-stream",
  }),
  exportTask: route({
    name: "exportTask",
    method: "GET",
    path: "/v1/tasks/:task/export",
    summary: "Return a task's whole history, one JSON object per line",
    access: "person",
    query: record({}, { project: name }),
    answer: any,
    answerType: "application/jsonl",
  }),
} as const;
