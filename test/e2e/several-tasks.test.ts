import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { startBrew } from "./brew-stage.ts";

vi.setConfig({ testTimeout: 120_000 });

test("a command takes several tasks of several projects; a failure does not stop the others, and sets the exit code", async () => {
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
  // The first failure sets the exit code.
  expect((await signalbox(["task", "continue", "99", "2"], coffee)).code).toBe(3);
  expect((await signalbox(["task", "continue", "2", "99"], coffee)).code).toBe(1);
  const unasked = await signalbox(["task", "delete", "2", "tea#1"], coffee);
  expect(unasked).toMatchObject({ code: 2, stdout: "" });
  expect(unasked.stderr).toContain('Delete coffee#2 "Two pots", tea#1 "A cup"?');
  expect((await signalbox(["task", "delete", "2", "tea#1", "--yes"], coffee)).code).toBe(0);
  expect((await signalbox(["task", "show", "2"], coffee)).code).toBe(3);
  expect((await signalbox(["task", "cancel"], coffee)).stderr).toContain("TASK is missing.");
});

test("ls, new, rm and help are understood, and completion offers open tasks first", async () => {
  const { signalbox, home, in: at } = await startBrew(["coffee"]);
  const coffee = at("coffee");
  for (const summary of ["One pot", "Two pots"])
    expect((await signalbox(["task", "new", summary], coffee)).code).toBe(0);
  await signalbox(["task", "cancel", "2"], coffee);
  expect((await signalbox(["task", "ls"], coffee)).stdout).toContain("One pot");
  for (const noun of ["project", "workspace", "salvage", "ticket", "agent", "crew", "harness", "workflow"])
    for (const verb of ["ls", "list"])
      expect({ noun, verb, code: (await signalbox([noun, verb], coffee)).code }).toEqual({ noun, verb, code: 0 });
  // In the folder of the home, a relative path would look like that of a repository's file.
  expect((await signalbox(["config", "set", "pool_size", "4"], home)).stdout).toBe(`${join(home, "config.yml")}\n`);
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

test("cancel names the task that waits for the slot, and the command that starts it", async () => {
  const { signalbox, home, in: at } = await startBrew(["coffee"]);
  const coffee = at("coffee");
  writeFileSync(
    join(home, "workflows", "line.yml"),
    `name: line
version: 1
states:
  queued: { waits_for: slot, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: queued, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, by: human, hooks: [release_workspace, spawn_next] }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`,
  );
  await signalbox(["project", "update", "coffee", "--pool-size", "1"], coffee);
  for (const summary of ["One pot", "Two pots", "Three pots"])
    await signalbox(["task", "create", summary, "--workflow", "line"], coffee);
  const { id } = JSON.parse((await signalbox(["task", "show", "2", "--json"], coffee)).stdout).task;
  await vi.waitFor(
    async () => expect((await signalbox(["task", "show", "1"], coffee)).stdout).toContain("busy"),
    60_000,
  );
  const start = `signalbox task spawn ${id}`;
  const waits = (await signalbox(["task", "explain", "2"], coffee)).stdout;
  expect(waits.replace(/\s+/g, " ")).toContain(
    `This task starts by itself when a task that has one ends in done. A task that ends in dropped frees its workspace, but starts nothing. Then start this one: ${start} `,
  );
  expect(waits).toContain("--pool-size 2");
  expect(waits).toContain("Start when a task that has a slot ends in done");
  const cancelled = (await signalbox(["task", "cancel", "1"], coffee)).stderr;
  expect(cancelled).toContain(`coffee#2 waits for the free slot and does not start by itself: ${start}\n`);
  // It has no commits to continue from.
  expect(cancelled).not.toContain("what it committed");
  const needed = (await signalbox(["task", "list", "--needs-me"], coffee)).stdout;
  expect(needed).toContain(start);
  expect(needed).not.toContain("coffee#3");
  const explained = (await signalbox(["task", "explain", "2"], coffee)).stdout;
  expect(explained.match(/A slot is free/g)).toHaveLength(1);
  expect(explained.replace(/\s+/g, " ")).toContain("the next task is started only when another ends in done.");
  expect(explained).toContain("Start when another task ends in done, or you start a task of coffee");
  expect(await signalbox(["task", "spawn", id], coffee)).toMatchObject({ code: 0 });
});

test("spawn in a paused project says that the agent waits for the end of the pause", async () => {
  const { signalbox, home, in: at } = await startBrew(["coffee"]);
  const coffee = at("coffee");
  writeFileSync(
    join(home, "workflows", "line.yml"),
    `name: line
version: 1
states:
  queued: { waits_for: slot, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
`,
  );
  for (const summary of ["One pot", "Two pots"])
    await signalbox(["task", "create", summary, "--workflow", "line", "--no-spawn"], coffee);
  expect((await signalbox(["task", "spawn", "1"], coffee)).stderr).toMatch(
    /^To see when its agent is at work: signalbox task explain /,
  );
  await signalbox(["pause", "--project", "coffee"], coffee);
  const { stderr } = await signalbox(["task", "spawn", "2"], coffee);
  expect(stderr).toBe(
    "Its agent is not started yet. The project coffee is paused. Resume with: signalbox resume --project coffee\n",
  );
});
