import type { RunView } from "../api/agents.ts";
import { patchRows } from "../api/patch-rows.ts";
import { routes } from "../api/routes.ts";
import type { TaskRow } from "../api/task-lists.ts";
import type { EventView } from "../api/tasks.ts";
import { settled, toldGone, withDetail } from "./place.ts";
import type { Ports } from "./ports.ts";
import type { State } from "./state.ts";

export type Change = (state: State) => State;

interface Shown {
  state(): State;
  /** Changes the state; the next frame shows it. */
  apply(change: Change): void;
  /** Changes the state just before the next frame, once however often this was asked for. */
  later(change: Change): void;
  /** A part of the task under the cursor may be another. */
  onTask(task: string): void;
  onCall(event: EventView): void;
}

/** So many rows of each group are read; more of those that are over when the person scrolls there. */
const pageSize = 200;
const maxIds = 100;
const maxEvents = 500;
/** Rows that changed are read together, at most so often. */
const rowInterval = 250;
const overviewInterval = 1_000;
const quietInterval = 30_000;

/** Keeps what the dashboard shows up to date with the daemon. */
export function createFeed(
  { call, follow }: Ports,
  { state, apply, later, onTask, onCall }: Shown,
  signal: AbortSignal,
) {
  const stale = new Set<string>();
  let live = new Map<string, RunView>();
  let heard: readonly EventView[] = [];
  let overAt: string | number | null = null;

  const applyData = (change: Change) => apply((before) => withDetail(toldGone(before, settled(change(before)))));
  const query = () => {
    const { project, label } = state().filter;
    return { ...(project === undefined ? {} : { project }), ...(label === undefined ? {} : { label }) };
  };
  const put = (fresh: readonly TaskRow[], ids: ReadonlySet<string> = new Set()) =>
    applyData((before) => {
      const tasks = patchRows(before.tasks, ids, fresh);
      return tasks === before.tasks ? before : { ...before, tasks };
    });

  const readCounts = async () => {
    const { project } = state().filter;
    const { all, projects } = await call(routes.countTasks, { query: {} });
    const own = project === undefined ? all : projects.find((each) => each.project === project);
    applyData((before) => ({ ...before, counts: own ?? { ...none }, projects: projects.map((each) => each.project) }));
  };
  const readAll = async () => {
    const groups = ["needs-me", "running", "queued"] as const;
    const pages = await Promise.all(
      groups.map((group) => {
        const sort = group === "needs-me" ? ({ sort: "waiting" } as const) : {};
        return call(routes.listTasks, { query: { ...query(), group, ...sort, limit: String(pageSize) } });
      }),
    );
    const rows = pages.flatMap(({ tasks }) => tasks);
    applyData((before) => {
      const over = before.tasks.filter(({ group }) => group === "over");
      return {
        ...before,
        tasks: patchRows([], new Set(), [...over.filter(({ id }) => !rows.some((row) => row.id === id)), ...rows]),
        isLoaded: true,
      };
    });
  };
  /** A page of those that are over, from the newest on. */
  const readOver = async (isMore: boolean) => {
    if (isMore && overAt === null) return;
    const before = isMore && overAt !== null ? { before: String(overAt) } : {};
    const { tasks, next } = await call(routes.listTasks, {
      query: { ...query(), group: "over", sort: "updated", limit: String(pageSize), ...before },
    });
    overAt = next;
    put(tasks);
    apply((known) => ({ ...known, hasMore: next !== null }));
  };
  const readRuns = async () => {
    const { runs } = await call(routes.listRuns, { query: {} });
    apply((before) => ({ ...before, runs: new Map(runs.map((run) => [run.id, run])) }));
  };
  const readStale = async () => {
    const ids = [...stale].slice(0, maxIds);
    for (const id of ids) stale.delete(id);
    if (ids.length === 0) return;
    const { tasks } = await call(routes.listTasks, {
      query: { ...query(), ids: ids.join(","), limit: String(maxIds) },
    });
    put(tasks, new Set(ids));
    if (stale.size > 0) refreshRows();
  };
  const readTroubles = async () => {
    const [status, { harnesses }] = await Promise.all([call(routes.status), call(routes.listHarnesses, { query: {} })]);
    const problems = [status.savingProblem, status.terminalProblem]
      .filter(({ reason }) => reason !== "")
      .map(({ reason, fix }) => ({ text: reason, command: firstCommand(fix) }));
    const troubles = [
      ...(status.storeProblem === "" ? [] : [{ text: status.storeProblem, command: "signalbox doctor" }]),
      ...problems,
      ...status.configProblems.map((text) => ({ text, command: "signalbox config list" })),
      ...status.budgets.map(({ reason, fix }) => ({ text: reason, command: firstCommand(fix) })),
      ...harnesses.flatMap(({ name, limitedUntil }) =>
        limitedUntil === null
          ? []
          : [
              {
                text: `The limit of ${name} is reached until ${limitedUntil}.`,
                command: `signalbox resume --harness ${name}`,
              },
            ],
      ),
      ...status.calls.channels.flatMap(({ name, problem, undelivered }) =>
        problem === "" && undelivered.length === 0
          ? []
          : [
              {
                text: `${name}: ${problem || `${undelivered.length} calls were not delivered`}`,
                command: "signalbox doctor",
              },
            ],
      ),
    ];
    applyData((before) => ({ ...before, troubles }));
  };
  const readMerges = async () => {
    const { queues, ended } = await call(routes.listMerges, { query: { limit: "100" } });
    applyData((before) => ({ ...before, merges: { queues, ended } }));
  };
  const readUsage = async () => {
    const { project } = state().filter;
    const { rows, total } = await call(routes.listUsage, {
      query: { by: "task", ...(project === undefined ? {} : { project }) },
    });
    const sorted = [...rows].sort((a, b) => b.cost - a.cost || b.outputTokens - a.outputTokens);
    applyData((before) => ({ ...before, usage: { by: "task", rows: sorted, total } }));
  };
  const readEvents = async () => {
    const { events } = await call(routes.listEvents, { query: { before: "end", limit: "200" } });
    applyData((before) => ({ ...before, events: merged(events, before.events) }));
  };
  /** What the screen shows besides tasks. */
  const readScreen = async () => {
    const { screen } = state();
    if (screen === "events") await readEvents();
    if (screen === "problems") await readTroubles();
    if (screen === "merges") await readMerges();
    if (screen === "usage") await readUsage();
  };

  const refreshRows = throttled(rowInterval, readStale, signal);
  const refreshOverview = throttled(
    overviewInterval,
    async () => {
      await Promise.all([readCounts(), state().screen === "events" ? undefined : readScreen()]);
    },
    signal,
  );
  const search = throttled(
    rowInterval,
    async () => {
      const { q } = state().filter;
      if (q.trim() === "") return;
      const { tasks } = await call(routes.listTasks, { query: { ...query(), q, limit: String(pageSize) } });
      put(tasks);
    },
    signal,
  );

  const hear = (event: EventView) => {
    if (event.type === "person.called") onCall(event);
    if (event.task !== "") {
      const { project } = state().filter;
      if (project === undefined || event.project === project) stale.add(event.task);
      refreshRows();
      onTask(event.task);
    } else void readTroubles().catch(() => {});
    refreshOverview();
    heard = [...heard, event].slice(-maxEvents);
    later(withHeard);
  };
  const withHeard: Change = (before) => {
    if (heard.length === 0) return before;
    const events = merged(before.events, heard);
    heard = [];
    return before.screen === "events" ? withDetail(settled({ ...before, events })) : { ...before, events };
  };
  const hearLive = (run: RunView) => {
    live.set(run.id, run);
    later(withLive);
  };
  /** Many live states come between two frames: only the last of each is taken. */
  const withLive: Change = (before) => {
    if (live.size === 0) return before;
    const runs = new Map(before.runs);
    for (const [id, run] of live) {
      if (run.activity === "ended") runs.delete(id);
      else runs.set(id, run);
    }
    live = new Map();
    return { ...before, runs };
  };

  return {
    /** Reads everything, then follows the events until the signal fires. */
    async start() {
      const readEverything = () => Promise.all([readCounts(), readAll(), readRuns(), readTroubles(), readEvents()]);
      await readEverything();
      let isFirst = true;
      const quiet = setInterval(() => refreshOverview(), quietInterval);
      try {
        await follow(
          {
            onEvent: hear,
            onLive: hearLive,
            onConnected() {
              apply((before) => (before.goneSince === undefined ? before : { ...before, goneSince: undefined }));
              // Tasks may have changed between the first reading and the first event that is followed.
              void (isFirst ? Promise.all([readCounts(), readAll()]) : readEverything()).catch(() => {});
              isFirst = false;
            },
            onLost: () =>
              apply((before) => (before.goneSince === undefined ? { ...before, goneSince: Date.now() } : before)),
          },
          signal,
        );
      } finally {
        clearInterval(quiet);
      }
    },
    /** Something may have changed while nothing was drawn. */
    refresh: () => Promise.all([readAll(), readCounts(), readRuns()]),
    /** The list is another after a filter. */
    async again() {
      applyData((before) => ({ ...before, tasks: [], isLoaded: false }));
      await Promise.all([
        readAll(),
        readCounts(),
        state().isUnfolded || state().filter.group === "over" ? readOver(false) : undefined,
      ]);
    },
    readScreen,
    readOver,
    search,
    /** A task that was changed here is read at once. */
    async reread(ids: readonly string[]) {
      for (const id of ids) stale.add(id);
      await readStale();
      await readCounts();
    },
  };
}

const none = { "needs-me": 0, running: 0, queued: 0, over: 0 } as const;

function firstCommand(fix: string): string {
  return /signalbox [^\n]+/.exec(fix)?.[0].replace(/[.;,]$/, "") ?? "";
}

/** Both lists by position, each event once, the newest of them. */
function merged(one: readonly EventView[], other: readonly EventView[]): readonly EventView[] {
  const known = new Map([...one, ...other].map((event) => [event.position, event]));
  return [...known.values()].sort((a, b) => a.position - b.position).slice(-maxEvents);
}

/** Runs `work` soon, at most once in this many milliseconds, and never twice at a time. A failed run is forgotten. */
export function throttled(interval: number, work: () => Promise<unknown>, signal: AbortSignal): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isRunning = false;
  let isWanted = false;
  let last = Number.NEGATIVE_INFINITY;
  const run = async () => {
    timer = undefined;
    isRunning = true;
    isWanted = false;
    last = performance.now();
    // The daemon may be gone; the feed says so.
    await work().catch(() => {});
    isRunning = false;
    if (isWanted) ask();
  };
  const ask = () => {
    isWanted = true;
    if (timer !== undefined || isRunning || signal.aborted) return;
    timer = setTimeout(() => void run(), Math.max(0, last + interval - performance.now()));
  };
  signal.addEventListener("abort", () => clearTimeout(timer));
  return ask;
}
