import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTmux } from "../../src/adapters/tmux/tmux.ts";
import { procTable } from "./proc-table.ts";
import { createTmuxStage, launcher, type TmuxStage } from "./tmux-stage.ts";
import { until } from "./until.ts";

let stage: TmuxStage;
beforeEach(async () => {
  stage = await createTmuxStage();
});
afterEach(() => stage.clear());

test("a missing tmux is a fault that says what to install", async () => {
  const terminal = createTmux({ socket: stage.socket, launcher, table: procTable, program: "/no/such/tmux" });
  await expect(terminal.list()).rejects.toMatchObject({
    code: "terminal.missing",
    hint: expect.stringContaining("Install tmux 3.2 or newer"),
  });
});

test("a tmux that is too old is refused; a version without a number is accepted", async () => {
  const listWith = async (version: string) => {
    const program = join(stage.folder, "other-tmux");
    await writeFile(program, `#!/bin/sh\n[ "$1" = -V ] && echo 'tmux ${version}' && exit\nexec tmux "$@"\n`, {
      mode: 0o755,
    });
    return createTmux({ socket: stage.socket, launcher, table: procTable, program }).list();
  };
  for (const version of ["1.8", "2.9a", "3.1c"])
    await expect(listWith(version)).rejects.toMatchObject({ code: "terminal.old" });
  for (const version of ["3.2", "3.10", "next-3.6", "master", "openbsd-7.4"])
    expect(await listWith(version)).toEqual([]);
});

test("a socket path that is too long is refused before tmux is called", async () => {
  const socket = join(stage.folder, "x".repeat(108));
  const terminal = createTmux({ socket, launcher, table: procTable });
  await expect(terminal.list()).rejects.toMatchObject({ code: "terminal.socket" });
  await expect(terminal.open(stage.orderOf({ run: "r-1" }))).rejects.toMatchObject({ code: "terminal.socket" });
});

test("a call to a hanging server times out, and works again when the server answers", async () => {
  await stage.open({ run: "r-1" });
  const terminal = createTmux({ socket: stage.socket, launcher, table: procTable, timeout: 1_000 });
  await terminal.list();
  const pid = await stage.serverPid();
  process.kill(pid, "SIGSTOP");
  try {
    await expect(terminal.list()).rejects.toMatchObject({ code: "terminal.timeout", retry: "later" });
    await expect(terminal.paste("r-1", "x")).rejects.toMatchObject({ code: "terminal.timeout" });
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await until(
    () => terminal.list().catch(() => []),
    (panes) => panes.length === 1,
  );
});

test("a text of 256 KB arrives byte for byte", async () => {
  await stage.open({ run: "r-1" });
  const text = Array.from({ length: 8_192 }, (_, index) => `${index}: #(x) ;`.padEnd(31, "ж"))
    .join("\n")
    .slice(0, 256 * 1024);
  await stage.terminal.paste("r-1", text);
  const received = await until(
    () => stage.received("r-1"),
    (all) => all.endsWith(">"),
  );
  expect(received === `<${text}>`).toBe(true);
});

test("a program that dies during a paste does not crash the server", async () => {
  await stage.open({ run: "r-0" });
  // The list is from before the death, so tmux itself must check.
  for (let index = 1; index <= 5; index++) {
    const run = `r-${index}`;
    await stage.open({ run });
    const end = stage.end(run, { code: 0 });
    for (let more = 0; more < 10; more++) await stage.terminal.paste(run, "x".repeat(10_000)).catch(() => {});
    await end;
  }
  expect((await stage.terminal.list()).find(({ run }) => run === "r-0")?.dead).toBeUndefined();
  expect(await stage.tmux("list-buffers")).toBe("");
});

test("arbitrary bytes, in any number, stay on their own screen", async () => {
  // First end an escape sequence that random bytes may have begun: it swallows everything up to its terminator.
  const reset = "printf '\\033\\134\\033\\134\\033c'";
  const script = `head -c 3000000 /dev/urandom; ${reset}; seq 300000; printf '\\nready'; exec cat`;
  await stage.open({ run: "r-1", argv: ["sh", "-c", script] });
  const junk = ["sh", "-c", "head -c 300000 /dev/urandom; touch written; exec sleep 1000"];
  await stage.terminal.open(stage.orderOf({ run: "r-2", argv: junk }));
  await until(
    async () => existsSync(join(stage.folder, "written")),
    (is) => is,
  );
  expect(await stage.terminal.capture("r-1", 100_000)).toContain("\n299999\n300000\n");
  const noControl = /^[^\p{Cc}]*(?:\n[^\p{Cc}]*)*$/u;
  expect(await stage.terminal.capture("r-2", 10_000)).toMatch(noControl);
  const colours = new RegExp(`${"\x1b"}\\[[0-9;:]*m`, "g");
  expect((await stage.terminal.captureStyled("r-2", 10_000)).replace(colours, "")).toMatch(noControl);
  expect((await stage.terminal.list()).map(({ run }) => run)).toEqual(["r-1", "r-2"]);
});

test("a wait that a killed watcher left behind does not last for ever", async () => {
  await stage.open({ run: "r-1" });
  let isOver = false;
  const waiting = stage.tmux("wait-for", "signalbox-death").then(() => {
    isOver = true;
  });
  // It is unknown when tmux has registered a wait: a watcher that comes too early frees none, the next one does.
  await until(
    async () => {
      const stop = stage.terminal.watch(() => {});
      await setTimeout(100);
      stop();
      return isOver;
    },
    (is) => is,
  );
  await waiting;
});

test("every death of a pane is reported separately and soon", async () => {
  const dead = new Set<string>();
  const stop = stage.terminal.watch(async () => {
    for (const pane of await stage.terminal.list()) if (pane.dead?.code === 3) dead.add(pane.run);
  });
  for (let index = 0; index < 15; index++) {
    const run = `r-${index}`;
    await stage.terminal.open(stage.orderOf({ run, argv: ["sh", "-c", "sleep 0.1; exit 3"] }));
    await until(
      async () => dead.has(run),
      (is) => is,
    );
  }
  stop();
});

test("a new server is configured from the start, and a running server of another version is configured later", async () => {
  await stage.open({ run: "r-1" });
  const looks = async () => [
    await stage.tmux("show-options", "-g"),
    await stage.tmux("show-options", "-gw"),
    await stage.tmux("show-hooks", "-g"),
    await stage.tmux("list-keys", "-T", "root"),
    await stage.tmux("list-keys", "-T", "prefix"),
  ];
  const before = await looks();
  expect(before[0]).toContain("prefix C-q");
  expect(before[3]?.trim().split("\n")).toHaveLength(5);
  await stage.tmux(
    "set-option",
    "-g",
    "prefix",
    "C-b",
    ";",
    "set-hook",
    "-gu",
    "pane-died",
    ";",
    "bind-key",
    "x",
    "kill-pane",
  );
  await stage.tmux("unbind-key", "-n", "MouseDown1Pane");
  expect(await looks()).not.toEqual(before);
  await createTmux({ socket: stage.socket, launcher, table: procTable }).list();
  expect(await looks()).toEqual(before);
});

test("a session is found only by its full name", async () => {
  await stage.open({ run: "r-1", session: "task-10", title: "right" });
  for (const session of ["task-1", "task", "t"]) await stage.terminal.setTitle(session, "wrong");
  expect(await stage.tmux("show-options", "-v", "-t", "=task-10:", "@signalbox_title")).toBe("right\n");
  await stage.terminal.setTitle("task-10", "new");
  expect(await stage.tmux("show-options", "-v", "-t", "=task-10:", "@signalbox_title")).toBe("new\n");
});

test("a server whose socket was deleted creates it again, and keeps its panes", async () => {
  const { pid } = await stage.open({ run: "r-1" });
  const server = await stage.serverPid();
  await rm(stage.socket);
  expect(await stage.terminal.list()).toMatchObject([{ run: "r-1", pid, dead: undefined }]);
  await stage.open({ run: "r-2", session: "s-2" });
  expect(await stage.serverPid()).toBe(server);
  expect(await stage.starts("r-1")).toBe(1);
});

test("a caller that has never seen the server revives it by its record", async () => {
  const { pid } = await stage.open({ run: "r-1" });
  await rm(stage.socket);
  const other = createTmux({ socket: stage.socket, launcher, table: procTable });
  expect(await other.list()).toMatchObject([{ run: "r-1", pid, dead: undefined }]);
});

test("a pane that a person renamed, moved or joined to another window still belongs to its run", async () => {
  await stage.open({ run: "r-1" });
  await stage.open({ run: "r-2", session: "s-2" });
  const { pid } = await stage.open({ run: "r-3", session: "s-3" });
  await stage.tmux("rename-window", "-t", "=s-1:", "my own: name");
  await stage.tmux("rename-session", "-t", "=s-2", "mine");
  await stage.tmux("join-pane", "-d", "-s", "=s-3:", "-t", "=s-1:");
  const panes = await stage.terminal.list();
  expect(panes.map(({ run, session }) => [run, session]).toSorted()).toEqual([
    ["r-1", "s-1"],
    ["r-2", "s-2"],
    ["r-3", "s-3"],
  ]);
  await stage.terminal.paste("r-3", "still here");
  await until(
    () => stage.received("r-3"),
    (text) => text.includes("still here"),
  );
  expect(stage.terminal.attachCommand({ session: "s-3", run: "r-3" }, {}).argv.at(-1)).toMatch(/^%\d+$/);
  await stage.terminal.close("r-3");
  expect(await procTable.identify(pid)).toBeUndefined();
  expect((await stage.terminal.list()).map(({ run }) => run).toSorted()).toEqual(["r-1", "r-2"]);
});
