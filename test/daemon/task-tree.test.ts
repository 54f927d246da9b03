import { expect, test } from "vitest";
import { createUsageBook } from "../../src/daemon/agents/usage.ts";
import { childProgress } from "../../src/daemon/children/progress.ts";
import type { Asked } from "../../src/daemon/handlers.ts";
import { deleteTask } from "../../src/daemon/requests/edit-task.ts";
import { cancelTask } from "../../src/daemon/requests/move-task.ts";
import { getTask } from "../../src/daemon/requests/tasks.ts";
import { leaveFamily } from "../../src/daemon/task-family.ts";
import { createTask } from "../../src/engine/create.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { blankIdentity } from "../../src/engine/task.ts";
import type { Store } from "../../src/ports/store.ts";
import { sampleDecision } from "../contracts/samples.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { childrenStage, parentWorkflow, partWorkflow } from "./children-stage.ts";

type Stage = Awaited<ReturnType<typeof childrenStage>>;

/** What a person asks of the API. */
function asking({ core }: Stage) {
  const asked = <Body>(task: string, body: Body): Asked<object, Body> => ({
    ...{ params: { task }, query: {}, body, caller: { kind: "human" }, folder: "", lastEvent: "" },
  });
  return {
    cancel: (task: string, body: { readonly tree?: boolean }) => cancelTask(core)(asked(task, body)),
    remove: (task: string) => deleteTask(core)(asked(task, undefined)),
    show: async (task: string) => (await getTask(core)(asked(task, undefined))).task,
  };
}

async function progressOf({ core, store }: Stage, id: string) {
  const stored = await store.getTask(id);
  if (stored === undefined) throw new Error("missing");
  return childProgress(core, stored.task, await core.workflows.get(stored.task.workflowHash));
}

/** A parent with two parts, a task that a person created below it, and one below that. */
async function family(options: Parameters<typeof childrenStage>[0] = {}) {
  const stage = await childrenStage(options);
  await stage.plan("p1", [{ id: "a" }, { id: "b" }]);
  await stage.create("q1", { parent: "p1" });
  await stage.create("r1", { parent: "q1" });
  await stage.rest();
  const [a, b] = [await stage.childFor("p1", "a"), await stage.childFor("p1", "b")];
  const status = async (id: string) => (await stage.store.getTask(id))?.task.status;
  return { ...stage, ...asking(stage), a, b, status };
}

test("a cancel ends the parts of the plan, and leaves the tasks that a person created below it", async () => {
  const { cancel, status, rest, a } = await family();
  expect(await cancel("p1", {})).toMatchObject({ kind: "moved", below: [], left: ["q1", "r1"] });
  await rest();
  expect([await status("p1"), await status(a.id)]).toEqual(["dropped", "dropped"]);
  expect([await status("q1"), await status("r1")]).toEqual(["planning", "planning"]);
});

test("a cancel with tree also ends every task below, and names them", async () => {
  const { cancel, status, rest, a, b } = await family();
  const { below } = await cancel("p1", { tree: true });
  expect([...below].sort()).toEqual([a.id, b.id, "q1", "r1"].sort());
  await rest();
  for (const id of ["p1", a.id, b.id, "q1", "r1"]) expect(await status(id)).toBe("dropped");
});

test("a cancel with tree also ends the tasks below a task that has ended before", async () => {
  const { cancel, status, rest } = await family();
  await cancel("p1", {});
  await rest();
  expect(await cancel("p1", { tree: true })).toMatchObject({ kind: "ignored", below: ["q1", "r1"], left: [] });
  await rest();
  expect([await status("q1"), await status("r1")]).toEqual(["dropped", "dropped"]);
  // Nothing is left below it, so there is nothing to cancel.
  await expect(cancel("p1", { tree: true })).rejects.toThrow("which is the end");
});

test("a cancel names the open tasks that depend on the task, and not those that it cancels too", async () => {
  const { cancel, create, rest } = await family();
  await create("x1", { dependsOn: ["p1"] });
  await create("y1", { dependsOn: ["p1"], parent: "q1" });
  await rest();
  expect(await cancel("p1", { tree: true })).toMatchObject({ awaitedBy: ["x1"] });
});

test("a cancel does not name tasks whose dependency on it was met before", async () => {
  const { cancel, create, rest, status } = await family();
  await create("x1", { dependsOn: ["p1:state=planning"] });
  await create("y1", { dependsOn: ["p1"] });
  await rest();
  expect([await status("x1"), await status("y1")]).toEqual(["planning", "queued"]);
  expect(await cancel("p1", {})).toMatchObject({ awaitedBy: ["y1"] });
});

/** Creates a task of another workflow below q1. */
async function createOther({ core, clock }: Stage, text: string): Promise<void> {
  const { workflow } = loadWorkflow(text, "other.yml");
  if (workflow === undefined) throw new Error("The workflow does not load.");
  await core.workflows.keep(workflow, text);
  const facts = await core.factsOf({ ...blankIdentity, id: "s1", project: "coffee" } as never);
  await core.store.createTask("coffee", (number) => {
    const given = { ...blankIdentity, id: "s1", project: "coffee", number, branch: "s1", parent: "q1" };
    const decision = createTask(workflow, given, facts);
    if (decision.kind !== "moved") throw new Error(JSON.stringify(decision));
    const { task, events, effects } = decision;
    return { task, document: { text: "", authors: {} }, events, effects, at: clock.now() };
  });
}

test.for([
  [
    "has no state for it",
    "version: 1\nstates: { todo: { waits_for: human, next: done }, done: { terminal: true } }\n",
    "has no terminal state with the outcome cancelled",
  ],
  [
    "has a guard that forbids it",
    `version: 1
states:
  todo: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions: [{ from: todo, to: dropped, by: human, when: commits > 0 }]
`,
    "[Cc]ommit",
  ],
])("a cancel with tree changes nothing if a task below %s, and names that task", async ([, text = "", why = ""]) => {
  const stage = await family();
  const { cancel, status, rest } = stage;
  await createOther(stage, text);
  await expect(cancel("p1", { tree: true })).rejects.toMatchObject({
    message: expect.stringMatching(
      new RegExp(`^coffee#\\d+ \\(s1\\), which is below it, cannot be cancelled, so nothing was\\. .*${why}`),
    ),
    hint: expect.stringContaining("leave --tree out"),
  });
  await rest();
  expect([await status("p1"), await status("q1"), await status("r1")]).toEqual(["building", "planning", "planning"]);
});

test("a cancel with tree changes nothing if the workflow of a part is lost", async () => {
  const { cancel, status, rest, a, store } = await family();
  const stored = await store.getTask(a.id);
  if (stored === undefined) throw new Error("missing");
  await store.saveDecision(sampleDecision(stored, { workflowHash: "0" }));
  await expect(cancel("p1", { tree: true })).rejects.toMatchObject({
    message: expect.stringMatching(
      /which is below it, cannot be cancelled, so nothing was\. The store has no workflow/,
    ),
  });
  await rest();
  expect([await status("p1"), await status("q1")]).toEqual(["building", "planning"]);
});

test("a cancel with tree that cannot be saved has cancelled nothing", async () => {
  const memory = createMemoryStore();
  let isDead = false;
  const store: Store = {
    ...memory,
    saveDecision: async (decision) => (isDead ? Promise.reject(new Error("dead")) : memory.saveDecision(decision)),
    saveDecisions: () => Promise.reject(new Error("The daemon is killed.")),
  };
  const { cancel, status } = await family({ store });
  isDead = true;
  await expect(cancel("p1", { tree: true })).rejects.toThrow("The daemon is killed.");
  expect([await status("p1"), await status("q1"), await status("r1")]).toEqual(["building", "planning", "planning"]);
});

test("a parent is not deleted while a task below it is open, and the named command makes it possible", async () => {
  const { cancel, remove, rest, store } = await family();
  await expect(remove("p1")).rejects.toMatchObject({ code: "task.in-use" });
  await cancel("p1", {});
  await rest();
  await expect(remove("p1")).rejects.toMatchObject({
    message: "The task p1 has tasks below it that have not ended: q1, r1.",
    hint: "Cancel them first: signalbox task cancel q1 r1",
  });
  await cancel("q1", {});
  await rest();
  // At any depth, also below a task that has ended.
  await expect(remove("p1")).rejects.toMatchObject({ message: expect.stringContaining("not ended: r1.") });
  expect(await store.getTask("p1")).toBeDefined();
  await cancel("r1", {});
  await rest();
  await remove("p1");
  expect(await store.getTask("p1")).toBeUndefined();
});

test("the tasks below a deleted task go to its parent, with what all of them have used", async () => {
  const stage = await family();
  const { cancel, remove, rest, core } = stage;
  const bequeathed: (readonly string[])[] = [];
  const agents = { book: { bequeath: async (...given: readonly string[]) => void bequeathed.push(given) } };
  const { id: part } = stage.a;
  await stage.create("s1", { parent: part });
  for (const id of ["r1", "q1", "s1", part]) await cancel(id, {});
  await rest();
  const stored = await core.store.getTask("q1");
  if (stored === undefined) throw new Error("missing");
  await leaveFamily({ ...core, agents } as never, stored);
  expect(bequeathed).toEqual([["q1", "p1"]]);
  expect((await core.store.getTask("r1"))?.task.parent).toBe("p1");
  await remove("q1");
  // A plan that is gone keeps its parts, so only their use moves up.
  bequeathed.length = 0;
  const top = await core.store.getTask("p1");
  if (top === undefined) throw new Error("missing");
  await stage.create("t1");
  await leaveFamily({ ...core, agents } as never, { ...top, task: { ...top.task, parent: "t1" } });
  expect(bequeathed.map(([id]) => id)).toEqual(expect.arrayContaining([part, "s1", stage.b.id, "p1"]));
  expect((await core.store.getTask("r1"))?.task.parent).toBe("t1");
  expect((await core.store.getTask(part))?.task.parent).toBe("p1");
});

test("a parent is deleted with the parts of its plan, and only once all of them have ended", async () => {
  const { cancel, remove, rest, store, a, b } = await family();
  await cancel("p1", { tree: true });
  await rest();
  await expect(remove("p1")).resolves.toMatchObject({ parts: expect.arrayContaining([a.id, b.id]) });
  for (const id of ["p1", a.id, b.id]) expect(await store.getTask(id)).toBeUndefined();
  // A person created this one.
  expect(await store.getTask("q1")).toBeDefined();
  await remove("q1");
});

test("a part whose parent was deleted by an older version can be deleted, and says so", async () => {
  const stage = await family();
  const { cancel, rest, store, core, a } = stage;
  await cancel("p1", { tree: true });
  await rest();
  await core.store.deleteTask("p1");
  const usage = { id: `${a.id}/builder#1`, project: "coffee", task: a.id, at: 0, run: "builder#1", role: "builder" };
  await store.usage.put({ ...usage, harness: "x", model: "", cost: 1, duration: 1 } as never);
  const book = createUsageBook(store, () => ({ projectDay: 0, day: 0 }) as never);
  await book.open();
  const brake = { runsOf: async () => [], holdTasks: async (_: unknown, __: unknown, then: () => unknown) => then() };
  const agents = { book, brake, dispatch: { wake: () => {} } };
  await asking({ ...stage, core: { ...core, agents } as never }).remove(a.id);
  expect(await store.getTask(a.id)).toBeUndefined();
});

test("each part says why it was not done, and which tasks were its earlier tries", async () => {
  const stage = await childrenStage();
  const { cancel, show } = asking(stage);
  await stage.create("p0");
  expect((await show("p0")).children).toMatchObject({ parts: [], checkpoint: "queued" });
  await stage.plan("p1", [{ id: "a" }, { id: "b", needs: ["a"] }, { id: "c" }]);
  const first = await stage.childFor("p1", "a");
  await stage.finish("p1", "a", "error");
  await stage.finish("p1", "a", "error");
  await cancel((await stage.childFor("p1", "c")).id, {});
  await stage.rest();
  expect(await progressOf(stage, "p1")).toMatchObject({
    ...{ failed: 1, skipped: 2 },
    parts: [
      { item: "a", state: "failed", try: 2, earlier: [first.id], why: expect.stringContaining("a broke") },
      { item: "b", state: "skipped", earlier: [], why: 'Skipped: it needs "a", which failed.' },
      { item: "c", state: "skipped", why: "A person cancelled it." },
    ],
  });
  expect(await show("p1")).toMatchObject({ outcome: "failed", reason: expect.stringContaining("0 of 3 done") });
});

test("a part that has ended and is still being tidied up is not the least advanced one", async () => {
  const release = Promise.withResolvers<void>();
  const performers = { release_workspace: () => release.promise };
  const part = partWorkflow.replace(
    "done: { terminal: true, do",
    "done: { terminal: true }\n  unused: { terminal: true, do",
  );
  const stage = await childrenStage({
    performers,
    part,
    parent: parentWorkflow.replace("do: [release_workspace], next: building", "next: building"),
  });
  await stage.plan("p1", [{ id: "a" }, { id: "b" }], { settings: { policy: "continue" } });
  await stage.finish("p1", "a", "error");
  expect(await progressOf(stage, "p1")).toMatchObject({ checkpoint: "working", running: 2 });
  release.resolve();
  await stage.rest();
});
