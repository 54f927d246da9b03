import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { beginCommand, command } from "./command.ts";
import { createAsk, killDaemons, spawnDaemon, startDaemon } from "./daemon.ts";
import { createHome, type Home } from "./home.ts";
import { childrenOf, connectionsTo, until } from "./look-at-system.ts";

let home: Home;
beforeEach(() => {
  home = createHome();
});
afterEach(async () => {
  await killDaemons();
  home.remove();
});

test("of eight daemons that start together one stays; the others exit with 75 and leave it alone", async () => {
  const daemons = Array.from({ length: 8 }, () => spawnDaemon(home));
  const listening = await Promise.all(daemons.map(async (daemon) => ((await daemon.listens) ? [daemon] : [])));
  const [winner, ...more] = listening.flat();
  if (winner === undefined) throw new Error(daemons.map((daemon) => daemon.said()).join("\n"));
  expect(more).toEqual([]);
  const others = daemons.filter((daemon) => daemon !== winner);
  expect(await Promise.all(others.map(({ ended }) => ended))).toEqual(others.map(() => 75));
  expect(others.map((daemon) => daemon.said())).toEqual(others.map(() => ""));
  expect(await createAsk(home)(routes.status)).toMatchObject({ pid: winner.pid });
  expect(winner.child.exitCode).toBeNull();
});

test("the files of a killed daemon do not hinder the next daemon, and a second daemon does not harm it", async () => {
  const first = await startDaemon(home);
  await first.kill();
  const second = await startDaemon(home);
  expect(await createAsk(home)(routes.status)).toMatchObject({ pid: second.pid });
  const late = spawnDaemon(home);
  expect(await late.ended).toBe(75);
  expect(await createAsk(home)(routes.status)).toMatchObject({ pid: second.pid });
});

test("files in place of the socket, the lock and the process id are replaced", async () => {
  const { socket, lock, run } = home.places;
  mkdirSync(run, { mode: 0o700 });
  for (const file of [lock, join(run, "daemon.pid")]) writeFileSync(file, "");
  // A socket without a listener: its process is killed before it can remove it.
  spawnSync(process.execPath, ["-e", orphanSocket, socket]);
  expect((await command(home, "project", "list")).code).toBe(0);
  const { pid } = await createAsk(home)(routes.status);
  expect(readFileSync(join(run, "daemon.pid"), "utf8")).toBe(`${pid}\n`);
  await command(home, "down");
  writeFileSync(socket, "not a socket");
  expect((await command(home, "project", "list")).code).toBe(0);
});

const orphanSocket = `require("node:net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))`;

test("ten parallel commands without a daemon all succeed, and start one daemon", async () => {
  const ran = await Promise.all(Array.from({ length: 10 }, () => command(home, "project", "list", "--json")));
  expect(ran.map(({ code, stderr }) => [code, stderr])).toEqual(ran.map(() => [0, ""]));
  expect(ran.map(({ stdout }) => JSON.parse(stdout))).toEqual(ran.map(() => ({ projects: [] })));
  const started = readFileSync(home.places.log, "utf8").match(/The daemon has started/g);
  expect(started).toHaveLength(1);
});

test("a command that arrives while the daemon is stopping is answered by the next daemon", async () => {
  const first = await startDaemon(home);
  // A connected reader delays the end of the first daemon, with its socket gone and its lock held.
  const reader = beginCommand(home, "events", "--follow");
  onTestFinished(() => void reader.child.kill("SIGKILL"));
  await connectionsTo(home.places.socket, 1);
  first.child.kill("SIGTERM");
  await until(() => !existsSync(home.places.socket));
  first.child.kill("SIGSTOP");
  const asked = beginCommand(home, "project", "list", "--json");
  const [second] = await until(() => childrenOf(asked.child.pid));
  await until(() => !childrenOf(asked.child.pid)?.includes(second ?? ""));
  first.child.kill("SIGCONT");
  const { code, stderr } = await asked.ran;
  expect([code, stderr]).toEqual([0, ""]);
  expect(await first.ended).toBe(0);
});

test("a command that reads continues with another daemon if its daemon is killed before it answers", async () => {
  const daemon = await startDaemon(home);
  daemon.child.kill("SIGSTOP");
  const asked = beginCommand(home, "project", "list", "--json");
  await connectionsTo(home.places.socket, 1);
  await daemon.kill();
  expect(await asked.ran).toEqual({ code: 0, stdout: expect.stringContaining("projects"), stderr: "" });
});

test("a command that changes something reports that its daemon was killed before it answered, with advice", async () => {
  const daemon = await startDaemon(home);
  daemon.child.kill("SIGSTOP");
  const asked = beginCommand(home, "pause", "--all");
  await connectionsTo(home.places.socket, 1);
  await daemon.kill();
  const { code, stderr } = await asked.ran;
  expect(code).toBe(1);
  expect(stderr).toContain("The daemon ended before it answered.");
  expect(stderr).toContain("signalbox status");
});
