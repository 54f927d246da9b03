import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
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
  ["task", "cancel", task],
];
const inShell = (args: readonly string[]) => `"${process.execPath}" "${cliFile}" ${args.join(" ")}`;

/** Expects that each command is refused, changes nothing, and is recorded without a caller. */
async function refusedAll(attempt: (args: readonly string[]) => Promise<Ran>) {
  for (const args of moves()) {
    const before = (await rejections()).length;
    const { code, stdout, stderr } = await attempt(args);
    expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: "" });
    expect(stderr).toMatch(/^error: This needs a credential\. No credential was sent\.\n/);
    expect(await status()).toBe("brewing");
    const added = (await rejections()).slice(before);
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
    await refusedAll((args) => signalbox(args, { env: { SIGNALBOX_RUN: "worker#1" } }));
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

  test("for requests that only a person may make, and nothing happens", async () => {
    for (const args of [
      ["task", "create", "Brew weaker"],
      ["task", "retry", task],
      ["project", "remove", "coffee", "--yes"],
      ["down"],
    ]) {
      const { code, stderr } = await signalbox(args, { cwd: workspace });
      expect([args, code, stderr]).toEqual([args, 1, expect.stringContaining("This needs a credential.")]);
    }
    expect((await api("/v1/status")).status).toBe(200);
    expect((await api("/v1/projects")).json.projects).toHaveLength(1);
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

test("every caller may read, in a workspace as elsewhere", async () => {
  const { code, stdout } = await signalbox(["task", "show", ".", "--json"], { cwd: join(workspace, "src") });
  expect([code, JSON.parse(stdout).task.id]).toEqual([0, task]);
});

test("from the repository the same commands come from the person, and move the task", async () => {
  const [fast = [], ordinary = [], cancel = []] = moves();
  expect(await signalbox(fast)).toMatchObject({ code: 0, stdout: expect.stringContaining("brewing → tasting") });
  await signalbox(["task", "continue", task]);
  expect(await signalbox(ordinary)).toMatchObject({ code: 0 });
  expect(await status()).toBe("tasting");
  expect(await signalbox(cancel)).toMatchObject({ code: 0 });
  expect(await status()).toBe("spilled");
});

test("after its task is over, a workspace counts as the person's folder again", async () => {
  await signalbox(["task", "cancel", task]);
  await expect.poll(() => JSON.parse(readFileSync(places.agents, "utf8")).folders).not.toContain(workspace);
  expect((await signalbox(["task", "create", "Brew weaker", "--project", "coffee"], { cwd: workspace })).code).toBe(0);
});
