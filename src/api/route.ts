import type { Wire } from "./wire.ts";

/** One thing that can be asked of the daemon over HTTP. */
export interface Route<Query = unknown, Body = unknown, Answer = unknown> {
  /** Names the route in the client, in OpenAPI and in logs. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** `:name` stands for one segment. */
  readonly path: string;
  /** Imperative, without a full stop. */
  readonly summary: string;
  readonly access: Access;
  readonly query?: Wire<Query>;
  readonly body?: Wire<Body>;
  readonly answer: Wire<Answer>;
  /** Where the answer is no JSON. */
  readonly answerType?: "text/event-stream" | "application/jsonl";
}

/**
 * read: everybody who reaches the socket, whose folder is the user's alone; over TCP only with a credential.
 * ask: people and runs; what is refused to anybody else is remembered in the task's history.
 * human: people only.
 */
export type Access = "read" | "ask" | "human";

/** Keeps the types of a route apart while it is written down. */
export function route<Query = unknown, Body = unknown, Answer = unknown>(
  definition: Route<Query, Body, Answer>,
): Route<Query, Body, Answer> {
  return definition;
}
