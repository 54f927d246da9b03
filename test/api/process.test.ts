import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { takeLock } from "../../src/home/lock.ts";
import { homePlaces } from "../../src/home/places.ts";
import { appFile, cliFile } from "../programs.ts";
import { ask, bearer, type Sent } from "./http.ts";
import { brew, newHome, newRepository, removeHomes } from "./stage.ts";

const root = resolve(import.meta.dirname, "../..");
const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SIGNALBOX_")));
const started: ChildProcess[] = [];
const homes: string[] = [];

afterEach(async () => {
  for (const child of started.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
  // The command line may have started more daemons.
  for (const home of homes.splice(0)) {
    const pid = await pidOf(home);
    if (pid !== undefined) process.kill(pid, "SIGKILL");
  }
});
afterAll(removeHomes);

function home(config = ""): string {
  const folder = newHome();
  mkdirSync(join(folder, "workflows"), { recursive: true });
  writeFileSync(join(folder, "workflows", "brew.yml"), brew);
  if (config !== "") writeFileSync(join(folder, "config.yml"), config);
  homes.push(folder);
  return folder;
}

async function pidOf(folder: string): Promise<number | undefined> {
  try {
    return (await ask({ socket: homePlaces(folder).socket }, "/v1/health")).json.pid;
  } catch {
    return undefined;
  }
}

/** Starts the daemon's process and resolves when it answers. */
async function startDaemon(folder: string, program = appFile): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program], {
    env: { ...inherited, SIGNALBOX_HOME: folder },
    stdio: "ignore",
  });
  started.push(child);
  await expect.poll(() => pidOf(folder), { timeout: 20_000 }).toBe(child.pid);
  return child;
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((done) => (child.exitCode === null ? child.on("exit", done) : done(child.exitCode)));
}

function signalbox(folder: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((done) => {
    const options = { cwd: dirname(folder), env: { ...inherited, SIGNALBOX_HOME: folder } };
    execFile(process.execPath, [cliFile, ...args], options, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

const tokenOf = (folder: string) => readFileSync(homePlaces(folder).humanToken, "utf8").trim();
const over = (folder: string, path: string, sent: Sent = {}) =>
  ask({ socket: homePlaces(folder).socket }, path, { ...sent, headers: bearer(tokenOf(folder)) });

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => done(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}

/** Whether a client stays connected to the daemon's socket; a single request disconnects immediately. */
async function isFollowed(folder: string): Promise<boolean> {
  const connected = new RegExp(` 0001 03 +\\d+ ${homePlaces(folder).socket}$`, "m");
  for (let i = 0; i < 4; i++) {
    if (!connected.test(readFileSync("/proc/net/unix", "utf8"))) return false;
    await sleep(50);
  }
  return true;
}

/** Follows the event feed over the socket; collects the ids as they come. */
function follow(folder: string, after = ""): { readonly ids: readonly string[]; readonly closed: Promise<void> } {
  const ids: string[] = [];
  const closed = new Promise<void>((done) => {
    const headers = { ...bearer(tokenOf(folder)), ...(after === "" ? {} : { "last-event-id": after }) };
    request({ socketPath: homePlaces(folder).socket, path: "/v1/stream", headers }, (response) => {
      response.setEncoding("utf8").on("data", (text: string) => {
        ids.push(...[...text.matchAll(/^id: (\d+)$/gm)].map(([, id = ""]) => id));
      });
      response.on("error", () => {}).on("close", done);
    })
      .on("error", () => done())
      .end();
  });
  return { ids, closed };
}

describe("the daemon's process", () => {
  test("listens on the configured port, for callers with a token", async () => {
    const port = await freePort();
    const folder = home(`port: ${port}\n`);
    await startDaemon(folder);
    const tcp = { address: `127.0.0.1:${port}` };
    await expect.poll(async () => (await over(folder, "/v1/status")).json.address).toBe(tcp.address);
    const headers = bearer(tokenOf(folder));
    expect((await ask(tcp, "/v1/status", { headers })).status).toBe(200);
    expect((await ask(tcp, "/v1/status")).status).toBe(401);
    expect((await ask(tcp, "/v1/status", { headers: { ...headers, host: "evil.example" } })).status).toBe(403);
    expect((await ask(tcp, "/v1/status", { headers: { ...headers, origin: "null" } })).status).toBe(403);
  });

  test("makes its socket, token and folders accessible to the user only, whatever they were before", async () => {
    const folder = home();
    mkdirSync(join(folder, "run"), { mode: 0o777 });
    await startDaemon(folder);
    const { run, socket, humanToken, agents } = homePlaces(folder);
    await expect.poll(() => statSync(agents, { throwIfNoEntry: false }) !== undefined).toBe(true);
    const modes = [folder, run, socket, humanToken, agents].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o600, 0o600, 0o600]);
  });

  test("serves the same API description as the file in the repository", async () => {
    const folder = home();
    await startDaemon(folder);
    const written = JSON.parse(readFileSync(join(root, "schema", "openapi.json"), "utf8"));
    expect((await over(folder, "/v1/openapi.json")).json).toEqual(written);
  });

  test("is the only one of its home: a second one says so and exits", async () => {
    const folder = home();
    const first = await startDaemon(folder);
    const second = spawn(process.execPath, [appFile], {
      env: { ...inherited, SIGNALBOX_HOME: folder },
    });
    started.push(second);
    expect(await ended(second)).toBe(75);
    expect(await pidOf(folder)).toBe(first.pid);
  });

  test("stops on request, over the API and by a signal", async () => {
    const folder = home();
    const first = await startDaemon(folder);
    expect((await over(folder, "/v1/stop", { json: {} })).status).toBe(200);
    expect(await ended(first)).toBe(0);
    const second = await startDaemon(folder);
    second.kill("SIGTERM");
    expect(await ended(second)).toBe(0);
  });

  test("loses no event for a follower, even after it was killed", async () => {
    const folder = home();
    const first = await startDaemon(folder);
    await over(folder, "/v1/projects", { json: { name: "coffee", path: newRepository(folder) } });
    const known = (await positionsIn(folder)).length;
    const before = follow(folder);
    const { id } = (await over(folder, "/v1/tasks", { json: { project: "coffee", workflow: "brew", summary: "Brew" } }))
      .json.task;
    const hasAll = async (ids: readonly string[], from: number) =>
      ids.length > 0 && ids.join() === (await positionsIn(folder)).slice(from).join();
    await expect.poll(() => hasAll(before.ids, known)).toBe(true);
    first.kill("SIGKILL");
    await before.closed;
    await startDaemon(folder);
    await over(folder, `/v1/tasks/${id}`, { method: "PATCH", json: { summary: "Brew stronger" } });
    const after = follow(folder, before.ids[0]);
    await expect.poll(() => hasAll(after.ids, known + 1)).toBe(true);
    expect(after.ids.length).toBeGreaterThan(before.ids.length - 1);
  });

  test("is followed by the command line across a restart, without a gap, even before the first event", async () => {
    const folder = home();
    const first = await startDaemon(folder);
    await over(folder, "/v1/projects", { json: { name: "coffee", path: newRepository(folder) } });
    const known = (await positionsIn(folder)).length;
    const env = { ...inherited, SIGNALBOX_HOME: folder };
    const args = [cliFile, "events", "--follow", "--json"];
    const events = spawn(process.execPath, args, { cwd: dirname(folder), env });
    started.push(events);
    let seen = "";
    events.stdout.on("data", (chunk) => {
      seen += chunk;
    });
    await expect.poll(() => isFollowed(folder), { timeout: 10_000 }).toBe(true);
    // It is continued only after all events.
    events.kill("SIGSTOP");
    first.kill("SIGKILL");
    await ended(first);
    await startDaemon(folder);
    await over(folder, "/v1/tasks", { json: { project: "coffee", workflow: "brew", summary: "Brew" } });
    const added = (await positionsIn(folder)).slice(known);
    expect(added.length).toBeGreaterThan(1);
    events.kill("SIGCONT");
    const positions = () => seen.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).position]));
    await expect.poll(positions, { timeout: 10_000 }).toEqual(added);
  });
});

/** The positions of all events. */
async function positionsIn(folder: string): Promise<readonly number[]> {
  const { events } = (await over(folder, "/v1/events")).json as { events: readonly { readonly position: number }[] };
  return events.map(({ position }) => position);
}

describe("the environment of a daemon", () => {
  const environmentOf = (pid: number) => readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean);
  /** Starts the daemon from a process with this environment, and returns the daemon's own environment. */
  const startedWith = async (folder: string, env: NodeJS.ProcessEnv, before = "") => {
    const command = `${before}exec "$0" "$@"`;
    // A command that agents may use too.
    const argv = ["-c", command, process.execPath, cliFile, "task", "show", "."];
    await new Promise((done) => execFile("sh", argv, { cwd: dirname(folder), env }, done));
    const pid = Number(await pidOf(folder));
    const umask = /^Umask:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return {
      pid,
      umask,
      names: environmentOf(pid).map((entry) => entry.slice(0, entry.indexOf("="))),
      all: environmentOf(pid),
    };
  };
  const ofRun = {
    SIGNALBOX_RUN: "worker#1",
    SIGNALBOX_TASK: "k2m4p",
    SIGNALBOX_EVENTS: "/tmp/events",
    SIGNALBOX_ROLE: "worker",
  };
  const ofTerminal = { TMUX: "/tmp/tmux,1,0", TMUX_PANE: "%1", CLAUDECODE: "1", npm_config_x: "1" };

  test("is the person's, with their keys, without the variables of their terminal", async () => {
    const folder = home();
    const own = { ...inherited, ...ofTerminal, SIGNALBOX_HOME: folder, MY_KEY: "secret", LC_TIME: "C" };
    const { names } = await startedWith(folder, own);
    expect(names).toEqual(expect.arrayContaining(["PATH", "MY_KEY", "LC_TIME", "SIGNALBOX_HOME"]));
    expect(names).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(TMUX|CLAUDECODE|npm_)/)]));
    const record = homePlaces(folder).surroundings;
    expect(statSync(record).mode & 0o777).toBe(0o600);
    expect(readFileSync(record, "utf8")).not.toContain("secret");
  });

  test("is the one that a person last started it with, whatever an agent that starts it has", async () => {
    const folder = home();
    const own = { ...inherited, SIGNALBOX_HOME: folder, LC_TIME: "C", PATH: `/person:${process.env.PATH}` };
    const first = await startedWith(folder, own);
    process.kill(first.pid, "SIGKILL");
    await expect.poll(() => pidOf(folder)).toBeUndefined();
    const agent = {
      ...own,
      ...ofRun,
      ...ofTerminal,
      LC_TIME: "de",
      PATH: `/agent:${process.env.PATH}`,
      AGENT_KEY: "secret",
    };
    const second = await startedWith(folder, agent, "umask 0; ");
    expect(second.pid).not.toBe(first.pid);
    expect(second.all).toEqual(expect.arrayContaining(["LC_TIME=C", `PATH=${own.PATH}`, `SIGNALBOX_HOME=${folder}`]));
    const foreign = ["AGENT_KEY", ...Object.keys({ ...ofRun, ...ofTerminal })];
    expect(second.names.filter((name) => foreign.includes(name))).toEqual([]);
    expect(second.umask).toBe(first.umask);
  });

  test("is that of a login if no person has ever started one", async () => {
    const folder = home();
    const places = homePlaces(folder);
    const agent = { ...ofRun, SIGNALBOX_HOME: folder, PATH: `${places.bin}:${process.env.PATH}`, AGENT_KEY: "secret" };
    const { all, names } = await startedWith(folder, agent);
    expect(all).toContain(`PATH=${process.env.PATH}`);
    expect(names.toSorted()).toEqual(
      ["HOME", "LOGNAME", "PATH", "SHELL", "SIGNALBOX_HOME", "SIGNALBOX_STARTED_BY_AGENT", "USER"].toSorted(),
    );
  });
});

test("a command that finds the home locked by a stopping daemon starts the next one", async () => {
  const folder = home();
  mkdirSync(join(folder, "run"), { mode: 0o700 });
  const lock = takeLock(homePlaces(folder).lock);
  const listing = signalbox(folder, "project", "list", "--json");
  await sleep(1_500);
  lock?.release();
  expect(await listing).toMatchObject({ code: 0, stderr: "" });
});

describe("a daemon that is older than the command line", () => {
  /** The same sources under another version. */
  function olderPackage(): string {
    const folder = join(dirname(newHome()), "older");
    mkdirSync(folder);
    for (const name of ["src", "workflows"]) cpSync(join(root, name), join(folder, name), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, version: "0.0.1" }));
    return join(folder, "src/app.ts");
  }

  test("is replaced by the first command that sends a request, even while a client follows", async () => {
    const folder = home();
    const older = await startDaemon(folder, olderPackage());
    expect((await over(folder, "/v1/status")).json.version).toBe("0.0.1");
    await over(folder, "/v1/projects", { json: { name: "coffee", path: newRepository(folder) } });
    const follower = follow(folder);
    const before = Date.now();
    const listed = await signalbox(folder, "project", "list", "--json");
    expect([listed.code, listed.stderr]).toEqual([0, ""]);
    expect(JSON.parse(listed.stdout).projects[0].name).toBe("coffee");
    expect(Date.now() - before).toBeLessThan(8_000);
    expect(await ended(older)).toBe(0);
    await follower.closed;
    const { version, pid } = (await over(folder, "/v1/status")).json;
    expect([version, pid === older.pid]).toEqual([
      JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version,
      false,
    ]);
  });

  test("is shown and stopped without being replaced", async () => {
    const folder = home();
    const older = await startDaemon(folder, olderPackage());
    const shown = await signalbox(folder, "status", "--json");
    expect(JSON.parse(shown.stdout)).toMatchObject({ running: true, version: "0.0.1", pid: older.pid });
    expect(await signalbox(folder, "down")).toMatchObject({ code: 0, stderr: expect.stringContaining("has stopped") });
    expect(await ended(older)).toBe(0);
  });
});
