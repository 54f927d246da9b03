import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeOrder } from "../../src/adapters/tmux/launch-order.ts";
import { procTable } from "./proc-table.ts";
import { createTmuxStage, launcher, type TmuxStage } from "./tmux-stage.ts";
import { until } from "./until.ts";

let stage: TmuxStage;
beforeEach(async () => {
  stage = await createTmuxStage();
});
afterEach(() => stage.clear());

/** Opens a run in another process; `program` replaces tmux. */
const openElsewhere = async (run: string, program = "tmux") => {
  const opening = { socket: stage.socket, program, launcher, order: stage.orderOf({ run }) };
  const child = spawn(process.execPath, [join(import.meta.dirname, "opener.ts"), JSON.stringify(opening)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code, signal] = await once(child, "exit");
  return signal ?? code;
};
const windowsOf = async (run: string) =>
  (await stage.tmux("list-windows", "-a", "-F", "#{window_name}")).split("\n").filter((name) => name === `run-${run}`);

// Opening calls tmux five times: version, settings, list, window, list again.
const points = [1, 2, 3, 4, 5].flatMap((call) => [`${call} before`, `${call} after`]);

test.for(points)("a caller that is killed at call %s leaves one program", async (point) => {
  // The first run creates the session, the second only a window in it.
  for (const run of ["r-1", "r-2"]) {
    const mortal = join(stage.folder, `mortal-${run}`);
    const count = join(stage.folder, `count-${run}`);
    const script = `#!/bin/sh
n=$(($(cat '${count}' 2>/dev/null || echo 0) + 1)); echo $n > '${count}'
[ "$n before" = '${point}' ] && kill -9 $PPID && exit 1
tmux "$@"; code=$?
[ "$n after" = '${point}' ] && kill -9 $PPID
exit $code
`;
    await writeFile(mortal, script, { mode: 0o755 });
    expect(await openElsewhere(run, mortal)).toBe("SIGKILL");
    expect((await stage.open({ run })).dead).toBeUndefined();
    expect(await stage.starts(run)).toBe(1);
    expect(await windowsOf(run)).toHaveLength(1);
  }
});

test("concurrent callers start one program, even without a running server", async () => {
  expect(await Promise.all([1, 2, 3, 4].map(() => openElsewhere("r-1")))).toEqual([0, 0, 0, 0]);
  await stage.open({ run: "r-1" });
  expect(await Promise.all([1, 2, 3].map(() => openElsewhere("r-2")))).toEqual([0, 0, 0]);
  await stage.open({ run: "r-2" });
  for (const run of ["r-1", "r-2"]) {
    expect(await stage.starts(run)).toBe(1);
    expect(await windowsOf(run)).toHaveLength(1);
  }
});

test("two callers that both found no window open one", async () => {
  await stage.open({ run: "r-0" });
  const together = join(stage.folder, "together");
  const script = `#!/bin/sh
case "$*" in *new-window*)
  : > "$0.$$"
  while [ $(ls "$0".* | wc -l) -lt 2 ]; do sleep 0.02; done
esac
exec tmux "$@"
`;
  await writeFile(together, script, { mode: 0o755 });
  expect(await Promise.all([openElsewhere("r-1", together), openElsewhere("r-1", together)])).toEqual([0, 0]);
  await stage.open({ run: "r-1" });
  expect(await windowsOf("r-1")).toHaveLength(1);
  expect(await stage.starts("r-1")).toBe(1);
});

test("of several launchers for one run, one becomes the program", async () => {
  const folder = stage.folderOf("r-1");
  await mkdir(folder, { recursive: true });
  const argv = ["sh", "-c", `echo $$ >> '${join(folder, "started")}'; sleep 0.2`];
  const file = await writeOrder(folder, { argv, cwd: "/", env: { PATH: process.env.PATH ?? "" } });
  const [node = "", ...rest] = launcher;
  const children = [1, 2, 3, 4].map(() => spawn(node, [...rest, file], { stdio: "ignore" }));
  const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0]));
  expect(codes.toSorted()).toEqual([0, 75, 75, 75]);
  const started = await readFile(join(folder, "started"), "utf8");
  const winner = children[codes.indexOf(0)];
  expect(started).toBe(`${winner?.pid}\n`);
  expect(JSON.parse(await readFile(join(folder, "process.json"), "utf8"))).toMatchObject({ pid: winner?.pid });
});

test("a program that outlives its server is reported as alive, and ends when its run is closed", async () => {
  const argv = ["sh", "-c", "trap '' HUP; printf ready; while :; do sleep 1; done"];
  const { pid } = await stage.open({ run: "r-1", argv });
  await stage.loseServer();
  await until(stage.terminal.list, (panes) => panes.length === 0);
  expect(await stage.terminal.open(stage.orderOf({ run: "r-1", argv }))).toMatchObject({ pid, dead: undefined });
  await stage.terminal.close("r-1");
  expect(await procTable.identify(pid)).toBeUndefined();
  const again = await stage.terminal.open(stage.orderOf({ run: "r-1", argv }));
  expect(again.dead).toEqual({ code: undefined, signal: "" });
});

test("a process that has reused a program's pid is not killed", async () => {
  const stranger = spawn("sleep", ["1000"], { stdio: "ignore", detached: true });
  const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
  await mkdir(stage.folderOf("r-1"), { recursive: true });
  await writeFile(join(stage.folderOf("r-1"), "process.json"), JSON.stringify({ boot, pid: stranger.pid, start: "1" }));
  const pane = await stage.terminal.open(stage.orderOf({ run: "r-1" }));
  expect(pane.dead).toEqual({ code: undefined, signal: "" });
  await stage.terminal.close("r-1");
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  stranger.kill("SIGKILL");
  expect(await once(stranger, "exit")).toEqual([null, "SIGKILL"]);
});
