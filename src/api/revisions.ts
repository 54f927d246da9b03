import type { Route } from "./client.ts";
import { record, shortText, withOptional } from "./wire.ts";

/** Whether a route changes a task: then its query may have the revision of the task that the caller has seen. */
export function changesTask({ method, path }: Pick<Route, "method" | "path">): boolean {
  return method !== "GET" && /^\/v1\/tasks\/:task(\/|$)/.test(path);
}

/** The routes, of which each that changes a task takes `revision`. */
export function withRevisions<Routes extends Readonly<Record<string, unknown>>>(routes: Routes): Routes {
  const revised = Object.entries(routes as Readonly<Record<string, Route>>).map(([name, each]) => [
    name,
    changesTask(each) ? { ...each, query: withOptional(each.query ?? record({}), { revision: shortText(20) }) } : each,
  ]);
  return Object.fromEntries(revised) as Routes;
}
