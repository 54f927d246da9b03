import type { Route } from "../../api/route.ts";
import { Fault } from "../../fault.ts";

export interface Match<R extends Route> {
  readonly route: R;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds the route of a request. */
export function createMatcher<R extends Route>(routes: readonly R[]): (method: string, path: string) => Match<R> {
  const bySize = Map.groupBy(
    routes.map((route) => ({ route, segments: route.path.split("/") })),
    ({ segments }) => segments.length,
  );
  return (method, path) => {
    const given = path.split("/");
    const fitting = (bySize.get(given.length) ?? []).filter(({ segments }) =>
      segments.every((segment, i) => segment.startsWith(":") || segment === given[i]),
    );
    const found = fitting.find(({ route }) => route.method === method);
    if (found === undefined) {
      if (fitting.length === 0)
        throw new Fault("request.path", `There is nothing at ${path}.`, { hint: "GET /v1/openapi.json lists all." });
      const methods = fitting.map(({ route }) => route.method).join(", ");
      throw new Fault("request.method", `${path} takes ${methods}, not ${method}.`);
    }
    const params: Record<string, string> = Object.create(null);
    for (const [i, segment] of found.segments.entries()) {
      if (segment.startsWith(":")) params[segment.slice(1)] = decode(given[i] ?? "");
    }
    return { route: found.route, params };
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Fault("request.path", `"${segment}" is not encoded as a path must be.`);
  }
}
