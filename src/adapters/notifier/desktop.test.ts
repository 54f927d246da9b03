import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { removeFolder } from "../../../test/remove-folder.ts";
import { spawnCommands } from "../system.ts";
import { desktop } from "./notifiers.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-desktop-"));
});
afterAll(() => removeFolder(folder));

const note = { title: "coffee#12 Brew", text: "It is done.", task: "t1", project: "coffee", key: "t1:7" };

/** Installs a program that records its arguments and environment. */
function stage(platform: string, program: string, ending = "") {
  const out = join(folder, "out.json");
  const script = `require("fs").writeFileSync(${JSON.stringify(out)}, JSON.stringify([process.argv.slice(2), process.env]));${ending}`;
  writeFileSync(join(folder, program), `#!${process.execPath}\n${script}\n`, { mode: 0o755 });
  const env = { PATH: folder, DISPLAY: ":0", SIGNALBOX_SECRET: "x", XDG_RUNTIME_DIR: undefined };
  const seen = () => JSON.parse(readFileSync(out, "utf8")) as [readonly string[], Record<string, string>];
  return { notifier: desktop({ commands: spawnCommands, platform, env }), seen };
}

test("on Linux notify-send gets the texts, and only the environment variables for the desktop", async () => {
  const { notifier, seen } = stage("linux", "notify-send");
  await notifier.notify(note);
  const [argv, env] = seen();
  expect(argv).toEqual(["--app-name=Signalbox", "--", "coffee#12 Brew", "It is done."]);
  expect(env).toMatchObject({ PATH: folder, DISPLAY: ":0" });
  expect(env).not.toHaveProperty("SIGNALBOX_SECRET");
});

test("on Linux nothing in a text is an option, an escape, markup or a control character", async () => {
  const { notifier, seen } = stage("linux", "notify-send");
  await notifier.notify({ ...note, title: "--help\u0000\u001b", text: "-x C:\\new <a href='x'>&\n$(id)" });
  expect(seen()[0].slice(1)).toEqual(["--", "--help", "-x C:\\\\new &lt;a href='x'&gt;&amp; $(id)"]);
});

test("on macOS the texts are arguments of the script, not part of it", async () => {
  const { notifier, seen } = stage("darwin", "osascript");
  await notifier.notify({ ...note, title: "-e", text: '" & (do shell script "id") & "' });
  expect(seen()[0]).toEqual([
    "-e",
    "on run argv",
    "-e",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "-e",
    "end run",
    "--",
    "-e",
    '" & (do shell script "id") & "',
  ]);
});

test("a long text is cut, between whole characters", async () => {
  const { notifier, seen } = stage("linux", "notify-send");
  await notifier.notify({ ...note, title: "", text: "😀".repeat(100_000) });
  expect(seen()[0].slice(2)).toEqual(["Signalbox", `${"😀".repeat(499)}…`]);
});

test("if the program is missing, the error names its package", async () => {
  const notifier = desktop({ commands: spawnCommands, platform: "linux", env: { PATH: join(folder, "nowhere") } });
  await expect(notifier.notify(note)).rejects.toMatchObject({
    code: "notifier.missing",
    retry: "never",
    message: expect.stringMatching(/"notify-send" is missing\. Install the package "libnotify-bin"/),
  });
});

test("an unsupported system is reported as such", async () => {
  const notifier = desktop({ commands: spawnCommands, platform: "win32", env: {} });
  await expect(notifier.notify(note)).rejects.toMatchObject({ code: "notifier.missing", retry: "never" });
});

test("the error of a failing program quotes its output", async () => {
  const { notifier } = stage("linux", "notify-send", 'console.error("No\\u001b[2J bus"); process.exitCode = 1;');
  await expect(notifier.notify(note)).rejects.toMatchObject({
    code: "notifier.failed",
    message: '"notify-send" ended with 1: No bus',
  });
});
