import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { EventView } from "../../src/api/tasks.ts";
import type { TaskEvent } from "../../src/engine/decision.ts";
import { bearer, type Door } from "./http.ts";
import { newRepository, removeHomes, type Stage, startStage } from "./stage.ts";

let stage: Stage;
const ids: Record<string, string> = {};

beforeAll(async () => {
  stage = await startStage();
  for (const project of ["coffee", "tea"]) {
    await stage.ask("/v1/projects", { json: { name: project, path: newRepository(stage.home, project) } });
    for (const branch of ["strong", "mild"]) {
      const body = { project, workflow: "brew", summary: "Brew", branch };
      const { json } = await stage.ask("/v1/tasks", { json: body });
      ids[`${project} ${branch}`] = json.task.id;
      await stage.settled(json.task.id);
    }
  }
});
const open: Follower[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.stop();
});
afterAll(async () => {
  expect(stage.complaints).toEqual([]);
  await stage.close();
  removeHomes();
});

interface Follower {
  readonly events: readonly EventView[];
  readonly ids: readonly string[];
  readonly comments: readonly string[];
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>;
  has(count: number): Promise<void>;
  stop(): void;
}

/** Follows the event feed like a browser. */
async function follow(query = "", headers: Record<string, string> = {}, door: Door = stage.socket): Promise<Follower> {
  const events: EventView[] = [];
  const seen: string[] = [];
  const comments: string[] = [];
  let rest = "";
  const take = (chunk: string) => {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      if (block.startsWith(":")) comments.push(block);
      else {
        const [, id = "", type = "", data = ""] = /^id: (\d+)\nevent: (\S+)\ndata: (.*)$/.exec(block) ?? [];
        seen.push(id);
        events.push(JSON.parse(data));
        expect(events.at(-1)).toMatchObject({ position: Number(id), type });
      }
    }
  };
  const where =
    "socket" in door ? { socketPath: door.socket } : { host: "127.0.0.1", port: door.address.split(":")[1] };
  const asking = request({
    ...where,
    agent: false,
    path: `/v1/stream${query}`,
    headers: { ...bearer(stage.human), ...headers },
  });
  asking.on("error", () => {});
  asking.end();
  const closed = Promise.withResolvers<void>();
  await new Promise<void>((resolve, reject) =>
    asking.on("response", (response) => {
      const { "content-type": type } = response.headers;
      if (type !== "text/event-stream") reject(new Error(`The answer is ${type}.`));
      response.setEncoding("utf8").on("data", (chunk) => {
        take(chunk);
        resolve();
      });
      response.on("error", () => {}).on("close", closed.resolve);
    }),
  );
  const follower = {
    events,
    ids: seen,
    comments,
    closed: closed.promise,
    has: (count: number) => expect.poll(() => events.length, { timeout: 90_000 }).toBeGreaterThanOrEqual(count),
    stop: () => asking.destroy(),
  };
  open.push(follower);
  return follower;
}

const edit = (task: string, summary: string) =>
  stage.ask(`/v1/tasks/${ids[task]}`, { method: "PATCH", json: { summary } });

/** Adds this many events to the history of a task. */
async function addEvents(task: string, count: number, size = 10): Promise<void> {
  const event = { type: "task.attended" as const, by: "human", data: { text: "x".repeat(size) }, set: {} };
  const batch = 100;
  for (let left = count; left > 0; left -= batch) {
    await stage.core.store.addEvents(
      ids[task] ?? "",
      Array.from({ length: Math.min(left, batch) }, () => event),
      1,
    );
  }
}

const positions = ({ events }: Follower) => events.map(({ position }) => position);

/** The positions of all stored events after one. */
async function storedAfter(position: number): Promise<readonly number[]> {
  const found: number[] = [];
  for (let last = position; ; ) {
    const page = await stage.core.store.listEvents({}, last, 1_000);
    found.push(...page.map((event) => event.position));
    last = page.at(-1)?.position ?? last;
    if (page.length === 0) return found;
  }
}

describe("a stream", () => {
  test("begins with its position, and sends each event as it comes, with its position as id", async () => {
    const last = await stage.core.store.lastEvent();
    const follower = await follow();
    expect(follower.comments).toEqual([`: from ${last}`]);
    await edit("coffee mild", "One");
    await edit("coffee mild", "Two");
    await follower.has(2);
    expect(follower.ids).toEqual((await storedAfter(last)).map(String));
    expect(follower.events[0]).toMatchObject({ type: "task.edited", by: "human", project: "coffee" });
  });

  test("comes over TCP with a token", async () => {
    const follower = await follow("", {}, stage.tcp);
    await edit("coffee mild", "Three");
    await follower.has(1);
    expect(follower.events).toHaveLength(1);
  });

  test("begins after `after`, or after Last-Event-ID, which counts more", async () => {
    const last = await stage.core.store.lastEvent();
    expect((await follow("?after=0")).comments).toEqual([": from 0"]);
    const follower = await follow("?after=0", { "last-event-id": String(last - 2) });
    await follower.has((await storedAfter(last - 2)).length);
    expect(positions(follower)).toEqual(await storedAfter(last - 2));
  });

  test("contains only the requested events: of a project, a task, an agent", async () => {
    const byProject = await follow("?project=tea");
    const byTask = await follow("?task=strong&project=coffee");
    const byAgent = await follow("?agent=worker");
    const byRun = await follow(`?agent=${encodeURIComponent("worker#7")}`);
    await edit("tea mild", "Green");
    await edit("coffee strong", "Darker");
    await edit("tea strong", "Black");
    const ended = { type: "agent.ended" as const, by: "worker", data: { run: "worker#7", word: "ok" }, set: {} };
    await stage.core.store.addEvents(ids["coffee mild"] ?? "", [ended, { ...ended, data: { run: "worker#8" } }], 1);
    await Promise.all([byProject.has(2), byTask.has(1), byAgent.has(2), byRun.has(1)]);
    await sleep(50);
    expect(byProject.events.map(({ task }) => task)).toEqual([ids["tea mild"], ids["tea strong"]]);
    expect(byTask.events.map(({ task }) => task)).toEqual([ids["coffee strong"]]);
    expect(byAgent.events.map(({ type }) => type)).toEqual(["agent.ended", "agent.ended"]);
    expect(byRun.events.map(({ data }) => data.run)).toEqual(["worker#7"]);
  });

  test("carries everything of a pipeline: by project and task all of it, by role and run what the agent did", async () => {
    const by = (role: string, type: TaskEvent["type"], data: object) =>
      ({ type, by: role, data, set: {} }) as unknown as TaskEvent;
    const judge = { run: "judge#9" };
    const events = [
      by("analyst", "work.completed", { run: "analyst#1", outcome: "done" }),
      by("analyst", "stage.messaged", { run: "analyst#1", to: "all", text: "Mind the cup." }),
      by("judge", "panel.answered", { ...judge, word: "ok" }),
      by("judge", "finding.reviewed", { ...judge, round: 1 }),
      by("engine", "pr.commented", { number: 1, round: 1 }),
      by("human", "finding.approved", { findings: ["F1"] }),
      by("human", "finding.dismissed", { findings: ["F2"] }),
      by("engine", "tests.ended", { commit: "c0ffee", word: "ok" }),
    ];
    const task = ids["coffee strong"] ?? "";
    const queries = ["project=coffee", `task=${task}`, "agent=judge", "agent=judge%239", "agent=analyst%231"];
    const last = await stage.core.store.lastEvent();
    const followers = await Promise.all(queries.map((query) => follow(`?${query}`)));
    await stage.core.store.addEvents(task, events, 1);
    await Promise.all(followers.map((each, index) => each.has(index < 2 ? events.length : 2)));
    await sleep(50);
    const all = events.map(({ type }) => type);
    const ofJudge = ["panel.answered", "finding.reviewed"];
    const expected = [all, all, ofJudge, ofJudge, ["work.completed", "stage.messaged"]];
    expect(followers.map((each) => each.events.map(({ type }) => type))).toEqual(expected);
    const listed = await Promise.all(queries.map((query) => stage.ask(`/v1/events?${query}&after=${last}`)));
    expect(listed.map(({ json }) => json.events.map(({ type }: EventView) => type))).toEqual(expected);
  });

  test("has no gaps and no duplicates, wherever it begins while events keep coming", async () => {
    await addEvents("coffee mild", 3_000);
    let isWriting = true;
    const writing = (async () => {
      while (isWriting) {
        await addEvents("tea mild", 3);
        await sleep(0);
      }
    })();
    const followers: [number, Follower][] = [];
    for (const from of [0, 2_999, 10, 700, 1_500, 0, 2_000, 1, 2_600]) {
      followers.push([from, await follow("", { "last-event-id": String(from) })]);
      await sleep(3);
    }
    await sleep(100);
    isWriting = false;
    await writing;
    const last = await stage.core.store.lastEvent();
    for (const [from, follower] of followers) {
      await expect.poll(() => follower.events.at(-1)?.position, { timeout: 90_000 }).toBe(last);
      expect(positions(follower)).toEqual(await storedAfter(from));
    }
  });

  test("is resumed after the last event when the daemon is back", async () => {
    const first = await follow();
    await edit("tea mild", "White");
    await first.has(1);
    const [id = ""] = first.ids;
    const { home } = stage;
    await stage.close();
    await first.closed;
    stage = await startStage({ home });
    await edit("tea mild", "Yellow");
    const second = await follow("", { "last-event-id": id });
    await edit("tea mild", "Red");
    await second.has(2);
    // The daemon may add events of its own after its start.
    await vi.waitFor(async () => expect(positions(second)).toEqual(await storedAfter(Number(id))));
  });
});

describe("a client", () => {
  test("that reads gets a whole history, however long", async () => {
    const from = await stage.core.store.lastEvent();
    await addEvents("coffee mild", 6_000, 1_000);
    const follower = await follow("", { "last-event-id": String(from) });
    await follower.has(6_000);
    expect(positions(follower)).toEqual(await storedAfter(from));
  });

  test("that never reads is dropped, blocks no other, and does not fill the memory", async () => {
    const { home } = stage;
    await stage.close();
    stage = await startStage({ home, haste: 10 });
    const deaf = await connectDeaf();
    const other = await follow();
    const from = await stage.core.store.lastEvent();
    const before = usedMemory();
    for (let i = 0; i < 20; i++) {
      await addEvents("coffee mild", 100, 10_000);
      await other.has((i + 1) * 100);
    }
    expect(positions(other)).toEqual(await storedAfter(from));
    (other.events as EventView[]).length = 0;
    expect(usedMemory() - before).toBeLessThan(15 * 1024 * 1024);
    // Of 20 MB it gets only the buffered part.
    expect(await readToEnd(deaf)).toBeLessThan(4 * 1024 * 1024);
  });
});

describe("clients that never read", () => {
  test("neither freeze the daemon nor stay, whatever the size of old events", async () => {
    const { home } = stage;
    await stage.close();
    stage = await startStage({ home, haste: 5 });
    const from = await stage.core.store.lastEvent();
    // A history of 90 MB, as refused requests could once leave it.
    for (let i = 0; i < 10; i++) await addEvents("tea strong", 10, 900_000);
    const closed = Promise.withResolvers<void>();
    let left = 8;
    const delays = monitorEventLoopDelay({ resolution: 10 });
    delays.enable();
    for (let i = 0; i < 8; i++) {
      const deaf = await connectDeaf(`?after=${from}`);
      deaf.on("close", () => --left === 0 && closed.resolve());
      // The kernel reports the end of a connection only to a reader.
      void sleep(4_000).then(() => deaf.resume());
    }
    for (let i = 0; i < 30; i++) {
      const began = performance.now();
      expect((await stage.ask("/v1/health", { token: "" })).status).toBe(200);
      expect(performance.now() - began).toBeLessThan(2_000);
      await sleep(100);
    }
    await closed.promise;
    delays.disable();
    expect(delays.max / 1e6).toBeLessThan(2_000);
    // A client that reads still gets every event.
    const newest = (await stage.core.store.lastEvent()) - 5;
    const reader = await follow("", { "last-event-id": String(newest) });
    await reader.has(5);
    expect(positions(reader)).toEqual(await storedAfter(newest));
  });

  test("are refused when too many are connected, and others are served again when they have gone", async () => {
    const many = await Promise.all(Array.from({ length: 100 }, () => follow()));
    const { status, json } = await stage.ask("/v1/stream");
    expect([status, json.error.code]).toEqual([503, "daemon.busy"]);
    for (const each of many) each.stop();
    await expect.poll(async () => (await follow().catch(() => undefined)) !== undefined).toBe(true);
  });

  test("do not keep a page of the event list from ending early", async () => {
    const { events, last } = (await stage.ask("/v1/events?limit=5000")).json;
    expect(JSON.stringify(events).length).toBeLessThan(12 * 1024 * 1024);
    const rest = (await stage.ask(`/v1/events?limit=5000&after=${last}`)).json;
    expect(rest.events[0].position).toBeGreaterThan(events.at(-1).position);
  });
});

/** Requests the stream and then reads nothing. */
function connectDeaf(query = ""): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(stage.places.socket, () => {
      socket.pause();
      const head = [`GET /v1/stream${query} HTTP/1.1`, "host: localhost", `authorization: Bearer ${stage.human}`];
      socket.write(`${head.join("\r\n")}\r\n\r\n`, () => resolve(socket));
    });
    socket.on("error", () => {});
  });
}

/** The number of bytes that still come until the server closes the connection. */
function readToEnd(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    let bytes = 0;
    socket.on("data", (chunk) => {
      bytes += chunk.length;
    });
    socket.on("close", () => resolve(bytes));
    socket.resume();
  });
}

function usedMemory(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
