import { expect, onTestFinished, test, vi } from "vitest";
import type { EventView } from "../../api/tasks.ts";
import { type FeedNews, followFeed } from "./event-feed.ts";

const event = (position: number): EventView => ({
  ...{ position, task: "k2m4p", project: "coffee", revision: position, type: "task.moved", by: "engine", data: {} },
  at: "2026-11-15T14:05:09.120Z",
});
const written = (each: EventView) => `id: ${each.position}\nevent: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`;

/** A daemon that answers each connection with the next of these, and then is followed no more. */
async function follow(...answers: readonly (Response | Error)[]) {
  const paths: string[] = [];
  const delays: number[] = [];
  const news: FeedNews[] = [];
  const ending = new AbortController();
  const ports = {
    async fetch(path: string) {
      paths.push(path);
      const answer = answers[paths.length - 1];
      if (answer === undefined) ending.abort();
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error("over");
      return answer;
    },
    credentials: () => ({}),
    sleep: async (ms: number) => void delays.push(ms),
  };
  await followFeed(ports, (each) => news.push(each), ending.signal);
  const events = news.flatMap((each) => (each.kind === "event" ? [each.event.position] : []));
  return { paths, delays, news, events };
}

const stream = (from: number, ...events: readonly EventView[]) =>
  new Response(`: from ${from}\n\n${events.map(written).join("")}`, { headers: { "signalbox-version": "0.1.0" } });

test("a stream that breaks is resumed after its last event: nothing is missing, and nothing comes twice", async () => {
  const { paths, events, news } = await follow(
    stream(3, event(4), event(5)),
    new TypeError("refused"),
    stream(5, event(5), event(6), event(7)),
  );
  expect(events).toEqual([4, 5, 6, 7]);
  expect(paths.map((path) => path.split("after=")[1])).toEqual([undefined, "5", "5", "7"]);
  expect(news.filter(({ kind }) => kind === "live")).toMatchObject([{ isFresh: true }, { isFresh: false }]);
});

test("a daemon that is gone is asked less and less often, and at once again after it has answered", async () => {
  const gone = Array.from({ length: 6 }, () => new TypeError("refused"));
  const { delays } = await follow(...gone, stream(1), new TypeError("refused"));
  expect(delays).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 250, 500]);
});

test("without a session the feed ends, and says so", async () => {
  const { news, paths } = await follow(new Response("{}", { status: 401 }));
  expect(news).toEqual([{ kind: "signed-out" }]);
  expect(paths.length).toBe(1);
});

test("a position that the daemon does not know, as after a restored backup, is a fresh start", async () => {
  const { news, events } = await follow(stream(8, event(9)), new Response("{}", { status: 400 }), stream(2, event(3)));
  expect(news.filter(({ kind }) => kind === "live")).toMatchObject([{ isFresh: true }, { isFresh: true }]);
  expect(events).toEqual([9, 3]);
});

test("a stream that begins before what was seen, as after a restored backup, is a fresh start whose events are all told", async () => {
  const { news, events } = await follow(stream(8, event(9)), stream(2, event(3), event(9)));
  expect(events).toEqual([9, 3, 9]);
  expect(news.filter(({ kind }) => kind === "live")).toMatchObject([{ isFresh: true }, { isFresh: true }]);
});

test("a connection that says nothing for forty seconds is dead: the page is told, and it is opened again", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const encoder = new TextEncoder();
  const say = { more: (_: string) => {} };
  const signals: AbortSignal[] = [];
  const news: FeedNews["kind"][] = [];
  const ending = new AbortController();
  const ports = {
    /** A stream that stays open until it is aborted, as one to a machine that has gone to sleep. */
    async fetch(_: string, { signal }: { signal: AbortSignal }) {
      signals.push(signal);
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          say.more = (text) => controller.enqueue(encoder.encode(text));
          signal.addEventListener("abort", () => controller.error(new Error("aborted")));
        },
      });
      say.more(": from 1\n\n");
      return new Response(body);
    },
    credentials: () => ({}),
    sleep: async () => {},
  };
  const over = followFeed(ports, ({ kind }) => news.push(kind), ending.signal);
  await vi.advanceTimersByTimeAsync(30_000);
  // The daemon's comments keep it alive.
  say.more(": still here\n\n");
  await vi.advanceTimersByTimeAsync(39_000);
  expect([news, signals.length]).toEqual([["live"], 1]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect([news, signals.map(({ aborted }) => aborted)]).toEqual([
    ["live", "gone", "live"],
    [true, false],
  ]);
  ending.abort();
  await over;
});
