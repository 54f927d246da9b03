import { expect, test } from "vitest";
import { loadWorkflow } from "../engine/language/load.ts";
import { blankIdentity } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import type { StoredTask } from "../ports/store.ts";
import { createScheduler } from "./scheduler.ts";

const { workflow } = loadWorkflow(
  "version: 1\nstates: { busy: { waits_for: human, next: done }, done: { terminal: true } }",
  "test.yml",
);
const stored = (revision: number, status: string) =>
  ({
    task: { ...blankIdentity, id: "t1", project: "coffee", status, phase: "waiting", dependsOn: [], wait: {} },
    ...{ revision, isOpen: status !== "done", order: 1 },
  }) as unknown as StoredTask;

/** A workflow that takes long to load the first time. */
function slowWorkflow() {
  let arrive = () => {};
  let reads = 0;
  const read = (): Promise<Workflow> =>
    reads++ > 0
      ? Promise.resolve(workflow as Workflow)
      : new Promise((resolve) => {
          arrive = () => resolve(workflow as Workflow);
        });
  return { read, arrive: () => arrive() };
}

test("a task that was over before it was processed does not block its slot", async () => {
  const { read, arrive } = slowWorkflow();
  const scheduler = createScheduler({ workflowOf: read, poolSize: async () => 1 } as never);
  const first = scheduler.noticed(stored(1, "busy"));
  await scheduler.noticed(stored(2, "done"));
  arrive();
  await first;
  expect(await scheduler.isFull("coffee", "t2")).toBe(false);
});

test("a slot that was given to a task is taken before the next task is considered, whatever notifications arrive", async () => {
  const waiting = loadWorkflow(
    "version: 1\nstates: { todo: { waits_for: slot, next: busy }, busy: { waits_for: human, next: done }, done: { terminal: true } }",
    "test.yml",
  ).workflow as Workflow;
  const task = (id: string, revision: number, status: string) => {
    const { task: plain, ...rest } = stored(revision, status);
    return { ...rest, task: { ...plain, id, autostart: true, entry: revision } } as StoredTask;
  };
  const started: string[] = [];
  const scheduler = createScheduler({
    poolSize: async () => 1,
    // The last notification is processed last.
    workflowOf: async ({ entry }: { readonly entry: number }) => {
      if (entry === 3) await new Promise((resolve) => setTimeout(resolve, 20));
      return waiting;
    },
    async submit(id: string) {
      started.push(id);
      // The notification of its start arrives before `submit` returns.
      void scheduler.noticed(task(id, 2, "busy"));
      void scheduler.noticed(task(id, 3, "busy"));
      return { stored: task(id, 2, "busy") };
    },
  } as never);
  await Promise.all(["t1", "t2"].map((id) => scheduler.recall(task(id, 1, "todo"))));
  scheduler.wake();
  await new Promise((resolve) => setTimeout(resolve, 60));
  await scheduler.stop();
  expect(started).toHaveLength(1);
});
