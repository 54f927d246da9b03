import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import type { Core } from "../core.ts";
import { whyNotYet } from "./give-ticket.ts";

const { task } = sampleTask("t1")(1);

async function why(seen: { waiting?: string; paused?: string; waits?: boolean; full?: boolean }) {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  const agents = { dispatch: { whyWaiting: () => seen.waiting }, pauses: { why: () => seen.paused } };
  const scheduler = { waits: () => seen.waits ?? false, isFull: async () => seen.full ?? false };
  return whyNotYet({ store, agents, scheduler } as unknown as Core, task);
}

test("for an agent that waits for a seat or a provider, the reason is that wait", async () => {
  expect(await why({ waiting: "The limit is used up." })).toBe("The limit is used up.");
});

test("for an agent whose task waits for a slot, the reason is a pause or a full pool", async () => {
  expect(await why({ waits: true, paused: "It is paused.", full: true })).toBe("It is paused.");
  expect(await why({ waits: true, full: true })).toMatch(/^All \d+ slots of coffee are taken by tasks/);
});

test("there is no reason for an agent that is about to start, and a pause does not hold up one that has started", async () => {
  expect(await why({ waits: true })).toBe("");
  expect(await why({ paused: "It is paused.", full: true })).toBe("");
});
