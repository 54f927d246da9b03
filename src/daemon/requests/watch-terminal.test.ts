import { expect, test } from "vitest";
import { agentStage, meter } from "../../../test/daemon/agent-stage.ts";
import { closeCodes } from "../../api/terminal.ts";
import type { LiveSocket } from "../http/upgrade.ts";
import { watchTerminal } from "./watch-terminal.ts";

const text = `
version: 1
roles: { worker: { harness: typist, mode: session, permissions: reduced, prompt: work } }
prompts: { work: Brew }
states:
  brewing: { agent: { role: worker }, next: done }
  done: { terminal: true }
transitions: [{ from: brewing, to: done, by: worker, gate: { section: "## Handoff" } }]
`;

/** A person who has control of a run's terminal, over a socket whose credential the test decides about. */
async function watched() {
  const stage = await agentStage(text, () => []);
  const can = { ...meter.can, session: true };
  stage.known.set("typist", { ...meter, name: "typist", can } as typeof meter);
  await stage.create("t1");
  await stage.hasStarted();
  const state = { isAllowed: async () => true, closed: 0 };
  const told: { readonly type: string; readonly isYours?: boolean }[] = [];
  let send = (_: string) => {};
  let over = () => {};
  const socket: LiveSocket = {
    send(message, sent) {
      told.push(JSON.parse(message));
      queueMicrotask(sent);
    },
    close(code) {
      state.closed ||= code;
      over();
    },
    onMessage: (tell) => {
      send = tell;
    },
    onClose: (tell) => {
      over = tell;
    },
    isAllowed: () => state.isAllowed(),
  };
  const asked = { params: { task: "t1" }, query: {}, body: {}, caller: { kind: "human" }, folder: "", lastEvent: "" };
  const attended: string[] = [];
  const attend = (id: string) => {
    attended.push(id);
    return () => void attended.splice(attended.indexOf(id), 1);
  };
  const { agents } = stage.core;
  if (agents === undefined) throw new Error("There are agents.");
  (await watchTerminal({ ...stage.core, agents: { ...agents, attend } })(asked as never))(socket);
  const say = async (message: object) => {
    send(JSON.stringify(message));
    await stage.rest(1);
  };
  const [run] = await stage.store.runs.list({ task: "t1" });
  const typed = () => stage.terminal.received(run?.started?.name ?? "");
  await say({ take: true });
  await stage.until(async () => told.some(({ isYours }) => isYours));
  await say({ keys: ["a"] });
  await stage.until(async () => typed().length > 0);
  return { ...stage, state, told, say, typed, attended, close: () => over() };
}

test("a run whose terminal a watcher has control of is attended, until the watcher releases it or leaves", async () => {
  for (const leaves of [false, true]) {
    const { say, attended, close } = await watched();
    expect(attended).toEqual(["t1/worker#1"]);
    await say({ take: true });
    expect(attended).toEqual(["t1/worker#1"]);
    if (leaves) close();
    else await say({ take: false });
    expect(attended).toEqual([]);
  }
});

test.each([
  ["was revoked", async () => false],
  [
    "cannot be checked",
    async () => {
      throw new Error("The store is broken.");
    },
  ],
])("a watcher whose credential %s types nothing more, and is cut off", async (_, isAllowed) => {
  const { state, say, typed, rest, told } = await watched();
  const before = [typed().length, told.length];
  state.isAllowed = isAllowed;
  await say({ keys: ["b"] });
  await say({ paste: "rm -r /" });
  await rest(100);
  expect([typed().length, told.length]).toEqual(before);
  expect(state.closed).toBe(closeCodes.denied);
});
