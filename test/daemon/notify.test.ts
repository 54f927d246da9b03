import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { webhook } from "../../src/adapters/notifier/webhook.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/store.ts";
import { notify } from "../../src/daemon/effects/others.ts";
import type { Effect } from "../../src/engine/decision.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { blankIdentity, noProgress, type Task } from "../../src/engine/task.ts";
import { Fault } from "../../src/fault.ts";
import type { Notifier } from "../../src/ports/system.ts";
import { createScriptedNotifier } from "../scripted-ports.ts";
import { stage } from "./stage.ts";

const text = `
version: 1
states:
  a: { waits_for: human, next: done }
  done: { terminal: true, do: [{ action: notify, message: "Ready: {summary} on {base}" }] }
`;
const workflow = loadWorkflow(text, "test.yml").workflow as NonNullable<ReturnType<typeof loadWorkflow>["workflow"]>;
const task = {
  ...blankIdentity,
  ...{ id: "t1", project: "coffee", number: 12, summary: "Brew {id}", status: "done", previousStatus: "a" },
  ...{ counters: {}, results: {}, labels: [], log: [], settings: {}, preset: "", crashCount: 0, reason: "" },
  wait: noProgress,
} as unknown as Task;

const performer = (notifier: Notifier) =>
  notify({ notifier, workflowOf: async () => workflow, outsideOf: async () => ({ base: "main" }) });
const noteFor = async (params: Effect["params"], of = task) => {
  const notifier = createScriptedNotifier();
  await performer(notifier)({ action: "notify", params }, { task: of, key: "t1:7" });
  return notifier.notes[0];
};

test("the note names the task and has the message with its variables filled", async () => {
  expect(await noteFor({ message: "{previous_status} → {status}, {base}: {summary} {{id}}" })).toEqual({
    title: "coffee#12 Brew {id}",
    text: "a → done, main: Brew {id} {id}",
    task: "t1",
    project: "coffee",
    key: "t1:7",
  });
});

test("a title of its own is filled too", async () => {
  expect(await noteFor({ title: "Look at {project}#{number}", message: "x" })).toMatchObject({
    title: "Look at coffee#12",
  });
});

test("without a message the note says the status, without a summary the title is only the number", async () => {
  expect(await noteFor({}, { ...task, summary: "" })).toMatchObject({ title: "coffee#12", text: "Status: done" });
});

test("a message with an unknown variable is a fault, and nothing is sent", async () => {
  await expect(noteFor({ message: "{nope}" })).rejects.toMatchObject({
    code: "notify.unfilled",
    message: "The text of the note cannot be built. There is no value for {nope}.",
  });
});

test("a failed note is retried with the same key, and the task still ends", async () => {
  const notifier = createScriptedNotifier();
  notifier.failWith(new Fault("notifier.unreachable", "No network.", { retry: "later" }));
  const life = await stage(openSqliteStore(":memory:"), text, { notify: performer(notifier) });
  await life.create();
  await life.rest();
  await life.submit("t1", { kind: "continue", actor: { role: "human" } });
  await life.rest(60_000);
  expect(notifier.notes).toHaveLength(2);
  expect(notifier.notes[1]).toEqual(notifier.notes[0]);
  expect(notifier.notes[0]).toMatchObject({ title: "coffee#1 Brew", text: "Ready: Brew on main" });
  expect(notifier.notes[0]?.key).toMatch(/^t1:\d+$/);
  expect(await life.task()).toMatchObject({ status: "done", phase: "over" });
  expect(life.errors).toEqual([]);
});

const received: { key: unknown; body: Record<string, unknown> }[] = [];
const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  received.push({ key: request.headers["idempotency-key"], body: JSON.parse(body) });
  response.writeHead(received.length === 1 ? 503 : 204).end();
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

test("a webhook gets the same key whenever the same effect is carried out", async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const perform = performer(webhook({ url, now: () => 0 }));
  const effect = { action: "notify", params: { message: "{summary}" } };
  await expect(perform(effect, { task, key: "t1:7" })).rejects.toMatchObject({ retry: "later" });
  await perform(effect, { task, key: "t1:7" });
  await perform(effect, { task, key: "t1:8" });
  expect(received.map(({ key }) => key)).toEqual(["t1:7", "t1:7", "t1:8"]);
  expect(received[1]).toEqual(received[0]);
  expect(received[0]?.body).toMatchObject({ title: "coffee#12 Brew {id}", text: "Brew {id}", key: "t1:7" });
});
