import { expect, test } from "vitest";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import type { Pane } from "../../ports/terminal.ts";
import { createAwaitLogin } from "./brake.ts";
import type { RunWatch } from "./watch-run.ts";

function stage() {
  const clock = createScriptedClock(0);
  const now = { state: "out", watchers: 0 };
  const ended: string[] = [];
  const awaitLogin = createAwaitLogin({ clock, end: async (_, { word }) => void ended.push(word) });
  const watch = () =>
    ({
      run: { id: "t1/worker#1" },
      pane: { watchers: now.watchers } as Pane,
      harness: { name: "codex", login: async () => ({ state: now.state, hint: "" }) },
    }) as unknown as RunWatch;
  const look = async () => {
    await clock.pass(20_000);
    await awaitLogin(watch());
    return ended;
  };
  return { now, look };
}

test("a run that waits for a login is restarted once a person has logged in", async () => {
  const { now, look } = stage();
  expect(await look()).toEqual([]);
  now.state = "in";
  expect(await look()).toEqual(["lost"]);
  // By now the screen no longer shows a missing login.
  expect(await look()).toEqual(["lost"]);
});

test("a run is not restarted where the login was never seen to be missing, or where a person has its window open", async () => {
  const { now, look } = stage();
  now.state = "in";
  expect(await look()).toEqual([]);
  now.state = "out";
  await look();
  Object.assign(now, { state: "in", watchers: 1 });
  expect(await look()).toEqual([]);
  now.watchers = 0;
  expect(await look()).toEqual(["lost"]);
});
