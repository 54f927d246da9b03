import { expect, test } from "vitest";
import { createHandlers } from "../../src/daemon/handlers.ts";
import { Fault } from "../../src/fault.ts";
import type { Harness } from "../../src/ports/harness.ts";
import { agentStage, meter } from "./agent-stage.ts";

const flow = `
version: 1
roles: { worker: { harness: talker, mode: session, permissions: reduced, prompt: work } }
prompts: { work: Brew }
states:
  todo: { waits_for: slot, next: brewing }
  brewing:
  done: { terminal: true }
transitions:
  - { from: todo, to: brewing, hooks: [acquire_workspace, { action: spawn_agent, role: worker }] }
  - { from: brewing, to: done, by: [worker, human] }
`;

/** An agent in a window that waits for input, and of which only the screen can be read. */
const talker = {
  ...meter,
  ...{ name: "talker", title: "Talker" },
  can: { ...meter.can, session: true, acknowledges: "no" },
  readScreen: () => "ready",
} as unknown as Harness;

async function idleStage() {
  const stage = await agentStage(flow, () => []);
  stage.known.set("talker", talker);
  const { terminal, core } = stage;
  const state = { isMute: false };
  const late = async (): Promise<never> => {
    throw new Fault("terminal.timeout", 'tmux did not answer "list-panes" within 15 s.', {
      retry: "later",
      hint: "The tmux server of Signalbox hangs. To end it: kill -9 42",
    });
  };
  const { list, capture, paste, press } = terminal;
  Object.assign(terminal, {
    list: () => (state.isMute ? late() : list()),
    capture: (run: string) => (state.isMute ? late() : capture(run)),
    paste: (run: string, text: string) => (state.isMute ? late() : paste(run, text)),
    press: (run: string, keys: readonly string[]) => (state.isMute ? late() : press(run, keys)),
  });
  await stage.create("t1");
  await stage.until(async () => core.agents?.watches()[0]?.signs.activity === "idle");
  const explain = createHandlers(core).explainTask as unknown as (asked: unknown) => Promise<{
    needs: readonly { reason: string; text: string; command: string }[];
    blocked: readonly { reason: string; fix: string }[];
  }>;
  const asked = { params: { task: "t1" }, body: {}, query: {}, caller: { kind: "human" }, folder: "", lastEvent: "" };
  const tell = async (text: string) => {
    const run = core.agents?.watches()[0]?.run;
    if (run !== undefined) await core.agents?.mail.tell(run, text, text);
  };
  const typed = () => {
    const run = terminal.started.at(-1)?.run ?? "";
    return terminal.received(run).flatMap((input) => (input.kind === "paste" ? [input.text] : []));
  };
  return { ...stage, state, tell, typed, explain: () => explain(asked) };
}

test("a person is told of a message that a hanging terminal delays; it is delivered once when the terminal responds", async () => {
  const { core, clock, state, tell, typed, explain, until } = await idleStage();
  const calls = async () => (await core.needs.counts()).needPerson;
  state.isMute = true;
  await tell("More water");
  await clock.pass(30_000);
  expect(await calls()).toBe(0);
  await until(async () => (await calls()) === 1);
  const { blocked } = await explain();
  expect(blocked.map(({ reason }) => reason).join("\n")).toMatch(
    /A message to worker#1 did not arrive\. The terminal server has not answered since .*It begins: More water/,
  );
  expect(blocked.map(({ fix }) => fix).join("\n")).toContain("kill -9 42");
  const status = createHandlers(core).status as unknown as (asked: unknown) => Promise<{
    terminalProblem: { reason: string; fix: string };
  }>;
  expect((await status({})).terminalProblem).toMatchObject({ fix: expect.stringContaining("kill -9 42") });
  expect(typed()).toEqual([]);
  state.isMute = false;
  await until(async () => typed().length > 0);
  await until(async () => (await calls()) === 0);
  for (let i = 0; i < 20; i++) await clock.pass(1_000);
  expect(typed()).toEqual(["More water"]);
  expect((await status({})).terminalProblem.reason).toBe("");
});
