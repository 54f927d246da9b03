import { expect, test } from "vitest";
import { childrenStage } from "./children-stage.ts";

const human = { role: "human" };

test("a fan-out creates one waiting child for each item at once, and starts as many as may run in parallel", async () => {
  const stage = await childrenStage();
  const settings = { words: "many", agents: 2 };
  await stage.plan("p1", [{ id: "a" }, { id: "b" }, { id: "c", needs: ["a"] }], {
    ...{ harness: "h", reviewHarness: "r", model: "m", priority: 3, labels: ["x"], settings, autostart: true },
  });
  expect(await stage.states("p1")).toEqual(["a running 1", "b running 2", "c waiting"]);
  const child = await stage.childFor("p1", "c");
  expect(child).toMatchObject({
    ...{ project: "coffee", parent: "p1", base: "p1", summary: "Do c", workflow: "part", autostart: true },
    ...{ harness: "h", reviewHarness: "r", model: "m", priority: 3, labels: ["x"], settings: { words: "many" } },
    part: { item: "c", try: 1, title: "Do c", description: "About c" },
  });
  const [created] = await stage.store.listEvents({ task: child.id }, 0, 1);
  expect(created?.event).toMatchObject({ by: "engine", data: { parent: "p1", item: "c", try: 1 } });
  await stage.finish("p1", "a");
  expect(await stage.states("p1")).toEqual(["a done 1", "b running 2", "c running 1"]);
  await stage.finish("p1", "b");
  await stage.finish("p1", "c");
  expect(await stage.statuses("p1")).toEqual(["done"]);
  expect(stage.errors).toEqual([]);
});
