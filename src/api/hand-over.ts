import { route } from "./client.ts";
import { any, boolean, integer, list, nullable, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

const name = shortText(100);
const ofTask = record({}, { project: name });
/** Documents of a task have at most 1 MB each; in JSON a text can be several times as long. */
const largeBody = 8 * 1024 * 1024;

const documentFields = {
  type: text,
  title: text,
  /** Its path in the workspace, and in the checkouts of judges. */
  path: text,
  sha256: text,
  bytes: integer(0),
  /** The role and the run that handed it over, the commit of the branch then, and the state. */
  role: text,
  run: text,
  commit: text,
  state: text,
};

const handedOverWire = record(
  {
    task: text,
    documents: list(record(documentFields, { text })),
    /** `isRead`: the task has left a state that the message is for. */
    messages: list(
      record({
        ...{ from: text, to: text, priority: oneOf("low", "normal", "high"), text, role: text, run: text },
        isRead: boolean,
      }),
    ),
  },
  /** For people only: a reviewer is not to know what other reviewers have said. */
  {
    /** The last answer of each schema that runs have given. */
    answers: list(record({ schema: text, answer: any })),
    /** The description of the task's pull request, and the comments that Signalbox made for it; null without one. */
    pullRequest: nullable(record({ number: integer(1), url: text, title: text, body: text, comments: list(text) })),
  },
);
export type HandedOver = TypeOf<typeof handedOverWire>;

/** What runs hand over to the states after them, and the tools with which they do. */
export const handOverRoutes = {
  completeWork: route({
    name: "completeWork",
    method: "POST",
    path: "/v1/tasks/:task/complete",
    summary: "Say that a run's work is complete, and hand documents over; that is the run's answer when it ends",
    access: "run",
    isIdempotent: true,
    maxBody: largeBody,
    query: ofTask,
    body: record(
      { summary: text },
      {
        outcome: oneOf("done", "revise"),
        reason: text,
        documents: list(record({ type: text, title: text, text })),
      },
    ),
    /** `isNew`: false if the run has said the same before. */
    answer: record({ task: text, run: text, outcome: oneOf("done", "revise"), documents: list(text), isNew: boolean }),
  }),
  sendStageMessage: route({
    name: "sendStageMessage",
    method: "POST",
    path: "/v1/tasks/:task/stage-messages",
    summary: "Send a message from a run to a state of its task's workflow, or to all",
    access: "run",
    isIdempotent: true,
    query: ofTask,
    body: record({ to: text, message: text }, { priority: oneOf("low", "normal", "high") }),
    answer: record({ task: text, from: text, to: text, isNew: boolean }),
  }),
  listHandedOver: route({
    name: "listHandedOver",
    method: "GET",
    path: "/v1/tasks/:task/handed-over",
    summary:
      "List what a task's runs have handed over: documents and messages; for people also answers and the pull request's description. With path, one document with its text",
    access: "run",
    query: record({}, { project: name, path: shortText(400) }),
    answer: handedOverWire,
  }),
  listTools: route({
    name: "listTools",
    method: "GET",
    path: "/v1/tools",
    summary: "List the names of the MCP tools that the caller has",
    access: "run",
    answer: record({ caller: oneOf("person", "run"), tools: list(text) }),
  }),
  mcp: route({
    name: "mcp",
    method: "POST",
    path: "/v1/mcp",
    summary:
      "Speak the Model Context Protocol (streamable HTTP): one JSON-RPC message; without an answer the status is 202",
    access: "run",
    maxBody: largeBody,
    body: any,
    answer: any,
  }),
} as const;
