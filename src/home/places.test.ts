import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Fault } from "../fault.ts";
import { homeFolder, homePlaces, repositoryPlaces } from "./places.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-places-"));
afterAll(() => rmSync(base, { recursive: true }));

test("all places are in the home, whose path may be relative", () => {
  const home = resolve("some", "home");
  const places = homePlaces("some/home/");
  expect(places).toEqual(homePlaces(home));
  for (const path of Object.values(places)) expect(path.startsWith(`${home}/`)).toBe(true);
  expect(places).toMatchObject({
    database: join(home, "signalbox.db"),
    log: join(home, "logs", "daemon.log"),
    socket: join(home, "run", "api", "daemon.sock"),
    formerSocket: join(home, "run", "daemon.sock"),
    lock: join(home, "run", "lock.db"),
    startReport: join(home, "run", "start.log"),
  });
});

test("a socket whose path would be too long is elsewhere, in a folder for this user and this home", () => {
  const tail = "/run/api/daemon.sock".length;
  const maxHome = `/${"a".repeat(100 - tail - 1)}`;
  expect(homePlaces(maxHome).socket).toBe(`${maxHome}/run/api/daemon.sock`);
  const { socket, run } = homePlaces(`${maxHome}a`);
  expect(socket).toMatch(new RegExp(`^/tmp/signalbox-${process.getuid?.()}-[0-9a-f]{12}-api/daemon\\.sock$`));
  expect(dirname(socket)).not.toBe(run);
  expect(homePlaces(`${maxHome}a`).socket).toBe(socket);
  expect(homePlaces(`${maxHome}b`).socket).not.toBe(socket);
  // 60 characters, but 120 bytes.
  expect(homePlaces(`/${"ä".repeat(60)}`).socket).toMatch(/^\/tmp\//);
});

test("the home is SIGNALBOX_HOME, else ~/.signalbox; a relative path is refused with the absolute one", () => {
  expect(homeFolder({ SIGNALBOX_HOME: "/srv/box" })).toBe("/srv/box");
  expect(homeFolder({ SIGNALBOX_HOME: "" })).toBe(join(homedir(), ".signalbox"));
  expect(homeFolder({})).toBe(join(homedir(), ".signalbox"));
  const hintOf = (path: string) => {
    try {
      return homeFolder({ SIGNALBOX_HOME: path });
    } catch (error) {
      return (error as Fault).hint;
    }
  };
  expect(hintOf("box")).toBe(`Give the absolute path, such as: export SIGNALBOX_HOME=${resolve("box")}`);
  expect(hintOf("~/box")).toContain(`SIGNALBOX_HOME=${join(homedir(), "box")}`);
});

test("a repository has its own configuration and workflows", () => {
  expect(repositoryPlaces("/home/me/.signalbox", "/src/app")).toEqual({
    config: "/src/app/.signalbox/config.yml",
    workflows: "/src/app/.signalbox/workflows",
  });
});

test("files in the home belong to the user, even if the folder around it is a repository", () => {
  expect(repositoryPlaces("/home/me/.signalbox", "/home/me")).toBeUndefined();
  mkdirSync(join(base, "real"));
  symlinkSync(join(base, "real"), join(base, ".signalbox"));
  expect(repositoryPlaces(join(base, "real"), base)).toBeUndefined();
});
