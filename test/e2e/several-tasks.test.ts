import { expect, test, vi } from "vitest";
import { startBrew } from "./brew-stage.ts";

vi.setConfig({ testTimeout: 120_000 });

test("a verb takes several tasks of several projects; one that fails stops no other, and the exit code says so", async () => {
  const { signalbox, in: at } = await startBrew(["coffee", "tea"]);
  const coffee = at("coffee");
  for (const summary of ["One pot", "Two pots", "Three pots"]) await signalbox(["task", "create", summary], coffee);
  await signalbox(["task", "create", "A cup"], at("tea"));
  const started = await signalbox(["task", "continue", "1", "tea#1"], coffee);
  expect(started).toEqual({ code: 0, stdout: "1: todo → brewing\ntea#1: todo → brewing\n", stderr: "" });
  const cancelled = await signalbox(["task", "cancel", "2", "99", "tea#1", "2"], coffee);
  expect(cancelled).toMatchObject({ code: 3, stdout: "2: todo → spilled\ntea#1: brewing → spilled\n" });
  expect(cancelled.stderr).toContain('99: error: There is no task "#99" in coffee.');
  const json = await signalbox(["task", "continue", "3", "2", "--json"], coffee);
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({
    results: [
      { reference: "3", answer: { kind: "moved", task: { status: "brewing" } }, error: null },
      { reference: "2", answer: null, error: { code: "refused" } },
    ],
  });
  const unasked = await signalbox(["task", "delete", "2", "tea#1"], coffee);
  expect(unasked).toMatchObject({ code: 2, stdout: "" });
  expect(unasked.stderr).toContain('Delete coffee#2 "Two pots", tea#1 "A cup"?');
  expect((await signalbox(["task", "delete", "2", "tea#1", "--yes"], coffee)).code).toBe(0);
  expect((await signalbox(["task", "show", "2"], coffee)).code).toBe(3);
  expect((await signalbox(["task", "cancel"], coffee)).stderr).toContain("TASK is missing.");
});
