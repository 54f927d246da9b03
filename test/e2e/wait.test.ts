import { expect, test, vi } from "vitest";
import { startBrew } from "./brew-stage.ts";

vi.setConfig({ testTimeout: 120_000 });

test("wait reports how each task ended, and the exit code says whether all went well", async () => {
  const { signalbox, in: at } = await startBrew(["coffee"]);
  const coffee = at("coffee");
  const wait = (...args: readonly string[]) => signalbox(["task", "wait", ...args], coffee);
  for (const summary of ["One pot", "Two pots", "Three pots"]) await signalbox(["task", "create", summary], coffee);
  await signalbox(["task", "continue", "1"], coffee);
  await signalbox(["task", "update", "1", "--status", "served"], coffee);
  await signalbox(["task", "cancel", "2"], coffee);

  expect(await wait("1")).toEqual({ code: 0, stdout: "coffee#1  served\n", stderr: "" });
  expect(await wait("2")).toMatchObject({ code: 1, stdout: "coffee#2  spilled\n" });
  expect(await wait("1", "2")).toMatchObject({ code: 1, stdout: "coffee#1  served\ncoffee#2  spilled\n" });
  // The task would never continue by itself.
  const needed = await wait("3");
  expect(needed.code).toBe(1);
  expect(needed.stdout).toMatch(/^coffee#3 {2}todo {2}needs you: .*signalbox task /);
  expect(await wait("3", "--timeout", "0s")).toMatchObject({
    ...{ code: 4, stdout: "coffee#3  todo  not yet\n", stderr: "The time is up.\n" },
  });
  // With --any one task is enough, and the others do not count.
  expect(await wait("3", "1", "--any")).toMatchObject({
    ...{ code: 0, stdout: "coffee#3  todo  not yet\ncoffee#1  served\n" },
  });
  expect(await wait("3", "--for", "todo")).toMatchObject({ code: 0, stdout: "coffee#3  todo\n" });
  // The history has the task's earlier states, also from before the wait.
  expect(await wait("1", "--for", "todo")).toMatchObject({ code: 0, stdout: "coffee#1  served\n" });
  expect(await wait("1", "--for", "brewing")).toMatchObject({ code: 0, stdout: "coffee#1  served\n" });
  expect((await wait("1", "--for", "asking")).code).toBe(1);
  // In an open task, events before a person last moved it belong to an earlier attempt.
  await signalbox(["task", "continue", "3"], coffee);
  expect(await wait("3", "--for", "brewing")).toMatchObject({ code: 0 });
  expect((await wait("3", "--for", "todo", "--timeout", "1s")).code).not.toBe(0);
  const json = JSON.parse((await wait("1", "3", "1", "--timeout", "0s", "--json")).stdout);
  expect(json).toMatchObject({
    timedOut: true,
    tasks: [
      { end: "over", number: 1, status: "served", outcome: "done" },
      { end: "waiting", number: 3, status: "brewing", outcome: null },
    ],
  });
  expect((await wait("99")).code).toBe(3);
  // A misspelled state would wait for ever.
  const misspelt = await wait("3", "--for", "servd");
  expect(misspelt).toMatchObject({ code: 2, stdout: "" });
  expect(misspelt.stderr).toMatch(/has no state "servd"\.\n.*Did you mean "served"\?/);
  expect(await wait("3", "--timeout", "soon")).toMatchObject({ code: 2, stdout: "" });
});
