import type { Query, QueryClient, QueryFilters } from "@tanstack/react-query";

/** Queries whose first answer is awaited, to be read once more. */
const awaited = new WeakSet<Query>();

/**
 * Reads again what is on the screen. The answer to a first read that is under way may be older than the event that calls for this,
 * but the cache would take it as fresh: such a query is read once more after it.
 */
export async function markStale(client: QueryClient, filters: QueryFilters): Promise<void> {
  const first = client
    .getQueryCache()
    .findAll({ ...filters, fetchStatus: "fetching" })
    .filter((query) => query.state.data === undefined && !awaited.has(query));
  const again = first.map(async (query) => {
    awaited.add(query);
    await query.promise?.catch(() => undefined);
    awaited.delete(query);
    await client.invalidateQueries({ queryKey: query.queryKey, exact: true });
  });
  await Promise.all([client.invalidateQueries(filters), ...again]);
}
