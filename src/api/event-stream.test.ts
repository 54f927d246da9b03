import { expect, test } from "vitest";
import { createEventReader } from "./event-stream.ts";

const text = [
  ": from 41\n\n",
  'id: 42\nevent: task.created\ndata: {"position":42,"text":"schön 👋\\u2028"}\n\n',
  ": \n\n",
  'event: live\ndata: {"key":"worker#1"}\n\n',
  'id: 43\nevent: task.moved\ndata: {"position":43}\n\n',
].join("");

test.each([1, 2, 3, 7, 10_000])("events are read from pieces of %i bytes", (size) => {
  const told: unknown[] = [];
  const read = createEventReader({
    onBegin: (position) => told.push(position),
    onEvent: (event) => told.push(event),
    onLive: (run) => told.push(run),
  });
  const bytes = new TextEncoder().encode(text);
  for (let start = 0; start < bytes.length; start += size) read(bytes.subarray(start, start + size));
  expect(told).toEqual(["41", { position: 42, text: "schön 👋\u2028" }, { key: "worker#1" }, { position: 43 }]);
});

test("an event of many megabytes is read, and half an event at the end is ignored", () => {
  const told: unknown[] = [];
  const read = createEventReader({ onEvent: (event) => told.push(event) });
  const long = "x".repeat(8 * 1024 ** 2);
  const bytes = new TextEncoder().encode(`data: {"position":1,"text":"${long}"}\n\ndata: {"position"`);
  for (let start = 0; start < bytes.length; start += 65_536) read(bytes.subarray(start, start + 65_536));
  expect(told).toEqual([{ position: 1, text: long }]);
});
