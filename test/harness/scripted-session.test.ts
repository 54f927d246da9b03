import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Harness, HarnessEvent, HarnessOrder } from "../../src/ports/harness.ts";
import { createScriptedStage, linesOf, readJsonLines } from "./scripted-stage.ts";
import { createTmux, until } from "./tmux.ts";

let stage: ReturnType<typeof createScriptedStage>;
let tmux: ReturnType<typeof createTmux>;
beforeEach(() => {
  stage = createScriptedStage();
  tmux = createTmux(stage.root);
});
afterEach(() => {
  tmux.close();
  stage.close();
});

const script = `
roles:
  any:
    - when: { prompt: slow }
      steps: [{ sleep: 10h }, { say: "Never said" }]
    - when: { prompt: think }
      steps: [{ think: 10h }]
    - when: { prompt: allowed }
      steps: [{ ask: { about: "Remove everything", yes: [{ say: "Agreed." }], no: [{ say: "Refused." }] } }]
    - when: { prompt: limit }
      steps: [{ error: { kind: rate-limit, message: Too much. } }]
    - when: { prompt: crash }
      steps: [{ crash: SIGKILL }]
    - when: { prompt: quit }
      steps: [{ exit: 3 }]
    - steps: [{ say: "Heard {prompt}" }]
`;

async function start(text: string, given: Partial<HarnessOrder> = {}) {
  const harness: Harness = stage.harnessFor(text);
  const order = stage.orderFor({ mode: "session", prompt: "", ...given });
  const launch = await harness.prepare(order);
  tmux.open(launch, order.folder);
  const file = join(order.runFolder, "events");
  const events = () => linesIn(file).flatMap((line) => [...harness.readEvidence(line)]);
  const state = () => harness.readScreen(tmux.screen(), tmux.title());
  return {
    order,
    events,
    state,
    transcript: () => stage.transcript(order.session.id),
    is: (wanted: ReturnType<typeof state>) => until(`the screen is ${wanted}`, () => state() === wanted),
    saw: (...kinds: readonly HarnessEvent["kind"][]) =>
      until(`the events ${kinds}`, () => kindsOf(events()) === kinds.join() && events()),
  };
}

function linesIn(file: string): readonly string[] {
  return readJsonLines(file).length === 0 ? [] : linesOf(file);
}

function kindsOf(events: readonly HarnessEvent[]): string {
  return events.map(({ kind }) => kind).join();
}

test("the agent reports its session, the prompt, that it is busy, and that it is idle", async () => {
  const agent = await start(script, { prompt: "the first words", session: { kind: "new", id: "named" } });
  const events = await agent.saw("session", "prompted", "busy", "idle");
  expect(events).toMatchObject([
    { id: "named", transcript: join(stage.state, "sessions/named.jsonl") },
    { text: "the first words" },
    {},
    { said: "Heard the first words" },
  ]);
  await agent.is("ready");
  expect(tmux.title()).toMatch(/^✳/);
  expect(tmux.screen()).toContain("Heard the first words");
});

test("a busy agent says so, queues submitted messages, and handles them one by one", async () => {
  const agent = await start(script);
  await agent.is("ready");
  tmux.paste("be slow", "Enter");
  await agent.is("busy");
  expect(tmux.screen()).toContain("esc to interrupt");
  expect(tmux.title()).not.toMatch(/^✳/);
  tmux.paste("one", "Enter");
  tmux.paste("two", "Enter");
  await until("both are queued", () => /queued: one\n.*queued: two/.test(tmux.screen()));
  expect(agent.events().filter(({ kind }) => kind === "prompted")).toHaveLength(1);
  tmux.press("Escape");
  const events = await until("all is over", () => {
    const all = agent.events();
    return all.filter(({ kind }) => kind === "idle").length === 2 && all;
  });
  // After an interruption the agent reports no idle event.
  expect(events.filter(({ kind }) => kind !== "busy")).toMatchObject([
    { kind: "session" },
    { text: "be slow" },
    { text: "one" },
    { said: "Heard one" },
    { text: "two" },
    { said: "Heard two" },
  ]);
});

test("a paste of many lines is one message, and Enter directly after it submits", async () => {
  const agent = await start(script);
  await agent.is("ready");
  const text = Array.from({ length: 200 }, (_, line) => `line ${line} with ünïcödé and \${HOME} #(touch x)`).join("\n");
  tmux.paste(text, "Enter");
  const events = await agent.saw("session", "prompted", "busy", "idle");
  expect(events[1]).toEqual({ kind: "prompted", text });
});

test("Enter directly after typed text is only a new line, as in the real programs", async () => {
  const agent = await start(`paste_burst: 60000\n${script}`);
  await agent.is("ready");
  tmux.type("typed", "Enter");
  await until("the text is shown", () => tmux.screen().includes("> typed"));
  tmux.press("C-u");
  await until("the box is empty", () => !tmux.screen().includes("typed"));
  tmux.paste("pasted", "Enter");
  await agent.saw("session", "prompted", "busy", "idle");
  expect(agent.transcript().filter(({ kind }) => kind === "received")).toEqual([{ kind: "received", text: "pasted" }]);
});

test("a dialog swallows a typed message, and records that", async () => {
  const agent = await start(script, { prompt: "is it allowed" });
  await agent.is("asks");
  await agent.saw("session", "prompted", "busy", "asks");
  tmux.paste("words for the agent");
  await until("it is noted", () => agent.transcript().some(({ kind }) => kind === "swallowed"));
  expect(agent.state()).toBe("asks");
  tmux.press("n");
  const events = await agent.saw("session", "prompted", "busy", "asks", "busy", "idle");
  expect(events.at(-1)).toEqual({ kind: "idle", said: "Refused." });
  expect(agent.transcript().filter(({ kind }) => kind === "swallowed")).toEqual([
    { kind: "swallowed", text: "words for the agent" },
  ]);
  expect(agent.transcript().filter(({ kind }) => kind === "received")).toHaveLength(1);
});

test("Enter in a dialog confirms: submitting blindly means yes", async () => {
  const agent = await start(script, { prompt: "is it allowed" });
  await agent.is("asks");
  tmux.paste("go on", "Enter");
  const events = await agent.saw("session", "prompted", "busy", "asks", "busy", "idle");
  expect(events.at(-1)).toEqual({ kind: "idle", said: "Agreed." });
});

test("an agent whose script says so asks for trust first, and starts only when a person agrees", async () => {
  const agent = await start(`trust: true\n${script}`, { prompt: "hello" });
  await agent.is("asks");
  expect(kindsOf(agent.events())).toBe("asks");
  tmux.press("y");
  await agent.saw("asks", "session", "prompted", "busy", "idle");
});

test("an agent reports an error, and waits for the next message", async () => {
  const agent = await start(script, { prompt: "the limit" });
  const events = await agent.saw("session", "prompted", "busy", "failed", "idle");
  expect(events[3]).toMatchObject({ error: { kind: "rate-limit", message: "Too much." } });
  await agent.is("ready");
});

test.each([
  ["C-d", 0],
  ["C-c", 0],
] as const)("%s in an empty input box ends the agent normally", async (key, code) => {
  const agent = await start(script);
  await agent.is("ready");
  tmux.press(key);
  expect(await until("it is dead", () => tmux.dead())).toBe(code);
  await agent.saw("session", "over");
});

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s ends the agent normally, even while it is busy", async (signal, code) => {
  const agent = await start(script, { prompt: "think" });
  await agent.is("busy");
  process.kill(tmux.pid(), signal);
  expect(await until("it is dead", () => tmux.dead())).toBe(code);
  await agent.saw("session", "prompted", "busy", "over");
});

test("a crash reports no event", async () => {
  const agent = await start(script, { prompt: "crash" });
  expect(await until("it is dead", () => tmux.dead())).toBe(-9);
  expect(kindsOf(agent.events())).toBe("session,prompted,busy");
});

test("an exit step ends the agent with its code", async () => {
  const agent = await start(script, { prompt: "quit" });
  expect(await until("it is dead", () => tmux.dead())).toBe(3);
  await agent.saw("session", "prompted", "busy", "over");
});

test("a killed session is resumed by its id, with its conversation", async () => {
  const counting =
    'roles: { any: [{ times: 1, steps: [{ say: "First." }] }, { steps: [{ say: "Message {turn}." }] }] }';
  const first = await start(counting, { prompt: "one", session: { kind: "new", id: "kept" } });
  await first.saw("session", "prompted", "busy", "idle");
  process.kill(tmux.pid(), "SIGKILL");
  await until("it is dead", () => tmux.dead());
  tmux.close();
  tmux = createTmux(stage.root);
  const second = await start(counting, { prompt: "two", session: { kind: "resume", id: "kept" } });
  const events = await second.saw("session", "prompted", "busy", "idle");
  expect(events.at(-1)).toEqual({ kind: "idle", said: "Message 2." });
});

test("the built-in script plays a task in a terminal up to its review", async () => {
  const agent = await start("", { prompt: "Plan and build." });
  await agent.saw("session", "prompted", "busy", "idle");
  expect(stage.calls()).toEqual(["task update --status working", "task update --status agent-review"]);
  expect(stage.git("log", "--format=%s", "-1")).toBe("Note: Say hello");
});

test("arbitrary bytes on the screen do not prevent the next message from arriving", async () => {
  const wild = "roles: { any: [{ when: { prompt: wild }, steps: [{ binary: 64 KB }] }, { steps: [{ say: Calm. }] }] }";
  const agent = await start(wild, { prompt: "be wild" });
  await agent.saw("session", "prompted", "busy", "idle");
  await agent.is("ready");
  tmux.press("C-u");
  tmux.paste("calm down", "Enter");
  await until("it answers", () => agent.events().some((event) => event.kind === "idle" && event.said === "Calm."));
});
