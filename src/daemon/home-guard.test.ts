import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createScriptedClock } from "../../test/scripted-ports.ts";
import { ensureHumanToken } from "../home/human-token.ts";
import { isLocked, takeLock } from "../home/lock.ts";
import { makePrivateFolder } from "../home/make-folder.ts";
import { homePlaces } from "../home/places.ts";
import type { Log } from "../ports/system.ts";
import { createHomeGuard } from "./home-guard.ts";

function stage() {
  const base = mkdtempSync(join(tmpdir(), "signalbox-home-guard-"));
  const home = join(base, "home");
  const places = homePlaces(home);
  for (const folder of [home, places.run, places.bin]) makePrivateFolder(folder);
  const lock = takeLock(places.lock);
  if (lock === undefined) throw new Error("Another process holds the lock.");
  const first = ensureHumanToken(places);
  const clock = createScriptedClock();
  const seen: string[] = [];
  const errors: string[] = [];
  const log: Log = {
    ...{ debug() {}, info() {}, warn() {}, with: () => log, close: async () => {} },
    error: (message) => void errors.push(message),
  };
  const listen = async () => writeFileSync(places.socket, "");
  const placePrograms = () => {
    makePrivateFolder(places.bin);
    writeFileSync(join(places.bin, "signalbox"), "");
  };
  placePrograms();
  makePrivateFolder(dirname(places.socket));
  writeFileSync(places.socket, "");
  const guard = createHomeGuard({
    ...{ home, places, clock, log, lock, pid: 4711, listen, placePrograms },
    isListening: () => existsSync(places.socket),
    lookAtStore: () => void seen.push("store"),
    useToken: (token) => void seen.push(token),
    onHomeGone: () => void seen.push("gone"),
  });
  let isReleased = false;
  const release = () => {
    if (!isReleased) guard.release();
    isReleased = true;
  };
  onTestFinished(async () => {
    await guard.stop();
    release();
    rmSync(base, { recursive: true, force: true });
  });
  guard.start();
  return { base, home, places, clock, seen, errors, first, guard, release };
}

test("the daemon restores its deleted files within a second, with the same content", async () => {
  const { places, clock, seen, first, errors } = stage();
  const paused = join(places.run, "paused.json");
  writeFileSync(paused, "{}\n");
  await clock.pass(1_000);
  const before = statSync(places.lock).ino;
  rmSync(places.run, { recursive: true });
  rmSync(places.bin, { recursive: true });
  rmSync(places.humanToken);
  await clock.pass(1_000);
  expect(statSync(places.lock).ino).not.toBe(before);
  expect([places.socket, places.humanToken, join(places.bin, "signalbox")].map((file) => existsSync(file))).toEqual([
    true,
    true,
    true,
  ]);
  expect([readFileSync(places.pid, "utf8"), readFileSync(paused, "utf8")]).toEqual(["4711\n", "{}\n"]);
  const token = readFileSync(places.humanToken, "utf8").trim();
  expect([seen.includes(token), token === first, errors]).toEqual([true, false, []]);
});

test("a file that cannot be restored is reported once, and the others are restored", async () => {
  const { places, clock, seen, errors } = stage();
  writeFileSync(`${places.humanToken}.draft`, "no token", { mode: 0o600 });
  renameSync(`${places.humanToken}.draft`, places.humanToken);
  rmSync(places.socket);
  await clock.pass(5_000);
  expect([errors, existsSync(places.socket)]).toEqual([["A file of the daemon could not be restored"], true]);
  expect(seen.filter((each) => each === "store")).toHaveLength(5);
});

test("a moved home is reported after two checks, and nothing is written to its old place", async () => {
  const { base, home, clock, seen } = stage();
  renameSync(home, join(base, "elsewhere"));
  await clock.pass(1_000);
  expect(seen).toEqual([]);
  await clock.pass(1_000);
  expect([seen, existsSync(home)]).toEqual([["gone"], false]);
});

test("once the lock is held at its path again, the lock on the moved file is released", async () => {
  const { base, places, clock } = stage();
  const elsewhere = join(base, "lock");
  renameSync(places.lock, elsewhere);
  expect(isLocked(elsewhere)).toBe(true);
  await clock.pass(1_000);
  expect([isLocked(places.lock), isLocked(elsewhere)]).toEqual([true, false]);
});

test.for([
  ["deletes its own pid file", "4711\n", false],
  ["keeps the pid file of another daemon", "4712\n", true],
] as const)("a daemon that stops %s", async ([, number, isLeft]) => {
  const { places, clock, guard, release } = stage();
  await clock.pass(1_000);
  await guard.stop();
  writeFileSync(places.pid, number);
  release();
  expect(existsSync(places.pid)).toBe(isLeft);
});
