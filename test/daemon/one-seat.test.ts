import { expect, test } from "vitest";
import type { Harness } from "../../src/ports/harness.ts";
import type { ProcessEnd } from "../../src/ports/processes.ts";
import { agentStage, meter } from "./agent-stage.ts";

const panel = `
version: 1
settings: { models: { default: [small, middle, large] } }
roles:
  taster: { harness: judging, mode: turn, permissions: reduced, prompt: taste, result: verdict, limits: { attempts: 2 }, model: "{models}" }
  judge: { harness: judging, mode: turn, permissions: reduced, prompt: weigh, result: verdict }
prompts: { taste: Taste, weigh: "Weigh {verdict}" }
schemas: { verdict: { type: object, required: [good], properties: { good: { type: boolean } } } }
states:
  tasting:
    panel: { members: { role: taster }, judge: { role: judge } }
    outcomes: [{ on: failed, then: broken }]
    next: done
  broken: { waits_for: human, next: done }
  done: { terminal: true }
`;

const judging = {
  ...meter,
  ...{ name: "judging", title: "Judging" },
  readOutput: () => ({
    push: () => [],
    end: ({ code }: ProcessEnd) => ({
      ...{ text: "", error: undefined, events: [] },
      answer: code === 0 ? { good: true } : undefined,
    }),
  }),
} as unknown as Harness;

/** A panel whose programs take five seconds; `play` says how the nth one ends. */
async function panelStage(seats: number, exit: (nth: number) => number = () => 0) {
  let count = 0;
  const play = () => [{ wait: 5_000 }, { exit: exit(++count) }];
  const stage = await agentStage(panel, play, undefined, { agentsMost: seats });
  stage.known.set("judging", judging);
  await stage.create("t1");
  return { ...stage, status: async () => (await stage.store.getTask("t1"))?.task.status };
}

test.each([1, 2])("a panel of three and a judge ends, also if only %i may work at a time", async (seats) => {
  const { core, until, status, processes } = await panelStage(seats);
  let most = 0;
  await until(async () => {
    most = Math.max(most, core.agents?.dispatch.atWork() ?? 0);
    return (await status()) !== "tasting";
  });
  expect([await status(), processes.started.length, most]).toEqual(["done", 4, seats]);
});

test("a failed member is retried after the others, with one seat", async () => {
  const { isIn, processes } = await panelStage(1, (nth) => (nth === 2 ? 1 : 0));
  await isIn("done");
  expect(processes.started).toHaveLength(5);
});

test("a panel continues after a restart of the daemon, with one seat", async () => {
  const { core, until, isIn, processes, start } = await panelStage(1);
  await until(async () => processes.started.length === 2);
  let isClosed = false;
  core.close().then(() => {
    isClosed = true;
  });
  await until(async () => isClosed);
  await start().recover();
  await isIn("done");
  expect(processes.started).toHaveLength(4);
});
