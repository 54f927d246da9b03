import { type ErrorBody, faultOf } from "./error.ts";
import type { Route } from "./route.ts";

/** Brings one request to the daemon and its answer back: over the socket, or with fetch in a browser. */
export type Transport = (request: {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
}) => Promise<{ readonly status: number; readonly body: string }>;

export interface Given<Query, Body> {
  /** For the `:name` segments of the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query;
  readonly body?: Body;
}

export type Call = <Query, Body, Answer>(
  route: Route<Query, Body, Answer>,
  given?: Given<Query, Body>,
) => Promise<Answer>;

/** Calls routes by their definition. What the daemon refuses is thrown as it threw it. */
export function createClient(transport: Transport): Call {
  return async (route, given = {}) => {
    const body = given.body === undefined ? undefined : JSON.stringify(given.body);
    const answer = await transport({ method: route.method, path: pathOf(route, given), body });
    const parsed: unknown = JSON.parse(answer.body);
    if (answer.status >= 400) throw faultOf(parsed as ErrorBody);
    return parsed as never;
  };
}

/** The path and query of a request. */
export function pathOf(route: Pick<Route, "path">, given: Given<unknown, unknown>): string {
  const path = route.path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(given.params?.[name] ?? ""));
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(given.query ?? {})) if (value !== undefined) query.set(key, String(value));
  const written = query.toString();
  return written === "" ? path : `${path}?${written}`;
}
