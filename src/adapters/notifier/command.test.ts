import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeFolder } from "../../../test/remove-folder.ts";
import { spawnCommands } from "../system.ts";
import { command } from "./notifiers.ts";

const need = {
  task: "t1",
  name: "coffee#12",
  summary: "Brew",
  reason: "approval",
  text: "Merge",
  command: "signalbox x",
};
const note = {
  title: "coffee#12 needs you: Brew",
  text: "Merge",
  task: "t1",
  project: "coffee",
  key: "t1:3:approval~1",
};

/** A command that records its arguments and its environment. */
function stage(ending = "") {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-notify-"));
  onTestFinished(() => removeFolder(folder));
  const out = join(folder, "out.json");
  const script = `require("fs").writeFileSync(${JSON.stringify(out)}, JSON.stringify([process.argv.slice(1), process.env]));${ending}`;
  const notifier = command({
    commands: spawnCommands,
    argv: [process.execPath, "-e", script, "--", "me"],
    env: { HOME: folder },
  });
  return { notifier, seen: () => JSON.parse(readFileSync(out, "utf8")) as [readonly string[], Record<string, string>] };
}

test("a command gets the texts as its last arguments and as variables, on one line each", async () => {
  const { notifier, seen } = stage();
  await notifier.notify({ ...note, text: "Merge\u001b[2J\n$(id) `id`", needs: [need] });
  const [argv, env] = seen();
  expect(argv).toEqual(["me", "coffee#12 needs you: Brew", "Merge $(id) `id`"]);
  expect(env).toMatchObject({
    SIGNALBOX_NOTE_TITLE: "coffee#12 needs you: Brew",
    SIGNALBOX_NOTE_TASK: "t1",
    SIGNALBOX_NOTE_REASON: "approval",
    SIGNALBOX_NOTE_COMMAND: "signalbox x",
    SIGNALBOX_NOTE_KEY: "t1:3:approval~1",
  });
  expect(env).not.toHaveProperty("PATH");
});

test("a task's title cannot become an option of the command", async () => {
  const { notifier, seen } = stage();
  await notifier.notify({ ...note, title: "--exec=x" });
  expect(seen()[0][1]).toBe(" --exec=x");
});

test("a failing command is worth a retry", async () => {
  const { notifier } = stage('console.log("no signal");process.exit(3)');
  await expect(notifier.notify(note)).rejects.toMatchObject({
    code: "notifier.failed",
    retry: "later",
    message: expect.stringMatching(/ended with 3: no signal$/),
  });
});

/** A command that never ends, with a child that leaves its group. */
function endless(more: Partial<Parameters<typeof command>[0]>) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-notify-"));
  onTestFinished(() => removeFolder(folder));
  const swept: string[] = [];
  const notifier = command({
    ...{ commands: spawnCommands, argv: ["sh", "-c", 'echo "$SIGNALBOX_NOTE_OF" > mark; exec sleep 1000'] },
    ...{ env: { HOME: folder, PATH: process.env.PATH ?? "" }, home: "/home/ann/.signalbox" },
    sweep: async (entry) => void swept.push(entry),
    ...more,
  });
  return { notifier, swept, mark: () => readFileSync(join(folder, "mark"), "utf8").trim() };
}

test("a command that does not end is killed with everything it started, and is not retried", async () => {
  const { notifier, swept, mark } = endless({ timeout: 500 });
  await expect(notifier.notify(note)).rejects.toMatchObject({
    ...{ code: "notifier.slow", retry: "never" },
    message: expect.stringContaining("counts as made"),
  });
  expect(mark()).toBe("/home/ann/.signalbox:t1:3:approval~1");
  expect(swept).toEqual([`SIGNALBOX_NOTE_OF=${mark()}`]);
});

test("a command that runs when the daemon stops is killed immediately and counts as delivered; no other is started", async () => {
  const stopping = new AbortController();
  const { notifier, swept } = endless({ signal: stopping.signal });
  const telling = notifier.notify(note);
  setTimeout(() => stopping.abort(), 200);
  await telling;
  expect(swept).toHaveLength(1);
  await expect(notifier.notify(note)).rejects.toMatchObject({ code: "notifier.stopped", retry: "later" });
});
