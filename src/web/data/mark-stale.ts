import type { Query, QueryClient, QueryFilters } from "@tanstack/react-query";

/** Queries whose answer is awaited, to be read once more. */
const awaited = new WeakSet<Query>();

/**
 * Reads again what is on the screen. An answer that is under way may be older than the event that calls for this, but the cache
 * would take it as fresh. A read for the screen is started anew; a first one, and one for a screen that was left, are marked as
 * stale once more after their answer.
 */
export async function markStale(client: QueryClient, filters: QueryFilters): Promise<void> {
  const older = client
    .getQueryCache()
    .findAll({ ...filters, fetchStatus: "fetching" })
    .filter((query) => (query.state.data === undefined || !query.isActive()) && !awaited.has(query));
  const again = older.map(async (query) => {
    awaited.add(query);
    await query.promise?.catch(() => undefined);
    awaited.delete(query);
    await client.invalidateQueries({ queryKey: query.queryKey, exact: true });
  });
  await Promise.all([client.invalidateQueries(filters), ...again]);
}
