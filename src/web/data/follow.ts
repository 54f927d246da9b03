import type { QueryClient } from "@tanstack/react-query";
import type { EventView } from "../../api/tasks.ts";
import { Fault } from "../../fault.ts";
import { routes } from "../../api/routes.ts";
import { call } from "./client.ts";
import { setDaemonState } from "./daemon-state.ts";
import { createBrowserPorts, type FeedNews, followFeed } from "./event-feed.ts";
import { setLiveRun } from "./live-runs.ts";
import { type FreshRows, patchRows } from "./patch-rows.ts";
import type { ListQuery, Row } from "./queries.ts";
import { keyHeaders } from "./page-key.ts";
import { emptyPile, marksOf, type Pile, withMarks } from "./stale.ts";
import { throttled } from "./throttle.ts";

/** At most four times a second. */
const refreshInterval = 250;
/** More tasks than this are read as a list. */
const maxSingleRows = 8;

interface ListData {
  readonly tasks: readonly Row[];
  readonly next: number | null;
}

/** Keeps the cache up to date with the daemon's events. Returns what ends it. */
export function followDaemon(client: QueryClient): () => void {
  let pile: Pile = emptyPile;
  const refresh = throttled(refreshInterval, async () => {
    const due = pile;
    pile = emptyPile;
    await Promise.all([
      refreshRows(client, due),
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
        return void client.invalidateQueries(news.isFresh ? {} : { predicate: ({ state }) => state.status === "error" });
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

/** Reads the changed rows that some list shows again, and puts them where they belong. */
async function refreshRows(client: QueryClient, { tasks, isListChanged }: Pile): Promise<void> {
  const lists = client.getQueryCache().findAll({ queryKey: ["tasks"], type: "active" });
  if (lists.length === 0 || (tasks.size === 0 && !isListChanged)) {
    await client.invalidateQueries({ queryKey: ["tasks"], type: "inactive", refetchType: "none" });
    return;
  }
  const changed = [...tasks.keys()];
  if (isListChanged || changed.length > maxSingleRows) {
    await client.invalidateQueries({ queryKey: ["tasks"] });
    return;
  }
  const fresh: FreshRows = new Map(await Promise.all(changed.map(async (id) => [id, await readRow(id)] as const)));
  for (const { queryKey } of lists)
    client.setQueryData<ListData>(queryKey, (data) => {
      if (data === undefined) return data;
      const rows = patchRows(data.tasks, queryKey[1] as ListQuery, fresh);
      return rows === data.tasks ? data : { ...data, tasks: rows };
    });
  await client.invalidateQueries({ queryKey: ["tasks"], type: "inactive", refetchType: "none" });
}

async function readRow(id: string): Promise<Row | undefined> {
  try {
    return (await call(routes.getTask, { params: { task: id } })).task;
  } catch (error) {
    if (error instanceof Fault && error.code.endsWith("not-found")) return undefined;
    throw error;
  }
}

/** A task's history is patched: an event never changes. */
function appendEvent(client: QueryClient, event: EventView): void {
  if (event.task === "") return;
  client.setQueryData<readonly EventView[]>(["task", event.task, "events"], (events) => withEvent(events, event));
}

export function withEvent(events: readonly EventView[] | undefined, event: EventView): readonly EventView[] | undefined {
  if (events === undefined || (events.at(-1)?.position ?? 0) >= event.position) return events;
  return [...events, event];
}
