import type { Route } from "../api/route.ts";
import type { Caller } from "./caller.ts";

/** A request over HTTP that is in the right form. */
export interface Asked<Query, Body> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Caller;
  /** Where the asker says it is; empty where it does not say. */
  readonly folder: string;
  /** The last event a stream has seen; empty where it does not say. */
  readonly lastEvent: string;
}

/** What answers a route. */
export type Handler<R> =
  R extends Route<infer Query, infer Body, infer Answer> ? (asked: Asked<Query, Body>) => Promise<Answer> : never;
