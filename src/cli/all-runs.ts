import type { RunView } from "../api/agents.ts";
import type { Call, QueryOf } from "../api/client.ts";
import { routes } from "../api/routes.ts";

/** Every run that matches a query, however many pages they fill; the oldest first. */
export async function allRuns(call: Call, query: QueryOf<typeof routes.listRuns>): Promise<readonly RunView[]> {
  let found: readonly RunView[] = [];
  for (let before: string | undefined; ; ) {
    const { runs, next } = await call(routes.listRuns, { query: before === undefined ? query : { ...query, before } });
    found = [...runs, ...found];
    if (next === null) return found;
    before = next;
  }
}
