import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { routes } from "../../src/api/routes.ts";
import { closeCodes, followTerminal, type ScreenView, type TerminalMessage } from "../../src/api/terminal.ts";
import { createPerson } from "../terminal/person.ts";
import { eventually, type Stage, startStage } from "./stage.ts";

const flow = (mode: "session" | "turn") => `name: flow
version: 1
roles: { worker: { mode: ${mode}, harness: task, permissions: full, window: worker, keep: true } }
states:
  todo: { waits_for: slot, next: busy }
  busy:
    agent: { role: worker, prompt: work }
    respawn_prompt: work
    outcomes: [{ then: done }, { action: crash, stuck_after: 9 }]
  talk: { waits_for: human, next: done }
  stuck: { waits_for: human, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: talk, by: human }
  - { from: busy, to: done, gate: { section: "## Handoff", fields: [DONE] } }
prompts: { work: "Work on {summary}" }
`;

const hostile = "\\033]52;c;aGVsbG8=\\007\\033]2;Brew\\007\\033[31mred\\033[0m \\033[5;2Rworking\\n";
/** Prints what is typed. */
const echo = `printf '${hostile}'; exec cat`;
const count = `for i in 1 2 3 4 5; do echo "cup $i \\033[32mgreen"; sleep 0.3; done; exit 0`;
const config = `harnesses:
  echo:
    session: { argv: [sh, -c, ${JSON.stringify(echo)}, "{prompt}"], busy: working }
    turn: { argv: [sh, -c, ${JSON.stringify(count)}, "{prompt}"] }
port: 0
`;

interface Seen {
  readonly messages: readonly TerminalMessage[];
  readonly screens: readonly (ScreenView | undefined)[];
  readonly terminal: ReturnType<typeof followTerminal>;
  readonly socket: WebSocket;
  closed(): readonly [code: number, reason: string] | undefined;
  screen(): string;
  of<T extends TerminalMessage["type"]>(type: T): readonly Extract<TerminalMessage, { type: T }>[];
}

const token = (stage: Stage) => readFileSync(stage.places.humanToken, "utf8").trim();

function open(stage: Stage, task: string, { query = "", bearer = token(stage) } = {}): Seen {
  const messages: TerminalMessage[] = [];
  const screens: (ScreenView | undefined)[] = [];
  let closed: readonly [number, string] | undefined;
  const socket = new WebSocket(`ws+unix:${stage.places.socket}:/v1/tasks/${task}/terminal${query}`, {
    headers: { authorization: `Bearer ${bearer}`, "signalbox-version": "99.0.0" },
  });
  socket.on("error", () => {});
  const terminal = followTerminal(socket as never, {
    onScreen: (screen) => screens.push(screen),
    onMessage: (message) => messages.push(message),
    onClose: (code, reason) => {
      closed = [code, reason];
    },
  });
  return {
    ...{ messages, screens, terminal, socket },
    closed: () => closed,
    screen: () => screens.at(-1)?.lines.join("\n") ?? "",
    of: (type) => messages.filter((message) => message.type === type) as never,
  };
}

const until = (isMet: () => boolean, tell: () => unknown = () => "") =>
  eventually(
    async () => (isMet() ? true : undefined),
    15_000,
    async () => JSON.stringify(tell()),
  );

async function begin(mode: "session" | "turn" = "session") {
  const stage = await startStage({ agents: "sandbox: off", flow: flow(mode), config, harness: "echo" });
  const id = await stage.create("a cup");
  const run = await stage.untilRun(({ pid }) => pid > 0);
  return { stage, id, run };
}

const clients = (stage: Stage) =>
  stage.tmux("list-clients", "-F", "#{client_control_mode}").split("\n").filter(Boolean);
const size = (stage: Stage) => stage.tmux("list-panes", "-a", "-F", "#{pane_width}x#{pane_height}");

test("a terminal is watched by many with one reader, typed into by one, and sized by nobody else", async () => {
  const { stage, id } = await begin();
  const before = size(stage);
  const [one, two] = [open(stage, id), open(stage, id, { query: "?run=worker" })];
  await until(() => one.screen().includes("working") && two.screen().includes("working"));
  expect(one.messages[0]).toMatchObject({ type: "run", run: "worker#1", source: "screen" });
  expect(clients(stage)).toEqual(["1"]);
  expect((await stage.runs())[0]?.watchers).toBe(0);
  // Of what the program writes, colours arrive and nothing else.
  const line = one
    .screen()
    .split("\n")
    .find((each) => each.includes("working"));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: only these may get through
  expect(line).toMatch(/^\u001b\[31mred\u001b\[[0-9;]*m(\u001b\[[0-9;]*m)* working$/);
  expect(one.screens.at(-1)?.title).toBe("Brew");

  // Without control nothing is typed or sized.
  for (const message of [{ keys: ["x"] }, { paste: "x" }, { size: { columns: 100, rows: 30 } }])
    one.terminal.send(message);
  await until(() => one.of("refused").length === 3);
  expect(one.of("refused").map(({ code }) => code)).toEqual(Array(3).fill("terminal.not-held"));
  one.terminal.send({ take: true, as: "web \u001b[31m" });
  await until(() => two.of("control").some(({ holder, isYours }) => holder?.as === "web" && !isYours));
  expect(one.of("control").at(-1)).toMatchObject({ isYours: true });
  one.terminal.type("hé lo\n");
  await until(
    () =>
      two
        .screen()
        .split("\n")
        .filter((each) => each === "hé lo").length === 2,
    two.screen,
  );
  one.terminal.send({ paste: "two\nlines\u001b[201~\n" });
  await until(() => two.screen().includes("lines[201~"), two.screen);

  // Another watcher takes control with force only.
  two.terminal.send({ take: true });
  await until(() => two.of("refused").length === 1);
  expect(two.of("refused")[0]).toMatchObject({ code: "terminal.held", message: expect.stringContaining("web") });
  one.terminal.send({ size: { columns: 100, rows: 30 } });
  await until(
    () => two.screens.at(-1)?.columns === 100,
    () => size(stage),
  );
  two.terminal.send({ take: true, force: true, as: "phone" });
  await until(() => one.of("control").at(-1)?.holder?.as === "phone");
  one.terminal.press("x");
  await until(() => one.of("refused").length === 4);
  // The size went back with control.
  await until(
    () => size(stage) === before,
    () => size(stage),
  );
  two.terminal.close();
  await until(() => one.of("control").at(-1)?.holder === null);

  const granted = (await stage.events(id)).filter(({ data }) => data.request === "watchTerminal");
  expect(granted.map(({ data }) => data.given)).toMatchObject([
    { run: "worker#1", take: true },
    { run: "worker#1", take: true, force: true },
  ]);
  one.terminal.close();
  await until(() => clients(stage).length === 0);
  const typed = await eventually(async () =>
    (await stage.events(id)).find(({ data }) => (data.given as { typed?: number } | undefined)?.typed !== undefined),
  );
  // How much was typed is history; what was typed may be a password.
  expect(typed.data.given).toEqual({ task: id, run: "worker#1", typed: 6 + 16 });
});

test("scrollback comes in pages, and a flood of output reaches a slow watcher as the newest screen", async () => {
  const { stage, id } = await begin();
  const one = open(stage, id);
  await until(() => one.screen().includes("working"));
  const slow = open(stage, id);
  await until(() => slow.screens.length > 0);
  slow.socket.pause();
  one.terminal.send({ take: true });
  for (let i = 0; i < 60; i++) one.terminal.send({ paste: `line ${i}\n` });
  await until(
    () => one.screen().includes("line 59"),
    () => [one.messages, one.screen()],
  );
  one.terminal.send({ scrollback: { skip: 2, count: 3 } });
  await until(() => one.of("scrollback").length === 1);
  const { above, lines } = one.screens.at(-1) as ScreenView;
  const all = stage
    .tmux("capture-pane", "-p", "-S", "-", "-t", stage.tmux("list-panes", "-a", "-F", "#{pane_id}"))
    .split("\n");
  expect(all.slice(above, above + 3)).toEqual(lines.slice(0, 3));
  expect(one.of("scrollback")[0]).toMatchObject({ skip: 2, lines: all.slice(above - 5, above - 2) });
  one.terminal.send({ scrollback: { skip: 100_000, count: 3 } });
  await until(() => one.of("scrollback").length === 2);
  expect(one.of("scrollback")[1]?.lines).toEqual([]);
  slow.socket.resume();
  await until(() => slow.screen() === one.screen());
});

test("the end of a run is told with its reason, the next run is announced, and the socket goes on with it", async () => {
  const { stage, id } = await begin();
  const one = open(stage, id);
  await until(() => one.screen().includes("working"));
  one.terminal.send({ take: true });
  one.terminal.press("C-d");
  await until(
    () => one.of("end").length === 1,
    () => one.messages,
  );
  expect(one.of("end")[0]).toMatchObject({ run: "worker#1", word: expect.stringMatching(/./) });
  expect(one.of("control").at(-1)).toMatchObject({ holder: null });
  await stage.call(routes.respawnTask, { params: { task: id }, body: {} });
  await until(
    () => one.of("next").length === 1,
    () => one.messages,
  );
  expect(one.of("next")[0]).toMatchObject({ run: "worker#2", role: "worker" });
  one.terminal.send({ take: true });
  await until(
    () => one.of("refused").some(({ code }) => code === "run.over"),
    () => one.messages,
  );
  one.terminal.send({ watch: "worker#2" });
  await until(
    () => one.of("run").some(({ run }) => run === "worker#2"),
    () => one.messages,
  );
  await until(() => one.screen().includes("working"));
  const late = open(stage, id, { query: "?run=worker%231" });
  await until(() => late.of("end").length === 1);
});

test("what a person types counts as the person's presence", async () => {
  const { stage, id } = await begin();
  await stage.call(routes.moveTask, { params: { task: id }, body: { to: "talk" } });
  await stage.until(id, ({ status }) => status === "talk");
  const one = open(stage, id);
  await until(() => one.screen().includes("working"));
  one.terminal.send({ take: true });
  await until(() => one.of("control").at(-1)?.isYours === true);
  expect(await stage.types(id)).not.toContain("task.attended");
  one.terminal.press("x");
  await eventually(
    async () => ((await stage.types(id)).includes("task.attended") ? true : undefined),
    10_000,
    () => stage.events(id).then(JSON.stringify as never),
  );
});

test("a watcher outlives the terminal server, and sees the next run in a new one", async () => {
  const { stage, id } = await begin();
  const one = open(stage, id);
  await until(() => one.screen().includes("working"));
  process.kill(Number(stage.tmux("display-message", "-p", "#{pid}")), "SIGKILL");
  await until(() => one.screens.at(-1) === undefined);
  await until(
    () => one.of("next").length > 0,
    () => one.messages,
  );
  one.terminal.send({ watch: "worker" });
  await until(
    () => one.screen().includes("working"),
    () => one.messages,
  );
});

test("a person who attaches gets the size, and a daemon that is back returns one that it has left", async () => {
  const { stage, id } = await begin();
  const one = open(stage, id);
  await until(() => one.screen().includes("working"));
  one.terminal.send({ take: true });
  one.terminal.send({ size: { columns: 90, rows: 20 } });
  await until(() => size(stage) === "90x20");
  const { argv, unset } = await stage.call(routes.attachTask, { params: { task: id }, body: {} });
  const env = Object.fromEntries(unset.map((name) => [name, undefined]));
  const person = await createPerson(stage.base, { argv, env, hint: "" });
  try {
    // The person's terminal has 30 rows, one of them for the status.
    await until(
      () => size(stage) === "150x29",
      () => size(stage),
    );
    expect((await stage.untilRun(({ watchers }) => watchers === 1)).watchers).toBe(1);
    one.terminal.send({ size: { columns: 90, rows: 20 } });
    await until(() => one.of("refused").length === 1);
    expect(one.of("refused")[0]?.code).toBe("terminal.attached");
  } finally {
    await person.leave();
  }
  await stage.untilRun(({ watchers }) => watchers === 0);
  one.terminal.send({ size: { columns: 90, rows: 20 } });
  await until(
    () => size(stage) === "90x20",
    () => one.messages,
  );
  await stage.killDaemon();
  await until(() => one.closed() !== undefined && clients(stage).length === 0);
  expect(size(stage)).toBe("90x20");
  await stage.restart();
  const two = open(stage, id);
  await until(() => two.screens.length > 0);
  await until(
    () => size(stage) === "150x29",
    () => size(stage),
  );
});

test("a run without a terminal is watched by its output", async () => {
  const { stage, id } = await begin("turn");
  const one = open(stage, id);
  const text = () =>
    one
      .of("output")
      .map((each) => each.text)
      .join("");
  await until(
    () => text().includes("cup 5"),
    () => one.messages,
  );
  expect(one.of("run")[0]).toMatchObject({ source: "output" });
  expect(text().match(/cup 3/g)).toHaveLength(1);
  one.terminal.send({ take: true });
  await until(() => one.of("refused").length === 1);
  expect(one.of("refused")[0]?.code).toBe("terminal.none");
});

test("wrong, large and too many messages and connections are closed with their reason", async () => {
  const { stage, id } = await begin();
  const wrong: readonly (readonly [string | Buffer, number])[] = [
    ["{", closeCodes.malformed],
    ['{"take":true,"keys":["x"]}', closeCodes.malformed],
    ['{"shell":"rm"}', closeCodes.malformed],
    ['{"keys":"x"}', closeCodes.malformed],
    [JSON.stringify({ paste: "x".repeat(65_537) }), closeCodes.malformed],
    [Buffer.from('{"take":true}'), closeCodes.malformed],
    [`{"paste":"${"x".repeat(1024 * 1024)}"}`, closeCodes.tooLarge],
    [JSON.stringify({ keys: Array(1_001).fill("x") }), closeCodes.busy],
  ];
  for (const [message, code] of wrong) {
    const one = open(stage, id);
    await until(() => one.messages.length > 0);
    one.socket.send(message);
    await until(() => one.closed() !== undefined);
    expect([String(message).slice(0, 40), one.closed()?.[0]]).toEqual([String(message).slice(0, 40), code]);
  }
  const many = Array.from({ length: 240 }, () => open(stage, id));
  await until(() => many.filter((each) => each.closed() !== undefined).length === 40);
  expect(new Set(many.map((each) => each.closed()?.[0]))).toEqual(new Set([undefined, closeCodes.busy]));
  await until(() => clients(stage).length === 1);
  for (const each of many) each.socket.terminate();
  await until(() => clients(stage).length === 0);
  const flood = open(stage, id);
  await until(() => flood.messages.length > 0);
  for (let i = 0; i < 2_000; i++) flood.socket.send('{"scrollback":{"skip":0,"count":500}}');
  await until(() => flood.closed() !== undefined);
  expect(flood.closed()?.[0]).toBe(closeCodes.busy);
});

test("a run's credential neither watches nor types, not even its own terminal", async () => {
  const { stage, id } = await begin();
  const { token: bearer } = await stage.call(routes.registerRun, { params: { task: id }, body: { role: "worker" } });
  const one = open(stage, id, { bearer });
  const status = await new Promise((resolve) =>
    one.socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode)),
  );
  expect(status).toBe(403);
  expect(clients(stage)).toEqual([]);
});
