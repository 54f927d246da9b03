import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { homePlaces } from "../../src/home/places.ts";
import { ask, bearer } from "../api/http.ts";
import { cliFile } from "../programs.ts";
import { removeFolder } from "../remove-folder.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-credential-")));
const home = join(base, "home");
const repository = join(base, "coffee");
const workspace = join(base, "workspace");
const places = homePlaces(home);

/** The workflow lets people and agents move the task back and forth, so only the credential decides. */
const house = `name: house
version: 1
roles: { worker: { mode: session, keep: true } }
states:
  todo: { waits_for: human, next: brewing }
  brewing: { agent: { role: worker, prompt: brew }, outcomes: [{ action: crash }] }
  tasting: { waits_for: human, next: brewing }
  spilled: { terminal: true, outcome: cancelled }
transitions:
  - { from: brewing, to: tasting, by: human }
  - { from: any, to: spilled, by: human }
prompts: { brew: "Brew {summary}" }
`;

const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SIGNALBOX_")));
const environment = { ...inherited, SIGNALBOX_HOME: home, NODE_COMPILE_CACHE: join(base, "compiled") };
const processes: ChildProcess[] = [];
let task: string;
let token: string;

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Place {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

function run(file: string, args: readonly string[], { cwd = repository, env = {} }: Place = {}): Promise<Ran> {
  return new Promise((done) => {
    execFile(file, args, { cwd, env: { ...environment, ...env } }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

const signalbox = (args: readonly string[], place: Place = {}) => run(process.execPath, [cliFile, ...args], place);
const shell = (script: string, place: Place = {}) => run("sh", ["-c", script], place);
/** As runs are started: the shell leads its own session. */
const runShell = (script: string, place: Place) => run("setsid", ["--wait", "sh", "-c", script], place);
const person = () => bearer(readFileSync(places.humanToken, "utf8").trim());
const api = (path: string, json?: unknown) => ask({ socket: places.socket }, path, { json, headers: person() });
const status = async () => (await api(`/v1/tasks/${task}`)).json.task.status;
const rejections = async () =>
  (await api(`/v1/events?task=${task}&limit=5000`)).json.events.filter(
    ({ type }: { type: string }) => type === "request.rejected",
  );

async function register(rest: object): Promise<string> {
  return (await api(`/v1/tasks/${task}/runs`, { role: "worker", ...rest })).json.token;
}

/** Commands with which a person would move the task: the fast path of `task update`, and the ordinary one. */
const moves = () => [
  ["task", "update", task, "--status", "tasting"],
  ["task", "update", "--status", "tasting", "--json", task],
];
/** Commands that are for people only. Many need no daemon, or act before they ask it. */
const forPeople = () => [
  ["task", "cancel", task],
  ["task", "shell", task],
  ["task", "create-pr", task],
  ["task", "list"],
  ["task", "attach", task],
  ["config", "get"],
  ["config", "set", "setup", "touch hacked"],
  ["down"],
  ["down", "--force"],
  ["up"],
  ["trust", "house"],
  ["init"],
  ["install"],
  ["backup"],
  ["restore", "--list"],
  ["pause", "--all", "--now"],
  ["resume", "--all"],
  ["project", "list"],
  ["usage"],
  ["status"],
  ["doctor", "--fix"],
  ["workflow", "eject", "default", "mine"],
];
const inShell = (args: readonly string[]) => `"${process.execPath}" "${cliFile}" ${args.join(" ")}`;

/** The files and the process that the commands for people would change. */
const surroundings = async () => ({
  pid: (await api("/v1/health")).json.pid,
  config: existsSync(places.config) ? readFileSync(places.config, "utf8") : "",
  paused: (await api("/v1/status")).json.paused,
  projects: (await api("/v1/projects")).json.projects,
  // The daemon makes a backup by itself.
  files: [home, repository, places.workflows].flatMap((each) => readdirSync(each)).filter((name) => name !== "backups"),
});

/**
 * Expects that each command is refused and changes nothing: moves by the daemon, which records them without a caller,
 * and commands for people by the command line.
 */
async function refusedAll(attempt: (args: readonly string[]) => Promise<Ran>, people = forPeople().slice(0, 2)) {
  const before = await surroundings();
  for (const args of people) {
    const { code, stderr, stdout } = await attempt(args);
    expect({ args, code, stdout, stderr }).toEqual({
      ...{
        args,
        stdout: "",
        stderr: expect.stringMatching(/^error: (Only a person may run|This folder is in a workspace)/),
      },
      code: 1,
    });
  }
  expect(await surroundings()).toEqual(before);
  for (const args of moves()) {
    const before = (await rejections()).length;
    const { code, stdout, stderr } = await attempt(args);
    expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: "" });
    expect(stderr).toMatch(/^error: This needs a credential\. No credential was sent\.\n/);
    expect(await status()).toBe("brewing");
    const added = (await rejections()).slice(before);
    // The ordinary path is refused when it looks for the task, before it asks for a move.
    if (args[3] === "--status")
      expect(added).toMatchObject([
        { by: "nobody", data: { request: { actor: { role: "nobody" } }, reasons: [{ code: "no-credential" }] } },
      ]);
  }
}

beforeAll(async () => {
  for (const folder of [join(home, "workflows"), repository, join(workspace, "src")])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(home, "workflows", "house.yml"), house);
  execFileSync("git", ["init", "--quiet", "--initial-branch", "main", repository]);
  const me = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  execFileSync("git", ["-C", repository, ...me, "commit", "--quiet", "--allow-empty", "-m", "first"]);
  expect((await signalbox(["init", "--workflow", "house"])).code).toBe(0);
  // None of these tasks releases its workspace.
  expect((await signalbox(["project", "update", "coffee", "--pool-size", "20"])).code).toBe(0);
}, 60_000);

afterAll(async () => {
  for (const child of processes) child.kill("SIGKILL");
  const pid = (await api("/v1/status")).json.pid;
  const { code } = await signalbox(["down"]);
  if (code !== 0) process.kill(pid, "SIGKILL");
  removeFolder(base);
}, 60_000);

beforeEach(async () => {
  const made = await signalbox(["task", "create", "Brew stronger", "--json"]);
  task = JSON.parse(made.stdout).task.id;
  await expect.poll(async () => (await api(`/v1/tasks/${task}`)).json.task.phase).toBe("waiting");
  await signalbox(["task", "continue", task]);
  await expect.poll(async () => (await api(`/v1/tasks/${task}`)).json.task.held).not.toBeNull();
  token = await register({ folder: workspace });
});

describe("the person's credential is not used", () => {
  test("in a workspace or any of its folders, by whatever path", async () => {
    const link = join(base, `link-${task}`);
    symlinkSync(join(workspace, "src"), link);
    for (const cwd of [workspace, join(workspace, "src"), link])
      await refusedAll((args) => signalbox(args, { cwd, env: { PWD: cwd } }));
  });

  test("if the environment is that of a run", async () => {
    await refusedAll((args) => signalbox(args, { env: { SIGNALBOX_RUN: "worker#1" } }), forPeople());
    await refusedAll((args) => signalbox(args, { env: { SIGNALBOX_RUN: "" } }));
  });

  test("below a process that was started for a run, even if it has changed its environment", async () => {
    const env = { SIGNALBOX_RUN: "worker#1", SIGNALBOX_TOKEN: token };
    const forget = "env -u SIGNALBOX_RUN -u SIGNALBOX_TOKEN";
    await refusedAll((args) => shell(`${forget} ${inShell(args)}; exit $?`, { env }));
    await refusedAll((args) =>
      shell(
        `unset SIGNALBOX_RUN SIGNALBOX_TOKEN; sh -c 'env -i HOME="$HOME" SIGNALBOX_HOME="${home}" ${inShell(args)}; exit $?'; exit $?`,
        { env },
      ),
    );
  });

  test("below a process that was registered for a run", async () => {
    const agent = spawn("sh", [], { cwd: repository, env: environment, stdio: ["pipe", "pipe", "pipe"] });
    processes.push(agent);
    await register({ pid: agent.pid });
    await refusedAll(async (args) => {
      const out = join(base, "out");
      agent.stdin.write(`${inShell(args)} >"${out}.1" 2>"${out}.2"; echo $?\n`);
      const code = await new Promise<string>((done) => agent.stdout.once("data", (text) => done(String(text))));
      return { code: Number(code), stdout: readFileSync(`${out}.1`, "utf8"), stderr: readFileSync(`${out}.2`, "utf8") };
    });
  });

  test("by a process that has more ancestors than a person's shell, or whose parent has ended", async () => {
    const deep = join(base, "deep.sh");
    writeFileSync(
      deep,
      `if [ "$1" -gt 0 ]; then n=$1; shift; sh "${deep}" $((n - 1)) "$@"; exit $?; fi; shift; "$@"; exit $?\n`,
    );
    const clean = `env -i HOME="$HOME" SIGNALBOX_HOME="${home}"`;
    const env = { SIGNALBOX_RUN: "worker#1", SIGNALBOX_TOKEN: token };
    await refusedAll((args) => shell(`${clean} sh "${deep}" 90 ${inShell(args)}; exit $?`, { env }));
    // The command's parent is gone, but its process group is still that of the run's shell.
    await refusedAll(async (args) => {
      const out = join(base, `orphan-${task}-${args.join("-").replace(/[^a-z-]/g, "")}`);
      const quiet = `${inShell(args)} >"${out}.1" 2>"${out}.2"; echo $? >"${out}.code.part"; mv "${out}.code.part" "${out}.code"`;
      await runShell(
        `(${clean} sh -c 'while [ -e "${out}.waits" ]; do sleep 0.05; done; ${quiet}' & ) ; rm -f "${out}.waits"; while [ ! -e "${out}.code" ]; do sleep 0.05; done`,
        { env },
      );
      const read = (name: string) => readFileSync(`${out}.${name}`, "utf8");
      return { code: Number(read("code")), stdout: read("1"), stderr: read("2") };
    });
  });

  test("for commands that only a person may run, and nothing happens", async () => {
    const token = await register({ folder: workspace });
    const place = { cwd: workspace, env: { SIGNALBOX_TOKEN: token, SIGNALBOX_RUN: "worker#1" } };
    await refusedAll(
      (args) => signalbox(args, moves().some((move) => move.join() === args.join()) ? { cwd: workspace } : place),
      forPeople(),
    );
  });
});

test("a run's credential authorises the run, in its workspace", async () => {
  const place = { cwd: workspace, env: { SIGNALBOX_TOKEN: token, SIGNALBOX_RUN: "worker#1" } };
  expect((await signalbox(["task", "update", ".", "--summary", "Brew darker"], place)).code).toBe(0);
  expect((await api(`/v1/tasks/${task}`)).json.task.summary).toBe("Brew darker");
  const { code, stderr } = await signalbox(["task", "update", "--status", "tasting"], place);
  expect([code, stderr]).toEqual([1, expect.stringContaining("Only human can move the task")]);
  expect((await rejections()).at(-1)).toMatchObject({
    by: "worker",
    data: { request: { actor: { role: "worker", run: "worker#1" } } },
  });
});

test("a run may read its own task in all ways, comment on it, and read no other task", async () => {
  const place = { cwd: join(workspace), env: { SIGNALBOX_TOKEN: token, SIGNALBOX_RUN: "worker#1" } };
  const { number } = (await api(`/v1/tasks/${task}`)).json.task;
  for (const name of [".", task, String(number), `coffee#${number}`])
    for (const verb of ["show", "explain", "history", "diff"]) {
      const { code, stdout } = await signalbox(["task", verb, name, "--json"], place);
      expect([verb, name, code]).toEqual([verb, name, 0]);
      expect(() => JSON.parse(stdout)).not.toThrow();
    }
  expect((await signalbox(["task", "comment", ".", "It smells good."], place)).code).toBe(0);
  const { events } = (await api(`/v1/events?task=${task}&limit=5000`)).json;
  expect(events.at(-1)).toMatchObject({ type: "task.commented", by: "worker", data: { text: "It smells good." } });
  const other = JSON.parse((await signalbox(["task", "create", "Brew tea", "--json"])).stdout).task.id;
  for (const args of [["show"], ["explain"], ["history"], ["diff"], ["comment"]]) {
    const { code, stderr } = await signalbox(
      ["task", ...args, other, ...(args[0] === "comment" ? ["Hm."] : [])],
      place,
    );
    expect([args, code, stderr]).toEqual([args, 1, expect.stringContaining("This credential belongs to another task")]);
  }
});

test("a command in a workspace that has no credential reads nothing, and is told where to run", async () => {
  const { code, stderr, stdout } = await signalbox(["task", "show", ".", "--json"], { cwd: join(workspace, "src") });
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("This needs a credential. No credential was sent.");
  expect(stderr).toContain("run the command outside of workspaces and agents");
});

test("from the repository the same commands come from the person, and move the task", async () => {
  const [fast = [], ordinary = []] = moves();
  const cancel = ["task", "cancel", task];
  expect(await signalbox(fast)).toMatchObject({ code: 0, stdout: expect.stringContaining("brewing → tasting") });
  await signalbox(["task", "continue", task]);
  expect(await signalbox(ordinary)).toMatchObject({ code: 0 });
  expect(await status()).toBe("tasting");
  expect(await signalbox(cancel)).toMatchObject({ code: 0 });
  expect(await status()).toBe("spilled");
});

test("history names the person who sets a value, pauses or resumes, and says that the author of another change is unknown", async () => {
  const after = async (from: number) =>
    (await api(`/v1/events?after=${from}&limit=5000`)).json.events
      .filter(({ task }: { task: string }) => task === "")
      .map(({ type, by, data }: { type: string; by: string; data: Record<string, unknown> }) =>
        [type, by, data.request ?? data.keys ?? data.project ?? ""].join(" ").trim(),
      );
  const last = async () => (await api("/v1/events?limit=5000")).json.last;
  const begin = await last();
  expect((await signalbox(["config", "set", "agents.stall", "7m"])).code).toBe(0);
  await expect
    .poll(() => after(begin))
    .toEqual(["request.granted human announceConfig", "config.changed human agents.stall"]);
  expect(JSON.stringify((await api(`/v1/events?after=${begin}`)).json)).not.toContain("7m");
  const next = await last();
  writeFileSync(places.config, readFileSync(places.config, "utf8").replace("7m", "8m"));
  await expect.poll(() => after(next)).toEqual(["config.changed unknown agents.stall"]);
  const paused = await last();
  expect((await signalbox(["pause", "--all"])).code).toBe(0);
  expect((await signalbox(["resume", "--all"])).code).toBe(0);
  expect(await after(paused)).toEqual([
    ...["pause.began human", "request.granted human pause", "pause.ended human", "request.granted human resume"],
  ]);
  const { stdout } = await signalbox(["events", "--after", String(paused)]);
  expect(stdout).toMatch(/home {3}request\.granted {4}human {6,}pause: \{"all":true,"now":false\}/);
});

test("after its task is over, a workspace counts as the person's folder again", async () => {
  await signalbox(["task", "cancel", task]);
  await expect.poll(() => JSON.parse(readFileSync(places.agents, "utf8")).folders).not.toContain(workspace);
  expect((await signalbox(["task", "create", "Brew weaker", "--project", "coffee"], { cwd: workspace })).code).toBe(0);
});
