import type { QueryClient } from "@tanstack/react-query";
import { patchRows } from "../../api/patch-rows.ts";
import { routes } from "../../api/routes.ts";
import type { EventView } from "../../api/tasks.ts";
import { call } from "./client.ts";
import { setDaemonState } from "./daemon-state.ts";
import { createBrowserPorts, type FeedNews, followFeed } from "./event-feed.ts";
import { setLiveRun } from "./live-runs.ts";
import { keyHeaders } from "./page-key.ts";
import type { ListQuery, Row } from "./queries.ts";
import { emptyPile, marksOf, type Pile, withMarks } from "./stale.ts";
import { throttled } from "./throttle.ts";

/** At most four times a second. */
const refreshInterval = 250;
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
      client.invalidateQueries({ queryKey: ["counts"] }),
      ...[...due.others].map((key) => client.invalidateQueries({ queryKey: [key] })),
      ...[...due.tasks].flatMap(([task, parts]) => [
        client.invalidateQueries({ queryKey: ["task", task, "view"] }),
        ...[...parts].map((part) => client.invalidateQueries({ queryKey: ["task", task, part] })),
      ]),
    ]);
  });
  const hear = (news: FeedNews) => {
    switch (news.kind) {
      case "event":
        appendEvent(client, news.event);
        pile = withMarks(pile, marksOf(news.event));
        return refresh();
      case "run":
        return setLiveRun(news.run);
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
  worker.port.onmessage = ({ data }) => hear(data as FeedNews);
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

/** Reads the changed rows of each list on the screen again, all in one request, and puts them in their places. */
async function refreshRows(client: QueryClient, { tasks, isListChanged }: Pile): Promise<void> {
  if (tasks.size === 0 && !isListChanged) return;
  const ids = [...tasks.keys()];
  // Lists that are not on the screen are read when they are shown again.
  await client.invalidateQueries({ queryKey: ["tasks"], refetchType: "none", type: "inactive" });
  if (isListChanged || ids.length > maxRows) return client.invalidateQueries({ queryKey: ["tasks"] });
  const lists = client.getQueryCache().findAll({ queryKey: ["tasks"], type: "active" });
  await Promise.all(
    lists.map(async ({ queryKey }) => {
      const query = queryKey[1] as ListQuery;
      const answer = await call(routes.listTasks, { query: { ...query, ids: ids.join(","), limit: String(maxRows) } });
      client.setQueryData<ListData>(queryKey, (data) => {
        if (data === undefined) return data;
        const rows = patchRows(data.tasks, new Set(ids), answer.tasks, query.sort);
        return rows === data.tasks ? data : { ...data, tasks: rows };
      });
    }),
  );
}

/** A task's history is patched: an event never changes. */
function appendEvent(client: QueryClient, event: EventView): void {
  if (event.task === "") return;
  client.setQueryData<readonly EventView[]>(["task", event.task, "events"], (events) => withEvent(events, event));
}

export function withEvent(
  events: readonly EventView[] | undefined,
  event: EventView,
): readonly EventView[] | undefined {
  if (events === undefined || (events.at(-1)?.position ?? 0) >= event.position) return events;
  return [...events, event];
}
