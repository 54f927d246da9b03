import { expect, test } from "vitest";
import type { Asked } from "../../src/daemon/handlers.ts";
import { continueTask } from "../../src/daemon/requests/move-task.ts";
import { startGitStage } from "./git-stage.ts";

const id = "b1111";

const flow = `
version: 1
states:
  todo: { waits_for: human, next: sorting }
  sorting: { waits_for: human, outcomes: [{ when: approved_findings > 0, then: todo }], next: busy }
  busy: { waits_for: human, do: [merge], next: done }
  done: { terminal: true }
`;

async function start() {
  const { core, create, store } = await startGitStage({ flow });
  await create(id);
  const asked = <Body>(body: Body): Asked<object, Body> => ({
    ...{ params: { task: id }, query: {}, body, caller: { kind: "human" }, folder: "", lastEvent: "" },
  });
  return {
    goOn: (only?: "held" | "findings") => continueTask(core)(asked(only === undefined ? {} : { only })),
    status: async () => (await store.getTask(id))?.task.status,
  };
}

test("clearing an error starts no task and passes no gate: only a held task is tried again", async () => {
  const { goOn, status } = await start();
  await expect(goOn("held")).rejects.toThrow('The task is not held: it is in "todo"');
  await goOn();
  await expect(goOn("held")).rejects.toThrow('it is in "sorting"');
  await goOn();
  await expect(goOn("held")).rejects.toThrow('it is in "busy"');
  expect(await status()).toBe("busy");
});

test("the fixer is launched only where the state asks about findings", async () => {
  const { goOn, status } = await start();
  await expect(goOn("findings")).rejects.toThrow('"todo" does not wait for a person\'s decision about findings.');
  await goOn();
  await goOn("findings");
  expect(await status()).toBe("busy");
  await expect(goOn("findings")).rejects.toThrow('"busy" does not wait');
  expect(await status()).toBe("busy");
});

test("a held task is tried again, and has no fixer to launch", async () => {
  const { goOn } = await start();
  for (let count = 0; count < 2; count++) await goOn();
  await goOn();
  await expect
    .poll(async () => (await goOn("findings").catch((error: Error) => error.message)) as string)
    .toContain("The task is held: ");
  expect((await goOn("held")).kind).toBe("stayed");
});
