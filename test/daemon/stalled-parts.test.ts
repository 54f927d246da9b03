import { expect, test } from "vitest";
import { childProgress } from "../../src/daemon/children/progress.ts";
import type { Asked } from "../../src/daemon/handlers.ts";
import { editTask } from "../../src/daemon/requests/edit-task.ts";
import { sampleDecision } from "../contracts/samples.ts";
import { childrenStage } from "./children-stage.ts";

async function stalledStage(options: Parameters<typeof childrenStage>[0] = {}) {
  const stage = await childrenStage(options);
  const dependOn = async (task: string, ...dependsOn: readonly string[]) => {
    const asked: Asked<object, { dependsOn: readonly string[] }> = {
      ...{ params: { task }, query: {}, body: { dependsOn }, caller: { kind: "human" }, folder: "", lastEvent: "" },
    };
    await editTask(stage.core)(asked);
    await stage.rest();
  };
  /** As a version of Signalbox saved it that did not refuse it. */
  const saveDependency = async (id: string, dependsOn: readonly string[]) => {
    const stored = await stage.store.getTask(id);
    if (stored === undefined) throw new Error("missing");
    stage.core.changed(await stage.core.store.saveDecision(sampleDecision(stored, { dependsOn })));
    await stage.rest();
  };
  const held = async (id: string) => (await stage.store.getTask(id))?.task.held?.reason;
  const plan: typeof stage.plan = (...planned) => stage.plan(...planned);
  return { ...stage, plan, dependOn, saveDependency, held };
}

test("a part that is given a dependency before it starts leaves its slot to another part", async () => {
  const { plan, rest, states, childFor, dependOn, finish, statuses, core, ...stage } = await stalledStage();
  await plan("p1", [{ id: "z" }, { id: "x" }], { settings: { agents: 1 }, autostart: true });
  await rest();
  expect(await states("p1")).toEqual(["z running 1", "x waiting"]);
  const [z, x] = [await childFor("p1", "z"), await childFor("p1", "x")];
  const stored = await stage.store.getTask(z.id);
  if (stored === undefined) throw new Error("missing");
  // Back to where it waits for a workspace, with its slot.
  const back = { status: "waiting", phase: "waiting", workspace: "", runs: {} } as const;
  await core.store.saveDecision(sampleDecision(stored, back));
  await dependOn(z.id, x.id);
  expect(await states("p1")).toEqual(["z waiting", "x running 1"]);
  const parent = (await stage.store.getTask("p1"))?.task;
  if (parent === undefined) throw new Error("missing");
  const progress = await childProgress(core, parent, await core.workflows.get(parent.workflowHash));
  expect(progress?.parts[0]?.why).toBe(`It waits for coffee#${x.number}.`);
  await finish("p1", "x");
  expect(await states("p1")).toEqual(["z running 1", "x done 1"]);
  await finish("p1", "z");
  expect(await statuses("p1")).toEqual(["done"]);
});

test("a part starts when a task outside of its plan, on which it depends, has reached what it waits for", async () => {
  const { plan, create, rest, states, childFor, dependOn, finish, core } = await stalledStage();
  await create("o1");
  await rest();
  await plan("p1", [{ id: "a" }, { id: "b", needs: ["a"] }], { settings: { agents: 1 } });
  await dependOn((await childFor("p1", "b")).id, "o1:state=dropped");
  await finish("p1", "a");
  expect(await states("p1")).toEqual(["a done 1", "b waiting"]);
  await core.submit("o1", { kind: "move", to: "dropped", actor: { role: "human" } });
  await rest();
  expect(await states("p1")).toEqual(["a done 1", "b running 1"]);
});

test("a dependency on a part of a later wave is refused as a circle", async () => {
  const { plan, childFor, dependOn } = await stalledStage();
  await plan("p1", [{ id: "x" }, { id: "z" }, { id: "y", needs: ["z"] }], { settings: { waves: true } });
  const [x, y] = [await childFor("p1", "x"), await childFor("p1", "y")];
  await expect(dependOn(x.id, y.id)).rejects.toMatchObject({
    message: `The tasks would wait for each other, and none could go on: coffee#${x.number} → coffee#${y.number} → coffee#${x.number}.`,
  });
});

test("a person is called for a parent none of whose parts can go on, and it continues once that is mended", async () => {
  const { plan, childFor, dependOn, saveDependency, held, states, finish, store } = await stalledStage();
  const settings = { waves: true, agents: 1 };
  await plan("p1", [{ id: "z" }, { id: "x" }, { id: "y", needs: ["z"] }], { settings });
  const [x, y] = [await childFor("p1", "x"), await childFor("p1", "y")];
  await saveDependency(x.id, [y.id]);
  expect(await held("p1")).toBeUndefined();
  await finish("p1", "z");
  expect(await states("p1")).toEqual(["z done 1", "x waiting", "y waiting"]);
  expect(await held("p1")).toContain(`No part of the plan can go on: "x" waits for coffee#${y.number}.`);
  await dependOn(x.id);
  expect(await held("p1")).toBeUndefined();
  expect(await states("p1")).toEqual(["z done 1", "x running 1", "y waiting"]);
  expect(await store.getTask("p1")).toMatchObject({ isOpen: true });
});
