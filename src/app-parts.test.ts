import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeFolder } from "../test/remove-folder.ts";
import { startWatchdog } from "./app-parts.ts";
import { homePlaces } from "./home/places.ts";
import type { Log } from "./ports/system.ts";

test("a daemon that was killed on purpose has a watchdog again after its next start", () => {
  const home = mkdtempSync(join(tmpdir(), "signalbox-watchdog-"));
  onTestFinished(() => removeFolder(home));
  const places = { ...homePlaces(home), stopped: join(home, "stopped") };
  writeFileSync(places.stopped, "");
  startWatchdog(home, places, ["node", "app.ts"], {} as Log, () => {}).stop();
  expect(existsSync(places.stopped)).toBe(false);
});

test("the person is called at the last restart of a daemon that dies, and once more by a later daemon if it died again", () => {
  const home = mkdtempSync(join(tmpdir(), "signalbox-watchdog-"));
  onTestFinished(() => removeFolder(home));
  const places = { ...homePlaces(home), stopped: join(home, "stopped"), unwatched: join(home, "unwatched") };
  const calls: string[] = [];
  const log = { error() {}, warn() {} } as unknown as Log;
  const start = (...words: string[]) =>
    startWatchdog(home, places, ["node", "app.ts", ...words], log, (text) => void calls.push(text));
  start();
  expect(calls).toEqual([]);
  // This one dies: nobody calls its `stop`.
  start("--revived=3");
  expect(calls).toEqual([expect.stringContaining("If it dies again soon, it is not restarted")]);
  start();
  expect(calls.slice(1)).toEqual([expect.stringContaining("The daemon died, and was not restarted")]);
  start();
  expect(calls.length).toBe(2);
  // An orderly stop, and a kill on purpose, are no deaths.
  start("--revived=3").stop();
  start();
  start("--revived=3");
  writeFileSync(places.stopped, "");
  start();
  expect(calls.length).toBe(4);
});
