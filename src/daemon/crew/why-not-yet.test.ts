import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../adapters/store/memory.ts";
import type { Core } from "../core.ts";
import { whyNotYet } from "./why-not-yet.ts";

const { task } = sampleTask("t1")(1);

async function why(seen: { waiting?: string; paused?: string; waits?: boolean; full?: boolean }) {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  const agents = { dispatch: { whyWaiting: () => seen.waiting }, pauses: { why: () => seen.paused } };
  const scheduler = { waits: () => seen.waits ?? false, isFull: async () => seen.full ?? false };
  return whyNotYet({ store, agents, scheduler } as unknown as Core, task);
}

test("an agent whose program waits for room, or for a provider, is told why", async () => {
  expect(await why({ waiting: "The limit is used up." })).toBe("The limit is used up.");
});

test("one whose task waits for a slot is told of a pause, or of a pool that is full", async () => {
  expect(await why({ waits: true, paused: "It is paused.", full: true })).toBe("It is paused.");
  expect(await why({ waits: true, full: true })).toMatch(/^All workspaces of coffee are taken \(\d+\)\.$/);
});

test("nothing is in the way of one that is about to begin, nor a pause in that of one that has begun", async () => {
  expect(await why({ waits: true })).toBe("");
  expect(await why({ paused: "It is paused.", full: true })).toBe("");
});
