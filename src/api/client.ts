import { Fault } from "../fault.ts";
import type { TaskView } from "./tasks.ts";
import type { Wire } from "./wire.ts";

/** Sends one request to the daemon and returns the answer: over the socket, or with fetch in a browser. */
type Transport = (request: {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  /** The request can be sent again if its answer is lost. */
  readonly isIdempotent: boolean;
}) => Promise<{ readonly status: number; readonly body: string }>;

export interface Given<Query, Body> {
  /** For the `:name` segments of the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query;
  readonly body?: Body;
  /** Of a change of a task: the revision that the caller has seen. If the task has changed since, the change is refused. */
  readonly revision?: number;
}

export type Call = <Query, Body, Answer>(
  route: Route<Query, Body, Answer>,
  given?: Given<Query, Body>,
) => Promise<Answer>;

/** Calls routes by their definition. A refusal or fault of the daemon is thrown here as the same error. */
export function createClient(transport: Transport): Call {
  return async (route, given = {}) => {
    const body = given.body === undefined ? undefined : JSON.stringify(given.body);
    const isIdempotent = route.method === "GET" || route.isIdempotent === true;
    const answer = await transport({ method: route.method, path: pathOf(route, given), body, isIdempotent });
    const parsed: unknown = JSON.parse(answer.body);
    if (answer.status >= 400) throw faultOf(parsed as ErrorBody);
    return parsed as never;
  };
}

/** The path and query of a request. */
export function pathOf(route: Pick<Route, "path">, given: Given<unknown, unknown>): string {
  const path = route.path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(given.params?.[name] ?? ""));
  const query = new URLSearchParams();
  const asked = { ...(given.query ?? {}), revision: given.revision };
  for (const [key, value] of Object.entries(asked)) if (value !== undefined) query.set(key, String(value));
  const written = query.toString();
  return written === "" ? path : `${path}?${written}`;
}

/** The body of every answer that is not a success. */
export interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint?: string;
    readonly retry?: "later" | "never";
    readonly reasons?: readonly { readonly code: string; readonly text: string; readonly fix: string }[];
    /** With the code `task.stale`: the task as it is, in the form of GET /v1/tasks/:task. */
    readonly task?: TaskView;
  };
}

/** The engine or the daemon refused a request. Nothing has changed. */
export class Refusal extends Fault {
  readonly reasons: NonNullable<ErrorBody["error"]["reasons"]>;

  constructor(reasons: NonNullable<ErrorBody["error"]["reasons"]>) {
    const hints = [...new Set(reasons.map(({ fix }) => fix).filter((fix) => fix !== ""))];
    super("refused", reasons.map(({ text }) => text).join("\n"), hints.length > 0 ? { hint: hints.join("\n") } : {});
    this.reasons = reasons;
  }
}

/** A refusal as text, each reason with its fix. Returns the text behind `error:` and the text below it. */
export function writeRefusal(
  reasons: Refusal["reasons"],
  last = "Nothing has changed.",
): { message: string; hint: string } {
  const [first, ...more] = reasons;
  if (first === undefined) return { message: "The request was refused.", hint: last };
  const fixOf = (fix: string, indent = "") => (fix === "" ? [] : [indent + fix]);
  if (more.length === 0) return { message: first.text, hint: [...fixOf(first.fix), last].join("\n") };
  const lines = reasons.flatMap(({ text, fix }) => [`- ${text}`, ...fixOf(fix, "  ")]);
  return { message: `It was refused for ${reasons.length} reasons.`, hint: [...lines, last].join("\n") };
}

/** Turns an error body back into the error that the daemon threw. */
export function faultOf({ error }: ErrorBody): Fault {
  if (error.reasons !== undefined) return new Refusal(error.reasons);
  return new Fault(error.code, error.message, {
    ...(error.retry ? { retry: error.retry } : {}),
    ...(error.hint ? { hint: error.hint } : {}),
    cause: error.task,
  });
}

export function errorBodyOf(fault: Fault): ErrorBody {
  const { code, message, hint, retry } = fault;
  const reasons = fault instanceof Refusal ? { reasons: fault.reasons } : {};
  const stale = staleTaskOf(fault);
  const task = stale === undefined ? {} : { task: stale };
  return { error: { code, message, retry, ...(hint === undefined ? {} : { hint }), ...reasons, ...task } };
}

/** The code of the fault for a change of a task that has changed since the caller saw it. */
export const staleCode = "task.stale";

/** The task as it is, of the fault with which a change of a task was refused because it has changed since the caller saw it. */
export function staleTaskOf(error: unknown): TaskView | undefined {
  return error instanceof Fault && error.code === staleCode ? (error.cause as TaskView | undefined) : undefined;
}

/** One HTTP route of the daemon. */
export interface Route<Query = unknown, Body = unknown, Answer = unknown> {
  /** Names the route in the client, in OpenAPI and in logs. */
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** `:name` matches one segment. */
  readonly path: string;
  /** Imperative, without a full stop. */
  readonly summary: string;
  readonly access: Access;
  /** Whether a granted request is added to history as `request.granted`; others add an event of their own. */
  readonly isNoted?: true;
  /** Whether a second request with the same content changes nothing more; every GET is so. */
  readonly isIdempotent?: true;
  readonly query?: Wire<Query>;
  readonly body?: Wire<Body>;
  /** The largest body, in bytes; 1 MB where it is missing. */
  readonly maxBody?: number;
  readonly answer: Wire<Answer>;
  /** Set if the answer is not JSON. A plain request to a WebSocket is refused. */
  readonly answerType?: "text/event-stream" | "application/jsonl" | "websocket";
}

/**
 * Who may ask. The routes are the whole table: nothing else in the daemon widens it.
 * anyone: every process that can open the socket; over TCP only with a credential.
 * page: a page of ours, over TCP, without a credential: with the header Origin.
 * run: a person, and a live run about its own task.
 * person: a person only.
 */
type Access = "anyone" | "page" | "run" | "person";

/** The type of a route's body. */
export type BodyOf<R> = R extends Route<infer _Query, infer Body, infer _Answer> ? Body : never;

export type QueryOf<R> = R extends Route<infer Query, infer _Body, infer _Answer> ? Query : never;

/** Infers the types of a route from its definition. */
export function route<Query = unknown, Body = unknown, Answer = unknown>(
  definition: Route<Query, Body, Answer>,
): Route<Query, Body, Answer> {
  return definition;
}
