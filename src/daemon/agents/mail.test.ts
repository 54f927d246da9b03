import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import type { Run } from "../../ports/records.ts";
import { createMail, type MailPorts } from "./messages.ts";

const run = { id: "t1/worker#1", project: "coffee", task: "t1", key: "worker#1" } as Run;

test("a message that is sent again with the same key after a crash is delivered once", async () => {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("t1"));
  const ports = { store, clock: { now: () => 0, after: () => () => {} }, watchOf: () => undefined, rouse: () => {} };
  const mail = createMail(ports as unknown as MailPorts);
  for (const key of ["t1:1", "t1:1", "t1:2"]) await mail.tell(run, `For ${key}.`, key);
  expect((await store.messages.list({})).map(({ text }) => text)).toEqual(["For t1:1.", "For t1:2."]);
  const told = (await store.listEvents({ task: "t1" }, 0, 100)).filter(({ event }) => event.type === "message.sent");
  expect(told).toHaveLength(2);
});

test("a message that was not delivered before its run ended is marked as undelivered, and is delivered to no later run", async () => {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("t1"));
  const ports = { store, clock: { now: () => 0, after: () => () => {} }, watchOf: () => undefined, rouse: () => {} };
  const mail = createMail(ports as unknown as MailPorts);
  const other = { ...run, id: "t1/reviewer#1", key: "reviewer#1" };
  await mail.tell(run, "Go on.", "t1:1");
  await mail.tell(other, "Look at it.", "t1:2");
  await mail.giveUp(run);
  const problems = (await store.messages.list({})).map(({ to, problem }) => [to, problem]);
  expect(Object.fromEntries(problems)).toEqual({
    "worker#1": "worker#1 ended before the message was delivered.",
    "reviewer#1": undefined,
  });
  expect([await mail.untold(run), (await mail.untold(other)).map(({ text }) => text)]).toEqual([[], ["Look at it."]]);
});

test("a message wakes a run that is asleep", async () => {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("t1"));
  const roused: string[] = [];
  const ports = {
    ...{ store, clock: { now: () => 0, after: () => () => {} }, watchOf: () => undefined },
    rouse: (id: string) => void roused.push(id),
  };
  const mail = createMail(ports as unknown as MailPorts);
  await mail.tell(run, "Go on.", "t1:1");
  expect(roused).toEqual([run.id]);
});

test("the time of the last message to a run survives a restart of the daemon", async () => {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("t1"));
  let now = 5_000;
  const clock = { now: () => now, after: () => () => {} };
  const ports = { store, clock, watchOf: () => undefined, rouse: () => {} } as unknown as MailPorts;
  const started = { ...run, at: 1_000 };
  expect(await createMail(ports).lastTold(started)).toBe(1_000);
  await createMail(ports).tell(started, "Resolve it.", "t1:1");
  now = 9_000;
  expect(await createMail(ports).lastTold(started)).toBe(5_000);
});
