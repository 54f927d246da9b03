import type { ServerResponse } from "node:http";
import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import type { Run } from "../../ports/records.ts";
import type { StoredEvent } from "../../ports/store.ts";
import { findTask } from "../authorise.ts";
import type { Core } from "../core.ts";
import type { Asked, Handler } from "../handlers.ts";
import { eventView } from "../views.ts";
import { followRuns } from "./runs.ts";
import { wholeNumber } from "./tasks.ts";

interface EventQuery {
  readonly project?: string;
  readonly task?: string;
  readonly agent?: string;
  readonly after?: string;
  readonly live?: string;
}

const defaultPage = 200;
const maxEvents = 5_000;
/** The store's pages in one answer: about eight megabytes. */
const maxPages = 8;

export function listEvents(core: Core): Handler<Routes["listEvents"]> {
  return async (asked) => {
    const limit = wholeNumber("limit", asked.query.limit, 1, maxEvents) ?? defaultPage;
    const after = wholeNumber("after", asked.query.after, 0) ?? 0;
    const { filter, passes } = await selection(core, asked);
    const events: StoredEvent[] = [];
    let last = after;
    // A page of the store may contain no event that passes the filter. Pages of large events end early, and so does
    // the answer.
    for (let pages = 1; events.length < limit; pages++) {
      const page = await core.store.listEvents(filter, last, limit);
      events.push(...page.filter(passes).slice(0, limit - events.length));
      if (page.length === 0) break;
      last = events.length === limit ? (events.at(-1)?.position ?? last) : (page.at(-1)?.position ?? last);
      if (pages >= maxPages && events.length > 0) break;
    }
    return { events: events.map(eventView), last };
  };
}

// Proxies and browsers close silent connections.
const heartbeat = 15_000;
/** How much is buffered for a client that reads more slowly than events come, and how long it may read nothing then. */
const maxBuffered = 1024 * 1024;
const stallTimeout = 10_000;
const maxStreams = 100;

/**
 * Server-sent events. The id of each is its position in the event feed. A client that does not read is cut off: it can
 * reconnect from the last event it received.
 */
export function streamEvents(core: Core) {
  let streams = 0;
  return async (asked: Asked<EventQuery, unknown>, response: ServerResponse): Promise<undefined> => {
    const { passes, meansRun } = await selection(core, asked);
    const after =
      wholeNumber("Last-Event-ID", asked.lastEvent, 0) ??
      wholeNumber("after", asked.query.after, 0) ??
      (await core.store.lastEvent());
    if (streams >= maxStreams)
      throw new Fault("daemon.busy", `${maxStreams} clients already follow the event feed.`, {
        retry: "later",
        hint: "End some of them, and try again.",
      });
    streams++;
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    // Tells the client that it is connected, and from which position.
    response.write(`: from ${after}\n\n`);
    let cancelStall = () => {};
    const following = core.eventFeed.follow(after, passes, (event) => {
      const data = JSON.stringify(eventView(event));
      response.write(`id: ${event.position}\nevent: ${event.event.type}\ndata: ${data}\n\n`);
      if (response.writableLength < maxBuffered) return true;
      cancelStall = core.clock.after(stallTimeout, () => response.destroy());
      return false;
    });
    const stopRuns =
      asked.query.live === "true" && core.agents !== undefined
        ? followRuns(core, core.agents, meansRun, (run) => {
            // A client that reads slowly skips live views; the next change sends a new one.
            if (!response.writableNeedDrain) response.write(`event: live\ndata: ${JSON.stringify(run)}\n\n`);
          })
        : () => {};
    let isStalled = false;
    response.on("drain", () => {
      isStalled = false;
      cancelStall();
      following.resume();
    });
    const beat = () => {
      // The client has read nothing for a whole heartbeat.
      if (isStalled) return response.destroy();
      isStalled = response.writableNeedDrain;
      if (!isStalled) response.write(": \n\n");
      cancel = core.clock.after(heartbeat, beat);
    };
    let cancel = core.clock.after(heartbeat, beat);
    response.on("close", () => {
      streams--;
      cancelStall();
      cancel();
      stopRuns();
      following.end();
    });
    return undefined;
  };
}

/** The filters of a query. An agent is named by its role or by its run. */
async function selection(core: Core, { query, caller, folder }: Asked<EventQuery, unknown>) {
  const { project, agent } = query;
  // A run sees the events of its own task only.
  const reference = query.task ?? (caller.kind === "run" ? "." : undefined);
  const about = { params: { task: reference ?? "" }, caller, folder, body: {}, lastEvent: "" };
  const task =
    reference === undefined
      ? undefined
      : (await findTask(core, { ...about, query: project === undefined ? {} : { project } })).task.id;
  const filter = { ...(project === undefined ? {} : { project }), ...(task === undefined ? {} : { task }) };
  const passes = ({ task: of, project: from, event }: StoredEvent) =>
    (task === undefined || of === task) &&
    (project === undefined || from === project) &&
    (agent === undefined || event.by === agent || event.data.run === agent || event.data.role === agent);
  const meansRun = (run: Run) =>
    (task === undefined || run.task === task) &&
    (project === undefined || run.project === project) &&
    (agent === undefined || run.key === agent || run.role === agent);
  return { filter, passes, meansRun };
}
