import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { oneLine } from "../../src/text.ts";
import { createPerson, type Person } from "./person.ts";
import { hostileTexts } from "./stage.ts";
import { createTmuxStage, type TmuxStage } from "./tmux-stage.ts";
import { until } from "./until.ts";

let stage: TmuxStage;
let person: Person | undefined;
beforeEach(async () => {
  stage = await createTmuxStage();
});
afterEach(async () => {
  await person?.leave();
  person = undefined;
  await stage.clear();
});

const insideTmux = { TMUX: "/tmp/tmux-0/default,1,0", TERM: "xterm-256color" };
const attach = async (at: { session: string; run?: string }) => {
  const attached = await createPerson(stage.folder, stage.terminal.attachCommand(at, insideTmux));
  person = attached;
  return attached;
};
const lastLine = async (who: Person) => (await who.screen()).trimEnd().split("\n").at(-1) ?? "";
const watchers = async () => (await stage.terminal.list()).map((pane) => pane.watchers);

test("a person inside another tmux sees the run, its title and the keys for leaving, and leaves with one key", async () => {
  await stage.open({ run: "r-1", title: "signalbox/fix-it", window: "worker" });
  await stage.open({ run: "r-2", window: "review-1" });
  await stage.print("r-2", "second window\n");
  const who = await attach({ session: "s-1", run: "r-2" });
  const screen = await until(who.screen, (text) => text.includes("second window") && text.includes("leave"));
  const line = screen.trimEnd().split("\n").at(-1);
  expect(line).toMatch(/signalbox\/fix-it .*worker .*review-1 .*F12 or Ctrl-Q d: leave/);
  expect(await watchers()).toEqual([0, 1]);
  await who.press("C-q", "p");
  await until(watchers, (counts) => counts.join() === "1,0");
  await who.press("F12");
  await until(who.isBack, (is) => is);
  expect(await watchers()).toEqual([0, 0]);
  expect((await stage.terminal.list()).every(({ dead }) => dead === undefined)).toBe(true);
});

test("the prefix and d leave too, and a person's typing reaches the program", async () => {
  await stage.open({ run: "r-1" });
  const who = await attach({ session: "s-1" });
  await until(who.screen, (text) => text.includes("leave"));
  await who.press("h", "i", "C-b", "C-a", "C-q", "C-q");
  await until(
    () => stage.received("r-1"),
    (text) => text === "hi\x02\x01\x11",
  );
  await who.press("C-q", "d");
  await until(who.isBack, (is) => is);
});

test("titles and names are never executed, and are shown unchanged", async () => {
  await stage.open({ run: "r-0", title: "start", window: "w" });
  const who = await attach({ session: "s-1" });
  for (const [index, text] of hostileTexts.entries()) {
    const title = `t${index} ${text}`.slice(0, 60);
    await stage.terminal.setTitle("s-1", title);
    const expected = oneLine(title.replace(/\p{Cf}+/gu, " "));
    await until(
      () => lastLine(who),
      (line) => line.includes(expected),
    );
    await stage.terminal.open(stage.orderOf({ run: `r-w${index}`, window: text, title: text, session: `s-w${index}` }));
  }
  const line = await lastLine(who);
  expect(line).toContain("leave");
  // The choosers show all names together.
  for (const key of ["s", "w"]) {
    await who.press("C-q", key);
    const tree = await until(who.screen, (text) => text.includes("#(touch PWNED)"));
    expect(tree).toContain("#{pane_id}");
    await who.press("q");
  }
  const files = [stage.folder, process.cwd(), "/", ...hostileTexts.map((_, index) => stage.folderOf(`r-w${index}`))];
  expect(files.filter((folder) => existsSync(join(folder, "PWNED")))).toEqual([]);
});

test("a run can work in a folder with any name", async () => {
  for (const [index, name] of ["#(touch PWNED)", "a;", "#{pane_id}", "two\nlines", "ж 🚂 '\""].entries()) {
    const cwd = join(stage.folder, name);
    await mkdir(cwd);
    const script = "pwd > found; printf ready; exec cat";
    await stage.open({ run: `r-${index}`, cwd, argv: ["sh", "-c", script] });
    expect(existsSync(join(cwd, "found"))).toBe(true);
  }
  expect(existsSync(join(stage.folder, "PWNED"))).toBe(false);
});

test("keys and pastes reach the program while a person reads the scrollback", async () => {
  await stage.open({ run: "r-1" });
  await stage.print("r-1", Array.from({ length: 100 }, (_, index) => `line ${index}`).join("\n"));
  const who = await attach({ session: "s-1" });
  await until(who.screen, (text) => text.includes("line 99"));
  await who.press("C-q", "PPage");
  await until(
    () => stage.tmux("list-panes", "-a", "-F", "#{pane_in_mode}"),
    (text) => text.trim() === "1",
  );
  await stage.terminal.paste("r-1", "text");
  await stage.terminal.press("r-1", ["Enter"]);
  await until(
    () => stage.received("r-1"),
    (text) => text === "<text>\r",
  );
});

test("no key of a person closes, splits or renames a window", async () => {
  await stage.open({ run: "r-1" });
  const who = await attach({ session: "s-1" });
  await until(who.screen, (text) => text.includes("leave"));
  for (const key of ["&", "x", "%", '"', "c", ",", "$", ":", "]", "!", "D", "f", "."]) await who.press("C-q", key, "y");
  await who.press("C-q", "C-q");
  await until(
    () => stage.received("r-1"),
    (text) => text.endsWith("\x11"),
  );
  expect((await stage.tmux("list-panes", "-a", "-F", "#{session_name} #{window_name}")).trim()).toBe("s-1 run-r-1");
});

test("the environment of a person's terminal does not reach the server", async () => {
  await stage.open({ run: "r-1" });
  const command = stage.terminal.attachCommand({ session: "s-1" }, insideTmux);
  const who = await createPerson(stage.folder, {
    ...command,
    env: { ...command.env, DISPLAY: ":7", SSH_AUTH_SOCK: "/x" },
  });
  person = who;
  await until(who.screen, (text) => text.includes("leave"));
  expect(await stage.tmux("show-environment", "-t", "=s-1:")).not.toMatch(/DISPLAY=|SSH_AUTH_SOCK=/);
});

test("the attach command comes with the keys for leaving, nested or not", () => {
  const { argv, env, hint } = stage.terminal.attachCommand({ session: "s-1", run: "r-1" }, {});
  expect(argv.slice(-2)).toEqual(["-t", "=s-1:=run-r-1"]);
  expect(argv).toContain(stage.socket);
  expect(env).toEqual({ TMUX: undefined, TMUX_PANE: undefined });
  expect(hint).toMatch(/F12.*Ctrl-Q/);
});
