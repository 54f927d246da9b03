import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { homePlaces } from "../../src/home/places.ts";
import { ask, bearer } from "../api/http.ts";
import { appFile, cliFile } from "../programs.ts";
import { removeFolder } from "../remove-folder.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-doctor-")));
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(SIGNALBOX_|NO_COLOR)/.test(name)),
);
// The developer's own installed skills must not matter.
const environment = { ...inherited, HOME: base, FORCE_COLOR: "1", NODE_COMPILE_CACHE: join(base, "compiled") };
const daemons: ChildProcess[] = [];
let homes = 0;

afterEach(() => {
  for (const child of daemons.splice(0)) child.kill("SIGKILL");
});
afterAll(() => removeFolder(base));

/** Programs with these names, which print these versions. */
const found = { git: "git version 2.43.0", tmux: "tmux 3.3a", bwrap: "bubblewrap 0.8.0", claude: "", codex: "" };
const programs = fakes(found);

function fakes(all: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(base, "bin-"));
  for (const [name, says] of Object.entries(all))
    writeFileSync(join(folder, name), `#!/bin/sh\necho "${says}"\n`, { mode: 0o755 });
  return folder;
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(file: string, args: readonly string[], home: string, path = programs): Promise<Ran> {
  return new Promise((done) => {
    const env = { ...environment, SIGNALBOX_HOME: home, PATH: path };
    execFile(file, args, { cwd: base, env }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

const signalbox = (home: string, ...args: string[]) => run(process.execPath, [cliFile, ...args], home);

interface Shown {
  readonly name: string;
  readonly level: string;
  readonly found: string;
  readonly fix: string;
  readonly mended: string | null;
}

/** What `doctor --json` says, by the name of the check. */
async function doctor(home: string, { flags = [] as readonly string[], path = programs } = {}) {
  const { code, stdout, stderr } = await run(process.execPath, [cliFile, "doctor", "--json", ...flags], home, path);
  expect(stderr).toBe("");
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: readonly Shown[] };
  expect(code).toBe(ok ? 0 : 1);
  return { ok, checks, of: (name: string) => checks.filter((check) => check.name === name) };
}

const wrong = ({ checks }: { checks: readonly Shown[] }) =>
  checks.filter(({ level }) => level !== "ok").map(({ name, level }) => `${name} ${level}`);

/** A home that a daemon has used. */
async function usedHome(): Promise<{ home: string; daemon: ChildProcess; repository: string }> {
  const home = join(base, `home-${++homes}`);
  const repository = join(base, `coffee-${homes}`);
  mkdirSync(join(home, "workflows"), { recursive: true, mode: 0o700 });
  chmodSync(home, 0o700);
  execFileSync("git", ["init", "--quiet", "--initial-branch", "main", repository]);
  const daemon = await startDaemon(home);
  const { socket, humanToken } = homePlaces(home);
  const headers = bearer(readFileSync(humanToken, "utf8").trim());
  await ask({ socket }, "/v1/projects", { json: { name: "coffee", path: repository }, headers });
  return { home, daemon, repository };
}

async function startDaemon(home: string): Promise<ChildProcess> {
  const env = { ...inherited, SIGNALBOX_HOME: home };
  const daemon = spawn(process.execPath, [appFile], { env, stdio: "ignore" });
  daemons.push(daemon);
  const answers = () =>
    ask({ socket: homePlaces(home).socket }, "/v1/health").then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(answers, { timeout: 20_000 }).toBe(200);
  return daemon;
}

async function stop(daemon: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  const ended = new Promise((done) => daemon.on("exit", done));
  daemon.kill(signal);
  await ended;
}

test("for a new user doctor finds no problem, and creates and starts nothing", async () => {
  const home = join(base, "nobody");
  const { code, stdout, stderr } = await signalbox(home, "doctor");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "\nNo problems found.\n" });
  // Long paths are wrapped.
  const lines = stdout.trimEnd().replaceAll(/\n +/g, " ").split("\n");
  expect(lines.map((line) => /^✓ [a-z]+ +(.*)$/.exec(line)?.[1])).toEqual([
    process.versions.node,
    "2.43.0",
    "3.3a",
    "claude, codex",
    "bubblewrap 0.8.0, for agents in workspaces of kind clone",
    "not installed; to let your agents hand work to Signalbox: signalbox install",
    `${home} does not exist yet; it is created when it is needed`,
    `${home}/run/api does not exist yet; it is created when it is needed`,
    "does not exist yet; it is created when it is needed",
    "nothing is set",
    expect.stringMatching(/^large: claude opus, .*; small: claude haiku, /),
    expect.stringMatching(/^\d+ [GT]B free$/),
    "is not running; it is started when it is needed",
    "does not exist yet; it is created when it is needed",
    "none is held",
    "none yet; in a repository: signalbox init",
    "the built-in workflows",
    "the daemon checks them when it runs",
    "the daemon calls you when it runs",
  ]);
  expect(existsSync(home)).toBe(false);
});

test("with --fix the folders of a new user are created", async () => {
  const home = join(base, "fresh");
  const { ok, of } = await doctor(home, { flags: ["--fix"] });
  expect([ok, of("home")[0]?.mended, of("socket")[0]?.mended]).toEqual([true, "created it", "created it"]);
  expect([home, join(home, "run")].map((folder) => statSync(folder).mode & 0o777)).toEqual([0o700, 0o700]);
});

describe("programs", () => {
  test("a sandbox that cannot be made is a warning, an error if agents must have one, and nothing if they have none", async () => {
    const home = join(base, "sandboxes");
    mkdirSync(home, { mode: 0o700 });
    const { bwrap: _, ...others } = found;
    const path = fakes(others);
    const refuses = 'case $1 in --version) echo bubblewrap 0.8.0;; *) echo "bwrap: no namespaces" >&2; exit 1;; esac';
    writeFileSync(join(path, "bwrap"), `#!/bin/sh\n${refuses}\n`, { mode: 0o755 });
    const levels = [];
    for (const setting of ["auto", "on", "off"]) {
      writeFileSync(join(home, "config.yml"), `agents: { sandbox: ${setting} }\n`);
      const [said] = (await doctor(home, { path })).of("sandbox");
      levels.push(said?.level);
      if (setting !== "off") expect(said?.found).toContain("no namespaces");
    }
    expect(levels).toEqual(["warning", "error", "ok"]);
  });

  test("that are missing are reported with what to do: errors for git and tmux, warnings for agents and sandboxes", async () => {
    const found = await doctor(join(base, "none"), { path: fakes({}) });
    expect(wrong(found)).toEqual(["git error", "tmux error", "agents warning", "sandbox warning"]);
    expect(found.of("sandbox")[0]?.fix).toBe("Install it: sudo apt install bubblewrap");
    expect(found.of("git")[0]?.fix).toBe("Install git 2.38 or newer: https://git-scm.com/downloads");
  });

  test("that are not logged in are reported with the command to log in", async () => {
    const path = fakes({ git: "git version 2.45.0", tmux: "tmux 3.4", codex: "Not logged in" });
    const { of } = await doctor(join(base, "none"), { path });
    expect(of("agents")).toMatchObject([
      { level: "warning", found: "Codex is not logged in", fix: "Log in: codex login" },
    ]);
  });

  test("that are too old are errors, as if they were missing", async () => {
    const old = await doctor(join(base, "none"), {
      path: fakes({ git: "git version 2.37.9", tmux: "tmux 3.1c", gemini: "" }),
    });
    expect(old.of("git")).toMatchObject([{ level: "error", found: "2.37.9 is too old" }]);
    expect(old.of("tmux")).toMatchObject([{ level: "error", found: "3.1c is too old" }]);
    const apple = await doctor(join(base, "none"), {
      path: fakes({ git: "git version 2.39.3 (Apple Git-146)", tmux: "tmux next-3.6" }),
    });
    expect(apple.of("git")).toMatchObject([{ level: "ok", found: "2.39.3" }]);
    expect(apple.of("tmux")).toMatchObject([{ level: "ok", found: "3.6" }]);
  });
});

describe("with a running daemon", () => {
  test("there is no problem, and the daemon is asked", async () => {
    const { home, daemon } = await usedHome();
    const found = await doctor(home);
    expect(wrong(found)).toEqual([]);
    expect(found.of("daemon")[0]?.found).toMatch(new RegExp(`^runs: version \\S+, process ${daemon.pid}$`));
    expect(found.of("database")[0]?.found).toMatch(/^sound: version \d+, \d+ KB; no backup yet \(signalbox backup\)$/);
    expect(found.of("projects")[0]?.found).toBe("coffee");
  });

  test("a missing default branch is an error, with the command that sets the branch that is checked out", async () => {
    const { home, repository } = await usedHome();
    const git = (...args: readonly string[]) => execFileSync("git", ["-C", repository, ...args]);
    git("-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m", "first");
    expect((await doctor(home)).of("projects")[0]?.level).toBe("ok");
    git("branch", "-m", "main", "trunk");
    expect((await doctor(home)).of("projects")).toMatchObject([
      {
        level: "error",
        found: `coffee: ${repository} has no branch "main", which work goes into.`,
        fix: "Name another one: signalbox project update coffee --default-branch trunk",
      },
    ]);
  });

  test("a held task is reported, also from the file when the daemon is gone", async () => {
    const { home, daemon, repository } = await usedHome();
    const me = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    execFileSync("git", ["-C", repository, ...me, "commit", "--quiet", "--allow-empty", "-m", "first"]);
    // No workspace can be prepared.
    await signalbox(home, "config", "set", "setup", "false");
    await signalbox(home, "task", "create", "--project", "coffee", "Brew stronger");
    await expect.poll(async () => (await doctor(home)).of("tasks")[0]?.level, { timeout: 10_000 }).toBe("warning");
    const told = (await doctor(home)).of("tasks");
    expect(told).toMatchObject([
      {
        found: expect.stringMatching(/^coffee#1 is held in "\w+": \w+ failed: /),
        fix: "signalbox task explain coffee#1",
      },
    ]);
    await stop(daemon, "SIGKILL");
    expect((await doctor(home)).of("tasks")).toEqual(told);
  });

  test("a daemon that does not answer is an error after a few seconds, with the command that kills it", async () => {
    const { home, daemon } = await usedHome();
    daemon.kill("SIGSTOP");
    const found = await doctor(home);
    expect(wrong(found)).toEqual(["daemon error"]);
    expect(found.of("daemon")[0]?.fix).toContain("\nsignalbox down --force\n");
  });

  test("a token that other users can read is an error, and the commands create a new one", async () => {
    const { home } = await usedHome();
    const { humanToken } = homePlaces(home);
    const before = readFileSync(humanToken, "utf8");
    chmodSync(humanToken, 0o644);
    const [token] = (await doctor(home)).of("token");
    expect(token?.level).toBe("error");
    const [, command = ""] = /: (rm .*)$/m.exec(token?.fix ?? "") ?? [];
    await follow(home, command);
    await expect.poll(() => existsSync(humanToken) && readFileSync(humanToken, "utf8") !== before).toBe(true);
    expect(wrong(await doctor(home))).toEqual([]);
  });
});

describe("leftovers of a dead daemon", () => {
  test("are a warning, and --fix removes them", async () => {
    const { home, daemon } = await usedHome();
    await stop(daemon, "SIGKILL");
    const { socket, run: folder } = homePlaces(home);
    expect(wrong(await doctor(home))).toEqual(["daemon warning"]);
    const fixed = await doctor(home, { flags: ["--fix"] });
    expect([wrong(fixed), fixed.of("daemon")[0]?.mended]).toEqual([[], "removed both"]);
    expect([socket, join(folder, "daemon.pid")].filter(existsSync)).toEqual([]);
  });

  test("do not exist after an orderly stop", async () => {
    const { home, daemon } = await usedHome();
    await stop(daemon);
    expect(wrong(await doctor(home))).toEqual([]);
  });
});

describe("the user's folder", () => {
  test("is made private by --fix, and so is the token; decisions are left to the person", async () => {
    const { home, daemon } = await usedHome();
    await stop(daemon);
    const { run: folder, humanToken } = homePlaces(home);
    chmodSync(home, 0o755);
    chmodSync(folder, 0o750);
    chmodSync(humanToken, 0o644);
    const found = await doctor(home);
    expect(wrong(found)).toEqual(["home error", "socket error", "token error"]);
    expect(found.of("home")[0]).toMatchObject({
      found: `other users can read ${home} (mode 755)`,
      fix: `chmod 700 ${home}`,
    });
    const fixed = await doctor(home, { flags: ["--fix"] });
    expect([fixed.ok, wrong(fixed)]).toEqual([true, []]);
    expect([home, folder, humanToken].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700, 0o600]);
    expect(fixed.of("token")[0]?.mended).toMatch(
      /^made it private\nIf another user may have read it: Delete it; .*: rm /,
    );
  });

  test("is checked for wrong lines in the configuration and for workflows that do not load", async () => {
    const { home, daemon } = await usedHome();
    await stop(daemon);
    writeFileSync(join(home, "config.yml"), "por: 7\npool_size: many\n");
    writeFileSync(join(home, "workflows", "mine.yml"), "version: 1\nstates: { a: { agnt: 1 } }\n");
    const found = await doctor(home);
    expect(wrong(found)).toEqual(["config error", "config error", "workflows error"]);
    expect(found.of("config")[0]?.found).toContain(
      'config.yml:1:1 error: A configuration has no key "por". Did you mean "port"?',
    );
    expect(found.of("workflows")[0]).toMatchObject({
      found: expect.stringMatching(/^mine does not load: .*mine\.yml:2:\d+ error: /),
      fix: "signalbox workflow validate mine",
    });
  });

  test("is an error if it does not exist and cannot be created", async () => {
    const file = join(base, "note.txt");
    writeFileSync(file, "Nobody can make a folder in a file.\n");
    const found = await doctor(join(file, "home"));
    expect(found.of("home")[0]).toMatchObject({
      level: "error",
      found: `${join(file, "home")} does not exist, and cannot be created in ${file}: it is a file`,
      fix: expect.stringContaining("SIGNALBOX_HOME"),
    });
  });

  test("may be a symbolic link", async () => {
    const { home } = await usedHome();
    const link = join(base, "link");
    symlinkSync(home, link);
    expect(wrong(await doctor(link))).toEqual([]);
  });
});

test("projects whose folder is gone, or is no longer a repository, are errors", async () => {
  const { home, daemon, repository } = await usedHome();
  await stop(daemon);
  rmSync(join(repository, ".git"), { recursive: true });
  expect((await doctor(home)).of("projects")[0]?.found).toBe(
    `${repository}, the repository of coffee, is not a git repository`,
  );
  rmSync(repository, { recursive: true });
  const [project] = (await doctor(home)).of("projects");
  expect(project).toMatchObject({ level: "error", found: `${repository}, the repository of coffee, is gone` });
  expect(project?.fix).toContain("signalbox project update coffee --path PATH");
});

describe("a database that is sound", () => {
  /** Permissions do not restrict root, so then another user runs the command. */
  const ordinary = process.getuid?.() === 0 ? 65_534 : (process.getuid?.() ?? 0);

  /** A home of an ordinary user whose daemon was killed, with the write-ahead log left. */
  async function leftHome(): Promise<string> {
    const { home, daemon } = await usedHome();
    await stop(daemon, "SIGKILL");
    execFileSync("chown", ["-R", String(ordinary), home]);
    chmodSync(base, 0o755);
    return home;
  }

  /** The findings about the folder and the database for the ordinary user. */
  function toldOf(home: string): readonly Shown[] {
    const env = { ...environment, SIGNALBOX_HOME: home, PATH: programs, NODE_COMPILE_CACHE: "" };
    const { stdout } = spawnSync(process.execPath, [cliFile, "doctor", "--json"], {
      ...{ cwd: base, env, encoding: "utf8" },
      ...(ordinary === process.getuid?.() ? {} : { uid: ordinary, gid: ordinary }),
    });
    const { checks } = JSON.parse(stdout) as { checks: readonly Shown[] };
    return checks.filter(({ name }) => name === "home" || name === "database" || name === "projects");
  }

  test("is not called damaged if it is not writable, and its contents are still read", async () => {
    const home = await leftHome();
    chmodSync(home, 0o500);
    const [folder, database, projects] = toldOf(home);
    chmodSync(home, 0o700);
    expect(folder).toMatchObject({ level: "error", fix: `chmod 700 ${home}` });
    expect(database).toMatchObject({
      level: "error",
      found: expect.stringMatching(
        /^cannot be written: the permissions of \S+ forbid it \(EACCES\); sound: version \d/,
      ),
      fix: `chmod u+rwX ${home}`,
    });
    expect(projects).toMatchObject({ level: "ok", found: "coffee" });
  });

  test("is not called damaged if it cannot be read, and doctor does not suggest an empty database", async () => {
    const home = await leftHome();
    const { database: file } = homePlaces(home);
    chmodSync(file, 0o000);
    const [, database] = toldOf(home);
    expect(database).toMatchObject({
      level: "error",
      found: `${file} cannot be read: the permissions of ${file} forbid it (EACCES). It is not known to be damaged`,
      fix: `chmod u+rwX ${file}`,
    });
  });

  test("is read on a read-only file system", async () => {
    const { home, daemon } = await usedHome();
    await stop(daemon, "SIGKILL");
    const place = join(base, "read-only");
    mkdirSync(place);
    // Without the right to mount, a folder that is not writable is the closest substitute.
    const isMounted = spawnSync("mount", ["--bind", home, place]).status === 0;
    const isReadOnly = isMounted && spawnSync("mount", ["-o", "remount,ro,bind", place]).status === 0;
    try {
      const { of } = await doctor(isReadOnly ? place : home);
      const level = isReadOnly ? "error" : "ok";
      expect(of("database")).toMatchObject([{ level, found: expect.stringContaining("sound: version") }]);
      if (isReadOnly) expect(of("database")[0]?.found).toContain("is mounted read-only");
      expect(of("database")[0]?.fix).not.toContain("restore");
    } finally {
      if (isMounted) spawnSync("umount", ["-l", place]);
    }
  });
});

describe("a damaged database", () => {
  /** A home with a backup, whose database was then overwritten after the first page. */
  async function damagedHome(): Promise<{ home: string; backup: string }> {
    const { home, daemon } = await usedHome();
    const backup = (await signalbox(home, "backup")).stdout.trim();
    await stop(daemon);
    const { database } = homePlaces(home);
    const bytes = readFileSync(database);
    bytes.fill(0x5a, 4096, bytes.length);
    writeFileSync(database, bytes);
    return { home, backup };
  }

  test("is an error that names the newest backup; --fix does not touch it", async () => {
    const { home, backup } = await damagedHome();
    const { database } = homePlaces(home);
    const before = readFileSync(database);
    for (const flags of [[], ["--fix"]]) {
      const found = await doctor(home, { flags });
      expect(wrong(found)).toEqual(["database error"]);
      expect(found.of("database")[0]?.found).toContain(`${database} is damaged: `);
      expect(found.of("database")[0]?.fix).toContain(`${backup}: signalbox restore\n`);
    }
    expect(readFileSync(database).equals(before)).toBe(true);
  });

  test("is replaced by the backup with the printed commands", async () => {
    const { home } = await damagedHome();
    expect((await doctor(home)).of("database")[0]?.fix).toMatch(/^signalbox down\n.*: signalbox restore$/m);
    await follow(home, "signalbox down\nsignalbox restore --yes\nsignalbox up");
    const found = await doctor(home);
    expect(wrong(found)).toEqual([]);
    expect(found.of("projects")[0]?.found).toBe("coffee");
    const [aside = ""] = readdirSync(homePlaces(home).setAside);
    expect(existsSync(join(homePlaces(home).setAside, aside, "signalbox.db"))).toBe(true);
  });

  test("is found even if all its contents can still be read", async () => {
    const { home, daemon } = await usedHome();
    await stop(daemon);
    const database = new DatabaseSync(homePlaces(home).database);
    database.enableDefensive(false);
    database.exec("pragma writable_schema = on; delete from sqlite_schema where name = 'task_by_parent'");
    database.close();
    const [found] = (await doctor(home)).of("database");
    expect(found).toMatchObject({ level: "error", found: expect.stringMatching(/ is damaged: .*never used/) });
  });

  test("may not be a database at all, and may have no backup", async () => {
    const home = join(base, "garbage");
    mkdirSync(home, { mode: 0o700 });
    writeFileSync(join(home, "signalbox.db"), "Hello, I am no database. ".repeat(100));
    const [database] = (await doctor(home)).of("database");
    expect(database?.found).toContain("is damaged: file is not a database");
    expect(database?.fix).toMatch(/forgets all projects, tasks and history .*: signalbox restore --empty$/);
  });

  test("is not reported for one that is only busy or very new", async () => {
    const home = join(base, "new");
    mkdirSync(home, { mode: 0o700 });
    new DatabaseSync(join(home, "signalbox.db")).close();
    expect(wrong(await doctor(home))).toEqual([]);
  });
});

/** Runs the printed commands, without the words between them, in a shell in which `signalbox` is ours. */
async function follow(home: string, commands: string): Promise<void> {
  const typed = commands.replace(/^.*:$/gm, "");
  const ours = `signalbox() { "${process.execPath}" "${cliFile}" "$@"; }\nset -e\n`;
  const path = [programs, process.env.PATH].join(delimiter);
  const { code, stderr } = await run("/bin/sh", ["-c", ours + typed], home, path);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  const { pid } = JSON.parse((await signalbox(home, "status", "--json")).stdout);
  daemons.push({ kill: () => process.kill(pid, "SIGKILL") } as unknown as ChildProcess);
}
