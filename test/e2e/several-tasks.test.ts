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
  // The first that failed says what the shell is told.
  expect((await signalbox(["task", "continue", "99", "2"], coffee)).code).toBe(3);
  expect((await signalbox(["task", "continue", "2", "99"], coffee)).code).toBe(1);
  const unasked = await signalbox(["task", "delete", "2", "tea#1"], coffee);
  expect(unasked).toMatchObject({ code: 2, stdout: "" });
  expect(unasked.stderr).toContain('Delete coffee#2 "Two pots", tea#1 "A cup"?');
  expect((await signalbox(["task", "delete", "2", "tea#1", "--yes"], coffee)).code).toBe(0);
  expect((await signalbox(["task", "show", "2"], coffee)).code).toBe(3);
  expect((await signalbox(["task", "cancel"], coffee)).stderr).toContain("TASK is missing.");
});

test("ls, new, rm and help are understood, and open tasks are offered first", async () => {
  const { signalbox, in: at } = await startBrew(["coffee"]);
  const coffee = at("coffee");
  for (const summary of ["One pot", "Two pots"])
    expect((await signalbox(["task", "new", summary], coffee)).code).toBe(0);
  await signalbox(["task", "cancel", "2"], coffee);
  expect((await signalbox(["task", "ls"], coffee)).stdout).toContain("One pot");
  for (const noun of ["project", "workspace", "salvage", "ticket", "agent", "crew", "harness", "workflow"])
    expect({ noun, code: (await signalbox([noun, "ls"], coffee)).code }).toEqual({ noun, code: 0 });
  const offered = (await signalbox(["complete", "--", "task", "explain", ""], coffee)).stdout.split("\n");
  expect(offered.filter((each) => each.includes("#"))).toEqual(["coffee#1", "coffee#2"]);
  expect((await signalbox(["task", "rm", "2", "--yes"], coffee)).code).toBe(0);
  const { stdout } = await signalbox(["task", "create", "--help"], coffee);
  for (const words of [
    ["help", "task", "create"],
    ["task", "help", "create"],
  ])
    expect((await signalbox(words, coffee)).stdout).toBe(stdout);
  expect((await signalbox(["help"], coffee)).stdout).toContain("Commands:");
  expect((await signalbox(["task", "help"], coffee)).stdout).toContain("signalbox task COMMAND");
});
