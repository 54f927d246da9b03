import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../adapters/store/memory.ts";
import type { Run } from "../../ports/records.ts";
import { createMail, type MailPorts } from "./mail.ts";

const run = { id: "t1/worker#1", project: "coffee", task: "t1", key: "worker#1" } as Run;

test("what is told again with the same key, because the daemon died behind it, is told once", async () => {
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
