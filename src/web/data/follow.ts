import type { QueryClient } from "@tanstack/react-query";
import type { RunView } from "../../api/agents.ts";
import { belongsTo, isPlain, patchRows } from "../../api/patch-rows.ts";
import { routes } from "../../api/routes.ts";
import type { EventView } from "../../api/tasks.ts";
import { call } from "./client.ts";
import { setDaemonState } from "./daemon-state.ts";
import { createBrowserPorts, type FeedNews, followFeed } from "./event-feed.ts";
import { setLiveRun } from "./live-runs.ts";
import { markStale } from "./mark-stale.ts";
import { keyHeaders } from "./page-key.ts";
import type { ListQuery, Row } from "./queries.ts";
import { emptyPile, marksOf, type Pile, withMarks } from "./stale.ts";
import { throttled } from "./throttle.ts";

/** At most five times a second, so that a person sees a change within a quarter of a second. */
const refreshInterval = 200;
/** Counts are looked at from afar. */
const countsInterval = 1_000;
/** How long sums over many tasks, which take the daemon longest, may be behind. */
const sumInterval = 3_000;
const sums = [["timeline"], ["usage"]] as const;
/** Where more tasks have changed at once, the lists are read anew. */
const maxRows = 100;

interface ListData {
  readonly tasks: readonly Row[];
  readonly next: number | string | null;
}

/** Keeps the cache up to date with the daemon's events. Returns what ends it. */
export function followDaemon(client: QueryClient): () => void {
  let pile: Pile = emptyPile;
  const refresh = throttled(refreshInterval, async () => {
    const due = pile;
    pile = emptyPile;
    await Promise.all([
      refreshRows(client, due),
      ...[...due.others].map((key) => markStale(client, { queryKey: [key] })),
      ...[...due.tasks].flatMap(([task, parts]) =>
        ["view", ...parts].map((part) => markStale(client, { queryKey: ["task", task, part] })),
      ),
    ]);
  });
  const refreshCounts = throttled(countsInterval, () => markStale(client, { queryKey: ["counts"] }));
  const refreshSums = throttled(sumInterval, () =>
    Promise.all(sums.map((queryKey) => markStale(client, { queryKey }))),
  );
  const hear = (news: FeedNews) => {
    switch (news.kind) {
      case "event":
        appendEvent(client, news.event);
        pile = withMarks(pile, marksOf(news.event));
        refreshCounts();
        refreshSums();
        return refresh();
      case "run":
        setLiveRun(news.run);
        return void client.setQueryData<readonly RunView[]>(["runs"], (runs) => withRun(runs, news.run));
      case "live":
        setDaemonState({ connection: "live", isSignedOut: false, version: news.version });
        return void client.invalidateQueries(
          news.isFresh ? {} : { predicate: ({ state }) => state.status === "error" },
        );
      case "gone":
        return setDaemonState({ connection: "gone" });
      case "signed-out":
        return setDaemonState({ isSignedOut: true });
    }
  };
  return openFeed(hear);
}

/** One stream for all tabs where the browser has shared workers; else one of this tab's own. */
function openFeed(hear: (news: FeedNews) => void): () => void {
  const ending = new AbortController();
  const alone = () => void followFeed(createBrowserPorts(keyHeaders), hear, ending.signal);
  if (typeof SharedWorker === "undefined") {
    alone();
    return () => ending.abort();
  }
  const worker = new SharedWorker(new URL("./feed-worker.ts", import.meta.url), { type: "module" });
  worker.port.onmessage = ({ data }) => (data as readonly FeedNews[]).forEach(hear);
  worker.onerror = alone;
  worker.port.postMessage(keyHeaders());
  const leave = () => worker.port.postMessage("leave");
  // A browser may keep a page that was left, and show it again as it was.
  const comeBack = ({ persisted }: PageTransitionEvent) => persisted && worker.port.postMessage(keyHeaders());
  addEventListener("pagehide", leave);
  addEventListener("pageshow", comeBack);
  return () => {
    leave();
    ending.abort();
    removeEventListener("pagehide", leave);
    removeEventListener("pageshow", comeBack);
  };
}

/**
 * Reads the changed rows of the lists on the screen again, and puts them in their places. Lists that can be told from their rows
 * share one request.
 */
async function refreshRows(client: QueryClient, { tasks, isListChanged }: Pile): Promise<void> {
  if (tasks.size === 0 && !isListChanged) return;
  const ids = [...tasks.keys()];
  // Lists that are not on the screen are read when they are shown again.
  await client.invalidateQueries({ queryKey: ["tasks"], refetchType: "none", type: "inactive" });
  if (isListChanged || ids.length > maxRows) return markStale(client, { queryKey: ["tasks"] });
  const read = (query: ListQuery) =>
    call(routes.listTasks, { query: { ...query, ids: ids.join(","), limit: String(maxRows) } });
  let shared: ReturnType<typeof read> | undefined;
  const lists = client.getQueryCache().findAll({ queryKey: ["tasks"], type: "active" });
  await Promise.all(
    lists.map(async ({ queryKey, state }) => {
      // An answer that is under way would undo the patch.
      if (state.fetchStatus === "fetching") return markStale(client, { queryKey, exact: true });
      const query = queryKey[1] as ListQuery;
      const isShared = isPlain(query);
      if (isShared) shared ??= read({});
      const { tasks: found } = await (isShared && shared !== undefined ? shared : read(query));
      const fresh = isShared ? found.filter((row) => belongsTo(query, row)) : found;
      client.setQueryData<ListData>(queryKey, (data) => {
        if (data === undefined) return data;
        const rows = patchRows(data.tasks, new Set(ids), fresh, query.sort);
        return rows === data.tasks ? data : { ...data, tasks: rows };
      });
    }),
  );
}

/** A task's history is patched: an event never changes. */
function appendEvent(client: QueryClient, event: EventView): void {
  if (event.task === "") return;
  const queryKey = ["task", event.task, "events"];
  if (client.getQueryState(queryKey)?.fetchStatus === "fetching") return void markStale(client, { queryKey });
  client.setQueryData<readonly EventView[]>(queryKey, (events) => withEvent(events, event));
}

/** The list of running agents with a run in its newest state. One that is not in it yet comes with its event. */
function withRun(runs: readonly RunView[] | undefined, run: RunView): readonly RunView[] | undefined {
  if (runs === undefined || !runs.some(({ id }) => id === run.id)) return runs;
  return runs.flatMap((each) => (each.id !== run.id ? [each] : run.activity === "ended" ? [] : [run]));
}

export function withEvent(
  events: readonly EventView[] | undefined,
  event: EventView,
): readonly EventView[] | undefined {
  if (events === undefined || (events.at(-1)?.position ?? 0) >= event.position) return events;
  return [...events, event];
}
