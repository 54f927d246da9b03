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
  startWatchdog(home, places, ["node", "app.ts"], {} as Log).stop();
  expect(existsSync(places.stopped)).toBe(false);
});
