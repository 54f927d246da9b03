import { expect, test } from "vitest";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import { createScriptedTerminal } from "../../../test/scripted-terminal.ts";
import type { Harness, HarnessEvent, ScreenState } from "../../ports/harness.ts";
import type { Message, Run, StartedRun } from "../../ports/records.ts";
import { type DeliverPorts, deliver } from "./messages.ts";
import { type WatchPorts, watchRun } from "./watch-run.ts";

const name = "t-1";

interface Options {
  readonly started?: Partial<StartedRun>;
  readonly acknowledges?: "hook" | "no";
  /** How often Enter does nothing before it sends the text in the input box. */
  readonly deaf?: number;
}

/**
 * An agent with an input box: the last line of its screen shows its state, and hooks report the prompts that it
 * received.
 */
async function open({ started = {}, acknowledges = "hook", deaf = 0 }: Options = {}) {
  const clock = createScriptedClock(1_000_000);
  const terminal = createScriptedTerminal(clock);
  await terminal.open({
    ...{ run: name, session: "t", window: "worker", argv: ["agent"], env: {}, cwd: "/", title: "", folder: "/" },
  });
  const events: HarnessEvent[] = [];
  const said: string[] = [];
  let box = "";
  let look: ScreenState = "ready";
  let swallows = deaf;
  const draw = () => terminal.show(name, [...said, `> ${box}`, look].join("\n"));
  const show = (state: ScreenState) => {
    look = state;
    draw();
  };
  const hear = (text: string) => {
    said.push(text);
    events.push({ kind: "prompted", text }, { kind: "idle", said: "" });
  };
  const send = () => {
    if (box !== "") hear(box);
    box = "";
    draw();
  };
  terminal.onInput((_, input) => {
    if (input.kind === "paste") box += input.text;
    else if (swallows > 0) swallows--;
    else send();
    draw();
  });
  const harness = {
    can: { acknowledges },
    readScreen: (screen: string) => screen.trimEnd().split("\n").at(-1) as ScreenState,
    readEvidence: (line: string) => [JSON.parse(line) as HarnessEvent],
  } as unknown as Harness;

  const kept = new Map<string, Message>();
  const noted: string[] = [];
  const raised: string[] = [];
  const store = {
    messages: {
      put: async (message: Message) => void kept.set(message.id, message),
      get: async (id: string) => kept.get(id),
      list: async () => [...kept.values()],
    },
    runs: { put: async () => {} },
    addEvents: async (_: string, [event]: readonly { type: string }[]) => void noted.push(event?.type ?? ""),
  } as unknown as DeliverPorts["store"];
  const run: Run & { started: StartedRun } = {
    ...{ id: "t/worker#1", project: "coffee", task: "t", at: 0, key: "worker#1", role: "worker", harness: "any" },
    ...{ model: "", session: "", folder: "/", pid: 1, endedAt: undefined, word: "" },
    started: {
      ...{ name, mode: "session", window: "worker", at: clock.now(), entry: 1, part: 0, isResumed: false },
      ...{ transcript: "", transcriptFrom: 0, raised: "", ...started },
    },
  };
  const position = { offset: 0, before: "" };
  const openTail = () => {
    let read = 0;
    return {
      read: async () => {
        const lines = events.slice(read).map((event) => ({ text: JSON.stringify(event), isCut: false }));
        read = events.length;
        return { lines, position, hasMore: false, isAnew: false };
      },
    };
  };
  const watchPorts = {
    ...{ store, clock, terminal, since: 0, tails: { open: openTail, watch: () => () => {} } },
    book: { of: () => undefined, add: async () => {} },
    eventsFile: () => "/events",
    limitsOf: async () => ({ stall: undefined, time: undefined }),
    taskFileOf: () => "",
    heal: async () => {},
    learnt: () => {},
  } as unknown as WatchPorts;
  /** As after a restart of the daemon: everything is read again. */
  const watch = () => watchRun(watchPorts, run, harness);
  const lookAt = async (watched: ReturnType<typeof watch>) => {
    const panes = new Map((await terminal.list()).map((pane) => [pane.run, pane]));
    await watched.look({ number: 1, panes, server: { id: "1", startedAt: 0 } });
  };
  const ports: DeliverPorts & { stopped: boolean } = {
    ...{ store, clock, terminal, look: lookAt, stopped: false },
    isStopped: () => ports.stopped,
    takeSeat: async () => true,
    raise: async (_, reason) => void raised.push(reason),
  };
  const message = (id: string, text: string, rest: Partial<Message> = {}): Message => ({
    ...{
      id,
      project: "coffee",
      task: "t",
      at: 0,
      from: "human",
      to: "worker#1",
      text,
      deliveredAt: undefined,
      ...rest,
    },
  });
  draw();
  return {
    ...{ clock, terminal, events, said, kept, noted, raised, watch, lookAt, ports, message, show, hear },
    pastes: () => terminal.received(name).filter(({ kind }) => kind === "paste").length,
    /** Delivers while time passes; undefined where it takes longer than `within`. */
    async deliver(watched: ReturnType<typeof watch>, what: Message, within = 90_000) {
      let answer: boolean | undefined;
      deliver(ports, watched, what).then((given) => {
        answer = given;
      });
      for (let passed = 0; passed < within && answer === undefined; passed += 500) await clock.pass(500);
      return answer;
    },
  };
}

test("a message is typed once, and Enter is pressed until it has arrived", async () => {
  const stage = await open({ deaf: 2 });
  const watched = stage.watch();
  await stage.lookAt(watched);
  expect(await stage.deliver(watched, stage.message("a", "Mind the step."))).toBe(true);
  expect(stage.said).toEqual(["Mind the step."]);
  expect(stage.pastes()).toBe(1);
  expect(stage.kept.get("a")).toMatchObject({ evidence: "seen" });
});

test("a message that never arrives is typed once, and then a person is called", async () => {
  const stage = await open({ deaf: 1_000 });
  const watched = stage.watch();
  await stage.lookAt(watched);
  expect(await stage.deliver(watched, stage.message("a", "Mind the step."))).toBe(true);
  expect(stage.pastes()).toBe(1);
  expect(stage.raised).toHaveLength(1);
  expect(stage.kept.get("a")).toMatchObject({ deliveredAt: undefined, problem: expect.stringMatching(/typed/) });
});

test("a stopping daemon does not wait for a delivery; the next one finds the message in the input box", async () => {
  const stage = await open({ deaf: 1_000 });
  const watched = stage.watch();
  await stage.lookAt(watched);
  const answer = stage.deliver(watched, stage.message("a", "Mind the step."), 5_000);
  await stage.clock.pass(1_000);
  stage.ports.stopped = true;
  expect(await answer).toBe(false);
  expect(stage.raised).toEqual([]);
  expect(stage.kept.get("a")).toMatchObject({ triedAt: expect.any(Number), deliveredAt: undefined });
  expect(stage.kept.get("a")?.problem).toBeUndefined();
});

test("an earlier prompt with the same text does not count as the delivery", async () => {
  const stage = await open({ deaf: 2 });
  stage.hear("Go on.");
  stage.hear("Go on. And then rest.");
  const watched = stage.watch();
  await stage.lookAt(watched);
  expect(await stage.deliver(watched, stage.message("a", "Go on."))).toBe(true);
  expect(stage.said).toEqual(["Go on.", "Go on. And then rest.", "Go on."]);
  expect(await stage.deliver(watched, stage.message("b", "Go on."))).toBe(true);
  expect(stage.said).toHaveLength(4);
});

test("a message that a killed daemon left in the input box is sent, and not typed again", async () => {
  const stage = await open();
  await stage.terminal.paste(name, "Mind the step.");
  const watched = stage.watch();
  await stage.lookAt(watched);
  expect(await stage.deliver(watched, stage.message("a", "Mind the step.", { triedAt: 1, promptsBefore: 0 }))).toBe(
    true,
  );
  expect(stage.said).toEqual(["Mind the step."]);
  expect(stage.pastes()).toBe(1);
});

test("a message that arrived before the daemon was killed is not typed again", async () => {
  const stage = await open();
  stage.hear("Mind the step.");
  const watched = stage.watch();
  await stage.lookAt(watched);
  expect(await stage.deliver(watched, stage.message("a", "Mind the step.", { triedAt: 1, promptsBefore: 0 }))).toBe(
    true,
  );
  expect(stage.terminal.received(name)).toEqual([]);
});

test("a message that a killed daemon had not typed is typed, although the screen shows the same text from before", async () => {
  const stage = await open();
  stage.hear("Mind the step.");
  const watched = stage.watch();
  await stage.lookAt(watched);
  expect(await stage.deliver(watched, stage.message("a", "Mind the step.", { triedAt: 1, promptsBefore: 1 }))).toBe(
    true,
  );
  expect(stage.said).toEqual(["Mind the step.", "Mind the step."]);
  expect(stage.raised).toEqual([]);
});

test("the daemon types nothing before the agent's first prompt has arrived", async () => {
  const stage = await open({ started: { hasPrompt: true } });
  const watched = stage.watch();
  await stage.clock.pass(5_000);
  await stage.lookAt(watched);
  expect(watched.signs.activity).toBe("starting");
  expect(await stage.deliver(watched, stage.message("a", "Hello."))).toBe(false);
  stage.hear("The task is this.");
  await stage.lookAt(watched);
  expect(watched.signs.activity).toBe("idle");
  expect(await stage.deliver(watched, stage.message("a", "Hello."))).toBe(true);
  expect(stage.said).toEqual(["The task is this.", "Hello."]);
});

test("an agent that looks ready for a minute is listening, even if nothing shows that its prompt has arrived", async () => {
  const stage = await open({ started: { hasPrompt: true } });
  const watched = stage.watch();
  await stage.lookAt(watched);
  await stage.clock.pass(59_000);
  await stage.lookAt(watched);
  expect(watched.signs.activity).toBe("starting");
  await stage.clock.pass(1_000);
  await stage.lookAt(watched);
  expect(watched.signs.activity).toBe("idle");
});

test("after a dialog that only the screen shows, an agent is listening again", async () => {
  const stage = await open();
  stage.show("asks");
  const watched = stage.watch();
  await stage.lookAt(watched);
  expect(watched.signs.activity).toBe("asks");
  expect(await stage.deliver(watched, stage.message("a", "Hello."))).toBe(false);
  await stage.clock.pass(5_000);
  stage.show("ready");
  await stage.lookAt(watched);
  expect(await stage.deliver(watched, stage.message("a", "Hello."))).toBe(true);
  expect(stage.said).toEqual(["Hello."]);
});

test("the daemon types nothing into a dialog that opens after the agent has gone idle", async () => {
  const stage = await open();
  stage.hear("The task is this.");
  const watched = stage.watch();
  await stage.lookAt(watched);
  stage.show("asks");
  expect(watched.signs.activity).toBe("idle");
  expect(await stage.deliver(watched, stage.message("a", "Hello."))).toBe(false);
  expect(stage.terminal.received(name)).toEqual([]);
});

test("Enter is not pressed again while a dialog is open, because it would answer the dialog", async () => {
  const stage = await open({ deaf: 1 });
  stage.hear("The task is this.");
  const watched = stage.watch();
  await stage.lookAt(watched);
  const answer = stage.deliver(watched, stage.message("a", "Hello."));
  await stage.clock.pass(1_000);
  stage.show("asks");
  await stage.clock.pass(20_000);
  expect(stage.terminal.received(name).map(({ kind }) => kind)).toEqual(["paste", "press"]);
  stage.show("ready");
  expect(await answer).toBe(true);
  expect(stage.said).toEqual(["The task is this.", "Hello."]);
});

test("for an agent without hooks the screen shows the delivery, and the message is not typed twice", async () => {
  const stage = await open({ acknowledges: "no", started: { hasPrompt: true } });
  const watched = stage.watch();
  await stage.lookAt(watched);
  expect(watched.signs.activity).toBe("idle");
  await stage.terminal.paste(name, "Mind the step.");
  expect(await stage.deliver(watched, stage.message("a", "Mind the step.", { triedAt: 1 }))).toBe(true);
  expect(stage.pastes()).toBe(1);
  expect(stage.kept.get("a")).toMatchObject({ evidence: "typed" });
});
