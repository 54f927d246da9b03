import { expect, test } from "vitest";
import { createAnswerCache } from "./client.ts";

const answer = (etag: string) => ({ etag, json: etag, link: "" });

test("a full cache evicts the least recently used answer", () => {
  const cache = createAnswerCache(10);
  cache.put("a", answer("1"), 4);
  cache.put("b", answer("2"), 4);
  cache.get("a");
  cache.put("c", answer("3"), 4);
  expect(["a", "b", "c"].map((path) => cache.get(path)?.etag)).toEqual(["1", undefined, "3"]);
});

test("an answer that replaces another counts once, and an answer that is too large is not cached", () => {
  const cache = createAnswerCache(10);
  cache.put("a", answer("1"), 6);
  cache.put("a", answer("2"), 6);
  cache.put("b", answer("3"), 4);
  expect(cache.get("a")?.etag).toBe("2");
  cache.put("c", answer("4"), 11);
  expect(cache.get("c")).toBeUndefined();
  cache.put("d", answer("5"), 10);
  expect(cache.get("d")?.etag).toBe("5");
  cache.forget("d");
  expect(cache.get("d")).toBeUndefined();
});
