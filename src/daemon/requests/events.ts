import type { ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import type { Routes } from "../../api/routes.ts";
import { eventTypes } from "../../engine/event-types.ts";
import { nearest } from "../../engine/language/problem.ts";
import { Fault } from "../../fault.ts";
import type { Run } from "../../ports/records.ts";
import type { StoredEvent } from "../../ports/store.ts";
import { findTask } from "../authorise.ts";
import type { Core } from "../core.ts";
import type { Asked, Handler } from "../handlers.ts";
import { eventView } from "../views.ts";
import { wholeNumber } from "../whole-number.ts";
import { followRuns } from "./runs.ts";

interface EventQuery {
  readonly project?: string;
  readonly task?: string;
  readonly agent?: string;
  readonly after?: string;
  readonly type?: string;
  readonly live?: string;
}

const defaultPage = 200;
const maxEvents = 5_000;
/** The store's pages in one answer: about eight megabytes. */
const maxPages = 8;

export function listEvents(core: Core): Handler<Routes["listEvents"]> {
  return async (asked) => {
    const { after: from, before } = asked.query;
    const limit = wholeNumber("limit", asked.query.limit, 1, maxEvents) ?? defaultPage;
    if (before !== undefined && from !== undefined)
      throw new Fault("request.invalid", '"after" and "before" cannot be given together.', {
        hint: "Give one: after= lists the oldest first, before= the newest first.",
      });
    const isBack = before !== undefined;
    const { filter, passes } = await selection(core, asked);
    const events: StoredEvent[] = [];
    let last = isBack
      ? ((before === "end" ? undefined : wholeNumber("before", before, 0)) ?? Number.MAX_SAFE_INTEGER)
      : (wholeNumber("after", from, 0) ?? 0);
    // A page of the store may contain no event that passes the filter. Pages of large events end early, and so does
    // the answer.
    for (let pages = 1; events.length < limit; pages++) {
      const page = isBack
        ? await core.store.listEventsBefore(filter, last, limit)
        : await core.store.listEvents(filter, last, limit);
      events.push(...page.filter(passes).slice(0, limit - events.length));
      if (isBack && page.length === 0) last = 0;
      if (page.length === 0) break;
      last = events.length === limit ? (events.at(-1)?.position ?? last) : (page.at(-1)?.position ?? last);
      if (pages >= maxPages && events.length > 0) break;
      // Events of rare types may be far apart; reading what is between them must not block other work.
      await turn();
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
  const isMeant = typeFilter(query.type);
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
    (agent === undefined || event.by === agent || event.data.run === agent || event.data.role === agent) &&
    isMeant(event.type);
  const meansRun = (run: Run) =>
    (task === undefined || run.task === task) &&
    (project === undefined || run.project === project) &&
    (agent === undefined || run.key === agent || run.role === agent);
  return { filter, passes, meansRun };
}

/** `task.moved,agent.*`: types, and prefixes that end with `.*`. Each must be known, so that no typing error hides events. */
function typeFilter(given: string | undefined): (type: string) => boolean {
  const wanted = (given ?? "").split(",").flatMap((each) => each.trim() || []);
  if (wanted.length === 0) return () => true;
  const known = Object.keys(eventTypes);
  const families = [...new Set(known.map((type) => `${type.slice(0, type.indexOf("."))}.*`))];
  for (const each of wanted) {
    if (known.includes(each) || families.includes(each)) continue;
    const close = nearest(each, [...known, ...families]);
    throw new Fault("request.invalid", `There are no events of the type "${each}".`, {
      hint: close === undefined ? "docs/events.md lists all." : `Did you mean "${close}"?`,
    });
  }
  return (type) => wanted.some((each) => (each.endsWith(".*") ? type.startsWith(each.slice(0, -1)) : type === each));
}
