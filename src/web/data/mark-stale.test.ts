import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { markStale } from "./mark-stale.ts";

/** A query on the screen, whose answers come when the test gives them. */
function onScreen() {
  const client = new QueryClient({
    defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY, retry: false } },
  });
  const waiting: ((answer: string) => void)[] = [];
  const queryFn = () => new Promise<string>((resolve) => waiting.push(resolve));
  const observer = new QueryObserver(client, { queryKey: ["task", "a"], queryFn });
  const shown = () => observer.getCurrentResult().data;
  const close = observer.subscribe(() => {});
  return { client, shown, close, reads: () => waiting.length, answer: (text: string) => waiting.at(-1)?.(text) };
}

test("a first answer that may be older than an event is read again", async () => {
  const { client, shown, close, reads, answer } = onScreen();
  const marked = markStale(client, { queryKey: ["task"] });
  const twice = markStale(client, { queryKey: ["task", "a"] });
  answer("before the event");
  await expect.poll(reads).toBe(2);
  answer("after the event");
  await Promise.all([marked, twice]);
  expect([shown(), reads()]).toEqual(["after the event", 2]);
  close();
});

test("an answer that comes after its screen was left counts as stale if an event came meanwhile", async () => {
  const { client, shown, close, reads, answer } = onScreen();
  answer("first");
  await expect.poll(shown).toBe("first");
  void markStale(client, { queryKey: ["task"] });
  await expect.poll(reads).toBe(2);
  close();
  const marked = markStale(client, { queryKey: ["task"] });
  answer("before the event");
  await marked;
  expect(client.getQueryState(["task", "a"])).toMatchObject({ data: "before the event", isInvalidated: true });
});

test("what was read already is read once, and what is not on the screen not at all", async () => {
  const { client, shown, close, reads, answer } = onScreen();
  answer("first");
  await expect.poll(shown).toBe("first");
  const marked = markStale(client, { queryKey: ["task"] });
  await expect.poll(reads).toBe(2);
  answer("second");
  await marked;
  expect(shown()).toBe("second");
  close();
  await markStale(client, { queryKey: ["task"] });
  expect(reads()).toBe(2);
});
