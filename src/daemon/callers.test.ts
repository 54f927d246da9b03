import { expect, test } from "vitest";
import { createMemoryStore } from "../../test/memory-store/memory-store.ts";
import { createCallers } from "./callers.ts";

const credential = { project: "p", task: "", at: 1, role: "worker", run: "worker#1", expiresAt: 1_000 };

async function callersOf() {
  const store = createMemoryStore();
  await store.addProject({ name: "p" } as never);
  return { store, callers: createCallers(store, { now: () => 10, after: () => () => {} } as never, "sbh_person") };
}

test("a run that is restarted with its earlier secret is authorised", async () => {
  const { callers } = await callersOf();
  const token = await callers.issue(credential, "secret");
  expect(await callers.of(token)).toMatchObject({ kind: "run", isOver: false });
  expect(await callers.issue(credential, "secret")).toBe(token);
  expect(await callers.of(token)).toMatchObject({ kind: "run", isOver: false });
});

test("a run whose credential is revoked during the check is not authorised", async () => {
  const { store } = await callersOf();
  let answer = () => {};
  const slow = {
    ...store,
    credentials: {
      ...store.credentials,
      async get(id: string) {
        const found = await store.credentials.get(id);
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return found;
      },
    },
  };
  const callers = createCallers(slow, { now: () => 10, after: () => () => {} } as never, "sbh_person");
  const token = await callers.issue(credential, "secret");
  const asked = callers.of(token);
  await new Promise((resolve) => setImmediate(resolve));
  await callers.revoke("", "worker#1");
  answer();
  await asked;
  const again = callers.of(token);
  await new Promise((resolve) => setImmediate(resolve));
  answer();
  expect(await again).toMatchObject({ kind: "run", isOver: true });
});
