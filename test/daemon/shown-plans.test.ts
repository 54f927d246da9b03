import { expect, test } from "vitest";
import type { Asked } from "../../src/daemon/handlers.ts";
import { continueTask } from "../../src/daemon/requests/move-task.ts";
import { approveTask } from "../../src/daemon/requests/person.ts";
import { getPlan, putPlan } from "../../src/daemon/requests/plan.ts";
import { childrenStage, parentWorkflow } from "./children-stage.ts";

const id = "b1111";
const changed = "The plan has changed since you were shown it.";

/** A task whose plan waits for a person. */
async function startPlanned() {
  const parent = parentWorkflow
    .replace("result: plan }, next: spawned }", "result: plan }, next: planned }")
    .replace("  spawned:", "  planned: { waits_for: human, ask: Start, next: spawned }\n  spawned:");
  const stage = await childrenStage({ parent });
  await stage.create(id);
  await stage.rest();
  const asked = <Body>(body: Body, query = {}): Asked<object, Body> => ({
    ...{ params: { task: id }, query, body, caller: { kind: "human" }, folder: "", lastEvent: "" },
  });
  const items = (...ids: readonly string[]) => ids.map((each) => ({ id: each, title: each, description: "" }));
  // A look before there is a plan shows none.
  await getPlan(stage.core)(asked(undefined as never, { shown: "true" }));
  await stage.answer(id, [{ id: "a" }, { id: "b" }]);
  return {
    ...stage,
    see: (query: { shown?: "true" } = {}) => getPlan(stage.core)(asked(undefined as never, query)),
    put: (ids: readonly string[], body: { replaces?: string } = {}) =>
      putPlan(stage.core)(asked({ items: items(...ids), ...body })),
    approve: (body: { plan?: string } = {}) => approveTask(stage.core)(asked(body)),
    goOn: (body: { plan?: string } = {}) => continueTask(stage.core)(asked(body)),
  };
}

test("an approval that names another plan than the present one is refused, and changes nothing", async () => {
  const { see, put, approve, goOn, statuses } = await startPlanned();
  const first = await see();
  const { fingerprint } = await put(["c"]);
  expect(fingerprint).not.toBe(first.fingerprint);
  for (const act of [approve, goOn]) await expect(act({ plan: first.fingerprint })).rejects.toThrow(changed);
  expect(await statuses(id)).toEqual(["planned"]);
  expect(await approve({ plan: fingerprint })).toMatchObject({ change: { kind: "moved" } });
});

test("an approval that names no plan is for the one that a person was last shown", async () => {
  const { see, put, approve, goOn, statuses } = await startPlanned();
  await see({ shown: "true" });
  await put(["c"]);
  // A look that is shown to nobody does not count.
  await see();
  for (const act of [approve, goOn]) await expect(act()).rejects.toThrow(changed);
  expect(await statuses(id)).toEqual(["planned"]);
  await see({ shown: "true" });
  expect(await approve()).toMatchObject({ change: { kind: "moved" } });
});

test("a plan that nobody was shown can be approved without one, as in a script", async () => {
  const { put, approve } = await startPlanned();
  await put(["c"]);
  expect(await approve()).toMatchObject({ change: { kind: "moved" } });
});

test("of two people who change the same plan, the second is refused", async () => {
  const { see, put } = await startPlanned();
  const { fingerprint } = await see({ shown: "true" });
  await put(["c"], { replaces: fingerprint });
  await expect(put(["d"], { replaces: fingerprint })).rejects.toThrow(changed);
  await expect(put(["d"])).rejects.toThrow(changed);
  expect((await see({ shown: "true" })).items.map((item) => item.id)).toEqual(["c"]);
  expect((await put(["d"])).items.map((item) => item.id)).toEqual(["d"]);
});

test("every part of an item that is shown changes the fingerprint of its plan", async () => {
  const { see, core } = await startPlanned();
  const item = { id: "a", title: "A", description: "x", needs: [], files: ["a.ts"], size: "M" };
  const put = (items: readonly object[]) =>
    core.submit(id, { kind: "plan", actor: { role: "human" }, items }).then(async () => (await see()).fingerprint);
  const other = { id: "b", title: "B", description: "", needs: [], files: [], size: "S" };
  const plans = [
    [item],
    [item, other],
    [other, item],
    ...[{ title: "B" }, { description: "y" }, { files: ["b.ts"] }, { size: "L" }].map((more) => [{ ...item, ...more }]),
    [{ ...item, needs: ["b"] }, other],
  ];
  const fingerprints = [];
  for (const plan of plans) fingerprints.push(await put(plan));
  expect(new Set(fingerprints).size).toBe(plans.length);
  expect(await put([item])).toBe(fingerprints[0]);
});
