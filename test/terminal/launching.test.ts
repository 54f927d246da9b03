import { existsSync } from "node:fs";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { WindowOrder } from "../../src/ports/terminal.ts";
import { procTable } from "./proc-table.ts";
import { createTmuxStage, type TmuxStage } from "./tmux-stage.ts";
import { until } from "./until.ts";

let stage: TmuxStage;
beforeEach(async () => {
  stage = await createTmuxStage();
});
afterEach(() => stage.clear());

/** Runs a program until it ends; returns how it ended, and its screen. */
const runToEnd = async (order: Partial<WindowOrder>) => {
  await stage.terminal.open(stage.orderOf({ run: "r-1", ...order }));
  const [pane] = await until(stage.terminal.list, ([each]) => each?.dead !== undefined);
  return { dead: pane?.dead, screen: (await stage.terminal.capture("r-1")).trim() };
};

test("a program gets the order's environment, the mark of its run, the terminal's own variables, and nothing else", async () => {
  process.env.SIGNALBOX_STRAY_KEY = "secret";
  const argv = ["/usr/bin/env", "-0"];
  const env = { PATH: "/bin", TERM: "wrong", TMUX_TMPDIR: "/mine", MULTI: "a\nb=c;#(x)" };
  const { dead } = await runToEnd({
    argv: ["/bin/sh", "-c", `${argv.join(" ")} > "$0"; exit 4`, join(stage.folder, "env")],
    env,
  });
  const found = (await readFile(join(stage.folder, "env"), "utf8"))
    .split("\0")
    .filter((each) => !/^(PWD|_|OLDPWD|SHLVL)=/.test(each));
  expect(dead).toEqual({ code: 4, signal: "" });
  const mark = found.find((each) => /^SIGNALBOX_PROCESS=[0-9a-f]{64}$/.test(each));
  expect(found.filter((each) => !each.startsWith("TERM_PROGRAM")).toSorted()).toEqual(
    ["", "MULTI=a\nb=c;#(x)", "PATH=/bin", mark, "TERM=tmux-256color", "TMUX_TMPDIR=/mine"].toSorted(),
  );
  expect(await stage.tmux("show-environment", "-g")).not.toContain("STRAY");
  delete process.env.SIGNALBOX_STRAY_KEY;
});

test("the program is the pane's own process, without a wrapper, and is recorded", async () => {
  const pane = await stage.open({ run: "r-1" });
  const record = JSON.parse(await readFile(join(stage.folderOf("r-1"), "process.json"), "utf8"));
  expect(record).toEqual(await procTable.identify(pane.pid));
  expect(await readFile(`/proc/${pane.pid}/cmdline`, "utf8")).toContain("puppet.ts");
  expect(await procTable.familyOf(pane.pid)).toHaveLength(1);
  const status = await readFile(`/proc/${pane.pid}/stat`, "utf8");
  expect(Number(status.slice(status.lastIndexOf(")")).split(" ")[2])).toBe(await stage.serverPid());
});

test("an order is private, and is deleted once the program runs", async () => {
  await stage.open({ run: "r-1" });
  expect(existsSync(join(stage.folderOf("r-1"), "order.json"))).toBe(false);
  expect((await stat(stage.folderOf("r-1"))).mode & 0o077).toBe(0);
  expect((await stat(join(stage.folderOf("r-1"), "process.json"))).mode & 0o077).toBe(0);
});

test("signals that Node ignores are not ignored by the program", async () => {
  const { screen } = await runToEnd({ argv: ["grep", "SigIgn", "/proc/self/status"] });
  expect(screen).toMatch(/SigIgn:\s+0+$/);
});

test("a missing program ends with 127 and a message", async () => {
  expect(await runToEnd({ argv: ["no-such-program", "x"] })).toEqual({
    dead: { code: 127, signal: "" },
    screen: 'signalbox: The program "no-such-program" was not found.',
  });
});

test("a program that cannot be executed ends with 126 and the reason", async () => {
  const file = (name: string) => join(stage.folder, name);
  await writeFile(file("plain"), "x", { mode: 0o644 });
  await writeFile(file("orphan"), "#!/no/such/shell\n", { mode: 0o755 });
  await mkdir(file("folder"));
  const cases: readonly (readonly [Partial<WindowOrder>, string])[] = [
    [{ argv: [file("plain")] }, "is not executable"],
    [{ argv: [file("orphan")] }, 'its interpreter "/no/such/shell" does not exist'],
    [{ argv: ["true"], cwd: file("nowhere") }, "cannot be entered (ENOENT)"],
    [{ argv: ["true", "x".repeat(200_000)] }, "over 128 KB"],
    [{ argv: ["true", "a\0b"] }, "zero byte"],
  ];
  for (const [index, [order, reason]] of cases.entries()) {
    const run = `r-${index}`;
    await stage.terminal.open(stage.orderOf({ run, ...order }));
    const panes = await until(stage.terminal.list, (all) => all.every(({ dead }) => dead !== undefined));
    expect(panes.find((pane) => pane.run === run)?.dead).toEqual({ code: 126, signal: "" });
    expect((await stage.terminal.capture(run)).replaceAll("\n", "")).toContain(reason);
  }
});

test("a script without a #! line is run by sh, and relative paths are resolved in the run's folder", async () => {
  await writeFile(join(stage.folder, "script"), "echo ran $1\n", { mode: 0o755 });
  expect(await runToEnd({ argv: ["./script", "it"] })).toEqual({ dead: { code: 0, signal: "" }, screen: "ran it" });
});
