import { expect, test } from "vitest";
import type { Core } from "../../src/daemon/core.ts";
import { withHandedDown } from "../../src/daemon/dependencies.ts";
import { deleteTask, editTask, putDocument } from "../../src/daemon/requests/edit-task.ts";
import { explainTask } from "../../src/daemon/requests/explain-task.ts";
import { sampleDecision, sampleTask } from "../contracts/samples.ts";
import { childrenStage } from "./children-stage.ts";
import { coreStage } from "./core-stage.ts";

const queue = `
version: 1
states:
  queued: { waits_for: slot, next: busy }
  busy: { waits_for: human, next: tasting }
  tasting: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: queued, to: busy, hooks: [acquire_workspace] }
  - { from: tasting, to: done, gate: { section: "## Plan" } }
  - { from: any, to: dropped, by: human }
`;
const human = { role: "human" };

async function stage() {
  const made = await coreStage(queue, 5);
  const { core } = made;
  const asked = <B>(task: string, body: B) => ({
    ...{ params: { task }, query: {}, body, caller: { kind: "human" as const }, folder: "", lastEvent: "" },
  });
  return {
    ...made,
    step: (task: string) => core.submit(task, { kind: "continue", actor: human }),
    drop: (task: string) => core.submit(task, { kind: "move", to: "dropped", actor: human }),
    write: (task: string, text: string) => putDocument(core)(asked(task, { text })),
    edit: (task: string, body: Parameters<ReturnType<typeof editTask>>[0]["body"]) => editTask(core)(asked(task, body)),
    explain: (task: string) => explainTask(core as Core)(asked(task, {})),
    remove: (task: string) => deleteTask(core)(asked(task, {})),
  };
}

test("a task starts once another has reached a state, even if that has left it since", async () => {
  const { create, rest, statuses, step, explain } = await stage();
  await create("base");
  await create("top", { dependsOn: ["base:state=tasting"] });
  await rest();
  expect(await statuses("base", "top")).toEqual(["busy", "queued"]);
  expect(await explain("top")).toMatchObject({
    next: [{ what: 'Start when coffee#1 has reached "tasting"' }],
    blocked: [{ reason: 'The task waits until coffee#1 has reached "tasting"; coffee#1 is in "busy".' }],
  });
  await step("base");
  await rest();
  expect(await statuses("base", "top")).toEqual(["tasting", "busy"]);
  await create("late", { dependsOn: ["base:state=busy"] });
  await rest();
  expect(await statuses("late")).toEqual(["busy"]);
});

test("a task starts once another has a section, and gets the sections that are handed down", async () => {
  const { create, rest, statuses, write, store, explain } = await stage();
  await create("base");
  await create("top", { dependsOn: ["base:section=Plan"], handDown: ["Plan", "Context"] });
  await rest();
  expect(await statuses("top")).toEqual(["queued"]);
  await write("base", "## Plan\n\nGrind finer.\n\n## Menu\n\nSecret.\n");
  await rest();
  expect(await statuses("top")).toEqual(["busy"]);
  expect((await store.getDocument("top")).text.trim()).toBe("## Plan from coffee#1\n\nGrind finer.");
  expect((await explain("top")).warnings.join()).not.toContain("## Plan,");
});

test("a task that starts without a section that was to be handed down says so in its history and in explain", async () => {
  const { create, rest, statuses, store, explain } = await stage();
  await create("base");
  await rest();
  await create("top", { dependsOn: ["base:state=busy"], handDown: ["Plan"] });
  await rest();
  expect(await statuses("top")).toEqual(["busy"]);
  const events = await store.listEvents({ task: "top" }, 0, 100);
  expect(events.map(({ event }) => event)).toContainEqual(
    expect.objectContaining({ type: "document.incomplete", data: { sections: ["Plan"] } }),
  );
  expect((await explain("top")).warnings).toEqual([
    "The task started without ## Plan, which was to be handed down: coffee#1 did not have it. To add it now: signalbox task edit top",
  ]);
});

test("a section that was handed down before is neither written again nor missing", async () => {
  const { create, rest, write, store } = await stage();
  await create("base");
  await rest();
  await write("base", "## Plan\n\nGrind finer.\n");
  await create("top", { dependsOn: ["base:state=busy"], handDown: ["Plan"] });
  await rest();
  const { task } = (await store.getTask("top")) ?? expect.fail();
  const document = await store.getDocument("top");
  expect(await withHandedDown(store, task, document)).toEqual({ document, changed: [], missing: [] });
});

test("a plan that was handed down is no evidence of the task's own", async () => {
  const { create, rest, statuses, step, write, core } = await stage();
  await create("base");
  await rest();
  await write("base", "## Plan\n\nGrind finer.\n");
  await create("top", { dependsOn: ["base:state=busy"], handDown: ["Plan"] });
  await rest();
  await step("top");
  const { decision } = await core.submit("top", { kind: "move", to: "done", actor: human });
  expect(decision).toMatchObject({ kind: "rejected", reasons: [{ code: "gate-missing" }] });
  expect(await statuses("top")).toEqual(["tasting"]);
});

test("a state that can no longer be reached needs a person, who is told what to do", async () => {
  const { create, rest, statuses, drop, explain, core } = await stage();
  await create("base");
  await create("top", { dependsOn: ["base:state=tasting"] });
  await rest();
  await drop("base");
  await rest();
  expect(await statuses("top")).toEqual(["queued"]);
  const text = 'The task waits until coffee#1 has reached "tasting", but coffee#1 has ended in "dropped".';
  const explained = await explain("top");
  expect(explained).toMatchObject({ next: [], blocked: [{ reason: text }] });
  const stored = await core.store.getTask("top");
  expect(stored && (await core.needs.of(stored))).toMatchObject([
    { reason: "dependency", text, command: 'signalbox task update top --depends-on ""' },
  ]);
});

test("dependencies that could never be met are refused, and nothing changes", async () => {
  const { create, rest, edit, drop, store } = await stage();
  await create("base", { autostart: false });
  await create("gone");
  await create("top", { autostart: false });
  await rest();
  await drop("gone");
  await rest();
  const before = await store.getTask("top");
  for (const [body, message] of [
    [{ dependsOn: ["nowhere:state=busy"] }, /no task/],
    [{ dependsOn: ["base:state=boiling"] }, /has no state "boiling"/],
    [{ dependsOn: ["base:section=Menu"] }, /no ## Menu/],
    [{ dependsOn: ["base:colour=red"] }, /a condition that does not exist/],
    [{ dependsOn: ["gone:state=tasting"] }, /has ended in "dropped" and never reached "tasting"/],
    [{ dependsOn: ["top:state=busy"] }, /wait for each other, and none could go on: coffee#3 → coffee#3/],
    [{ handDown: ["Plan"] }, /No task is there to hand ## Plan down/],
    [{ dependsOn: ["base"], handDown: ["Menu"] }, /no ## Menu/],
    [{ budget: ["5 apples"] }, /"apples" is not a unit/],
  ] as const)
    await expect(edit("top", body)).rejects.toThrow(message);
  expect(await store.getTask("top")).toEqual(before);
});

test("a circle is refused across states and over several tasks, but not where nothing waits", async () => {
  const { create, rest, edit, statuses } = await stage();
  for (const id of ["a1", "a2", "a3"]) await create(id, { autostart: false });
  await create("busy");
  await rest();
  await edit("a1", { dependsOn: ["a2:state=tasting"] });
  await edit("a2", { dependsOn: ["a3:section=Plan"] });
  await expect(edit("a3", { dependsOn: ["a1:state=busy"] })).rejects.toThrow(
    "coffee#3 → coffee#1 → coffee#2 → coffee#3",
  );
  // It has been queued from the beginning.
  await edit("a3", { dependsOn: ["a1:state=queued"] });
  // A task that has started waits for nothing.
  await edit("busy", { dependsOn: ["a1"] });
  await edit("a3", { dependsOn: ["busy:state=tasting"] });
  expect(await statuses("a3")).toEqual(["queued"]);
});

test("a task whose state or section others wait for, or take sections from, is not deleted", async () => {
  const { create, rest, drop, remove, edit, statuses } = await stage();
  await create("base");
  await create("heir", { dependsOn: ["base:state=busy"], handDown: ["Plan"], autostart: false });
  await create("top", { dependsOn: ["base:state=tasting"] });
  await rest();
  await drop("base");
  await rest();
  await expect(remove("base")).rejects.toThrow('coffee#3 depends on coffee#1, which never reached "tasting".');
  await edit("top", { dependsOn: [] });
  await rest();
  await expect(remove("base")).rejects.toThrow("coffee#2 gets sections of coffee#1 when it starts.");
  expect(await statuses("top")).toEqual(["busy"]);
});

test("a task that others wait for is not deleted either if its workflow is lost", async () => {
  const { create, rest, core, remove } = await stage();
  await create("base");
  await create("top", { dependsOn: ["base"] });
  await rest();
  const base = (await core.store.getTask("base")) ?? expect.fail();
  await core.store.saveDecision(sampleDecision(base, { workflowHash: "lost" }));
  await expect(remove("base")).rejects.toThrow("coffee#2 depends on coffee#1, which was never done.");
});

test("a circle is refused through a parent's wait for its parts, through the plan, and between tasks at work", async () => {
  const family = await childrenStage();
  const { core, childFor, store } = family;
  const edit = (task: string, ...dependsOn: readonly string[]) =>
    editTask(core)({
      ...{ params: { task }, query: {}, body: { dependsOn }, caller: { kind: "human" }, folder: "", lastEvent: "" },
    });
  await family.plan("p1", [{ id: "a" }, { id: "b" }, { id: "c", needs: ["a"] }], { settings: { agents: 1 } });
  await family.plan("p2", [{ id: "d" }]);
  const [a, b, c] = await Promise.all(["a", "b", "c"].map((item) => childFor("p1", item)));
  const names = [a, b, c].map((task) => `coffee#${task?.number}`);
  const refused = async (task: string | undefined, on: string | undefined, circle: string) => {
    const before = await store.getTask(task ?? "");
    await expect(edit(task ?? "", on ?? "")).rejects.toThrow(`none could go on: ${circle}.`);
    expect(await store.getTask(task ?? "")).toEqual(before);
  };
  await refused(b?.id, "p1", `${names[1]} → coffee#1 → ${names[1]}`);
  await refused(a?.id, c?.id, `${names[0]} → ${names[2]} → ${names[0]}`);
  await refused("p1", "p1", "coffee#1 → coffee#1");
  // The parent waits for a slot again after its parts.
  await edit("p2", "p1");
  const p2 = (await store.getTask("p2"))?.task.number;
  await refused("p1", "p2", `coffee#1 → coffee#${p2} → coffee#1`);
  await refused(b?.id, "p2", `${names[1]} → coffee#${p2} → coffee#1 → ${names[1]}`);
  // A part may have parts of its own.
  if (a?.part === undefined) throw new Error("missing");
  const within = {
    ...a,
    id: "within",
    parent: a.id,
    branch: "within",
    part: { ...a.part, item: "w" },
  };
  await store.createTask("coffee", sampleTask("within", within));
  const number = (await store.getTask("within"))?.task.number;
  await refused("within", a.id, `coffee#${number} → ${names[0]} → coffee#${number}`);
  // A dependency in the direction of the plan holds nothing up that the plan does not.
  await edit(c?.id ?? "", b?.id ?? "");
});
