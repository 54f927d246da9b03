import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openApi } from "../../src/api/openapi.ts";
import { routes } from "../../src/api/routes.ts";
import type { EventView } from "../../src/api/tasks.ts";
import { Fault } from "../../src/fault.ts";
import { ask } from "./http.ts";
import { brew, folderBeside, newRepository, removeHomes, type Stage, startStage } from "./stage.ts";

const me = ["-c", "user.name=A", "-c", "user.email=a@b"];
let stage: Stage;
let coffee: string;
let number = 0;
const failing = new Set<string>();

beforeAll(async () => {
  const fails = async ({ action }: { action: string }) => {
    if (failing.has(action)) throw new Fault("broken", `No ${action} today.`);
  };
  const names = ["acquire_workspace", "spawn_agent", "kill_session", "release_workspace", "kill_agent", "notify_agent"];
  stage = await startStage({ workspaces: true, performers: Object.fromEntries(names.map((name) => [name, fails])) });
  coffee = newRepository(stage.home);
  await stage.ask("/v1/projects", { json: { name: "coffee", path: coffee, poolSize: 1_000 } });
});
afterAll(async () => {
  expect([...new Set(stage.asked)].sort()).toEqual(Object.keys(routes).sort());
  expect(stage.complaints).toEqual([]);
  await stage.close();
  removeHomes();
});

const get = (path: string) => stage.ask(path);
const post = (path: string, json: unknown = {}) => stage.ask(path, { json });
const send = (method: string, path: string, json?: unknown) => stage.ask(path, { method, json });

/** Creates a task on its own branch and returns it once it has settled. */
async function create(rest: object = {}) {
  const branch = `b${++number}`;
  const { json } = await post("/v1/tasks", { project: "coffee", workflow: "brew", summary: "Brew", branch, ...rest });
  await stage.settled(json.task.id);
  return (await get(`/v1/tasks/${json.task.id}`)).json.task;
}

function refusal({
  status,
  json,
}: {
  status: number;
  json: { error: { code: string; reasons?: { code: string }[] } };
}) {
  return [status, json.error.code, ...(json.error.reasons ?? []).map(({ code }) => code)];
}

describe("the daemon", () => {
  test("shows its version and its state", async () => {
    const { status, json, headers } = await get("/v1/status");
    expect(status).toBe(200);
    expect(json).toMatchObject({ version: "1.2.3", pid: process.pid, home: stage.home, configProblems: [] });
    expect(json.address).toBe(stage.tcp.address);
    expect(headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
  });

  test("shows that it answers", async () => {
    expect((await get("/v1/health")).json).toEqual({ version: "1.2.3", pid: process.pid });
  });

  test("counts the open tasks, and those that need a person", async () => {
    const { tasks } = (await get("/v1/status")).json;
    const waiting = await create();
    expect((await get("/v1/status")).json.tasks).toEqual({
      open: tasks.open + 1,
      needPerson: tasks.needPerson + 1,
    });
    await post(`/v1/tasks/${waiting.id}/cancel`);
    await stage.settled(waiting.id);
    expect((await get("/v1/status")).json.tasks).toEqual(tasks);
  });

  test("describes itself", async () => {
    expect((await get("/v1/openapi.json")).json).toEqual(JSON.parse(JSON.stringify(openApi("1.2.3"))));
  });

  test("stops on a person's request, after it has answered", async () => {
    expect((await post("/v1/stop")).json).toEqual({});
    expect(stage.stops()).toBe(1);
  });

  test("makes links for browsers, and lists and ends their sessions", async () => {
    const { link } = (await post("/v1/web/links")).json;
    const headers = { origin: `http://${stage.tcp.address}` };
    const json = { secret: link.split("=")[1] };
    const { session } = (await ask(stage.tcp, "/v1/web/sessions", { json, headers })).json;
    expect((await get("/v1/web/sessions")).json).toEqual({ sessions: [{ ...session, isOwn: false }] });
    expect((await send("DELETE", `/v1/web/sessions/${session.id}`)).json).toEqual({ ended: 1 });
    expect((await send("DELETE", "/v1/web/sessions")).json).toEqual({ ended: 0 });
    expect((await send("DELETE", "/v1/web")).json).toEqual({ ended: 0, address: stage.tcp.address });
  });

  test("copies the store into a file that only the user can read", async () => {
    const { path } = (await post("/v1/backup")).json;
    expect(path.startsWith(stage.places.backups)).toBe(true);
    expect(statSync(stage.places.backups).mode & 0o777).toBe(0o700);
    const named = await stage.ask("/v1/backup", {
      json: { path: "here.db" },
      headers: { "signalbox-folder": encodeURIComponent(coffee) },
    });
    expect(named.json).toEqual({ path: join(coffee, "here.db") });
    const copy = new DatabaseSync(named.json.path, { readOnly: true });
    expect(copy.prepare("select name from project").all()).toEqual([{ name: "coffee" }]);
    copy.close();
  });

  test("cannot copy the store into a missing folder", async () => {
    const { status, json } = await post("/v1/backup", { path: join(coffee, "none", "here.db") });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(json.error.message).toBe(`There is no folder ${join(coffee, "none")}.`);
  });

  test("checks for damage, for stuck effects and for moved branches", async () => {
    expect((await get("/v1/check")).json).toEqual({ damage: [], stuck: [], branches: [], unsaved: [] });
    expect((await post("/v1/config", { key: "agents.stall", file: "/config.yml", hash: "0" })).json).toEqual({});
    failing.add("acquire_workspace");
    const { id } = await create({ workflow: "default" });
    await expect.poll(async () => (await get(`/v1/tasks/${id}`)).json.task.held).not.toBeNull();
    const stuck = [{ task: id, action: "acquire_workspace", reason: "No acquire_workspace today." }];
    expect((await get("/v1/check")).json).toEqual({ damage: [], stuck, branches: [], unsaved: [] });
    failing.clear();
    await post(`/v1/tasks/${id}/retry`);
    await expect.poll(async () => (await get("/v1/check")).json.stuck).toEqual([]);
  });
});

describe("projects", () => {
  test("are added, listed, shown, changed and removed", async () => {
    const tea = newRepository(stage.home, "tea");
    mkdirSync(join(tea, "leaves"));
    const added = await post("/v1/projects", { name: "tea", path: join(tea, "leaves"), workflow: "brew", poolSize: 2 });
    expect(added.json).toMatchObject({ name: "tea", path: realpathSync(tea), defaultBranch: "main", poolSize: 2 });
    expect((await get("/v1/projects")).json.projects.map(({ name }: { name: string }) => name)).toEqual([
      "coffee",
      "tea",
    ]);
    const changed = await send("PATCH", "/v1/projects/tea", { poolSize: 7, harness: "codex" });
    expect(changed.json).toEqual({ ...added.json, poolSize: 7, harness: "codex" });
    expect((await get("/v1/projects/tea")).json).toEqual(changed.json);
    expect((await send("DELETE", "/v1/projects/tea")).json).toEqual({ control: "", salvaged: 0, left: [] });
    expect(refusal(await get("/v1/projects/tea"))).toEqual([404, "project.missing"]);
    expect(existsSync(tea)).toBe(true);
  });

  test("are refused without a folder or repository, with an invalid name, and twice", async () => {
    const bare = folderBeside(stage.home, "bare");
    expect(refusal(await post("/v1/projects", { name: "x", path: join(bare, "none") }))).toEqual([
      400,
      "project.invalid",
    ]);
    expect(refusal(await post("/v1/projects", { name: "x", path: bare }))).toEqual([400, "project.invalid"]);
    for (const name of ["", "a b", "../x", "-x", "a#1", "x".repeat(51)])
      expect(refusal(await post("/v1/projects", { name, path: coffee }))).toEqual([400, "project.invalid"]);
    expect(refusal(await post("/v1/projects", { name: "again", path: coffee }))).toEqual([409, "project.exists"]);
    const other = newRepository(stage.home, "other");
    expect(refusal(await post("/v1/projects", { name: "coffee", path: other }))).toEqual([409, "store.exists"]);
  });

  test("show the workflow of their new tasks", async () => {
    expect((await get("/v1/projects/coffee/workflow")).json).toMatchObject({ name: "default", from: "built-in" });
    expect(refusal(await get("/v1/projects/none/workflow"))).toEqual([404, "project.missing"]);
  });

  test("are not changed to invalid values", async () => {
    expect(refusal(await send("PATCH", "/v1/projects/none", { poolSize: 1 }))).toEqual([404, "project.missing"]);
    expect(refusal(await send("PATCH", "/v1/projects/coffee", { poolSize: 0 }))).toEqual([400, "request.invalid"]);
    expect(refusal(await send("PATCH", "/v1/projects/coffee", { path: "/none" }))).toEqual([400, "project.invalid"]);
  });

  test("start from an existing branch, or from the branch of the first commit", async () => {
    const path = newRepository(stage.home, "branchless");
    expect(refusal(await post("/v1/projects", { name: "branchless", path, defaultBranch: "dev" }))).toEqual([
      400,
      "project.invalid",
    ]);
    expect((await post("/v1/projects", { name: "branchless", path, defaultBranch: "main" })).status).toBe(200);
    const change = (defaultBranch: string) => send("PATCH", "/v1/projects/branchless", { defaultBranch });
    expect((await change("dev")).json.error.hint).toBe("Commit something first.");
    const git = (...args: readonly string[]) => execFileSync("git", ["-C", path, ...me, ...args]);
    git("commit", "-q", "--allow-empty", "-m", "first");
    git("update-ref", "refs/remotes/origin/far", "HEAD");
    expect((await change("dev")).json.error.hint).toBe("Its branches are: main");
    expect((await change("far")).json.error.hint).toContain("branch far origin/far");
    git("branch", "dev");
    expect((await change("dev")).json).toMatchObject({ defaultBranch: "dev" });
    await send("DELETE", "/v1/projects/branchless");
  });

  test("are cloned from an address once", async () => {
    const from = newRepository(stage.home, "origin");
    execFileSync("git", ["-C", from, ...me, "commit", "-q", "--allow-empty", "-m", "first"]);
    const url = `file://${from}`;
    const added = await post("/v1/projects", { name: "cloned", url, workspaces: "clone" });
    const folder = join(stage.places.repositories, "cloned");
    expect(added.json).toMatchObject({ path: folder, defaultBranch: "main", workspaces: "clone" });
    expect(execFileSync("git", ["-C", folder, "remote", "get-url", "origin"], { encoding: "utf8" })).toBe(`${url}\n`);
    expect(existsSync(join(folder, ".git", "hooks"))).toBe(false);
    expect(refusal(await post("/v1/projects", { name: "cloned", url }))).toEqual([409, "project.exists"]);
    await send("DELETE", "/v1/projects/cloned");
    expect(existsSync(folder)).toBe(true);
    // An interrupted request finds its clone again; another repository cannot take its place.
    expect(refusal(await post("/v1/projects", { name: "cloned", url: `${url}x` }))).toEqual([409, "git.in-the-way"]);
    expect((await post("/v1/projects", { name: "cloned", url })).status).toBe(200);
    await send("DELETE", "/v1/projects/cloned");
    expect(refusal(await post("/v1/projects", { name: "x", url: "ext::sh -c x" }))).toEqual([
      502,
      "git.remote-refused",
    ]);
    expect(refusal(await post("/v1/projects", { name: "x" }))).toEqual([400, "project.invalid"]);
  });

  test("have their git settings trusted, if these are the ones that were shown", async () => {
    const repository = newRepository(stage.home, "hooked");
    await post("/v1/projects", { name: "hooked", path: repository });
    expect((await get("/v1/projects/hooked/branches")).json).toEqual({ branches: [] });
    const settle = post("/v1/projects/hooked/branches", { branch: "main", decision: "restore" });
    expect(refusal(await settle)).toEqual([400, "project.invalid"]);
    const changes = async () => (await get("/v1/projects/hooked/changes")).json;
    expect((await changes()).changes).toEqual([]);
    writeFileSync(join(repository, ".git", "hooks", "pre-commit"), "#!/bin/sh\n");
    execFileSync("git", ["-C", repository, "config", "core.hooksPath", ".husky"]);
    const shown = await changes();
    expect(shown.changes).toEqual([
      { name: "core.hookspath", change: "added" },
      { name: "hooks/pre-commit", change: "added" },
    ]);
    writeFileSync(join(repository, ".git", "hooks", "pre-commit"), "#!/bin/sh\nrm -rf /\n");
    const { fingerprint } = shown;
    const trust = (body: object) => post("/v1/projects/hooked/trust", body);
    expect(refusal(await trust({ fingerprint }))).toEqual([409, "project.changed"]);
    expect((await trust({ fingerprint: (await changes()).fingerprint })).status).toBe(200);
    expect((await changes()).changes).toEqual([]);
    await send("DELETE", "/v1/projects/hooked");
  });

  test("have a configuration whose commands are trusted with its file", async () => {
    const repository = newRepository(stage.home, "configured");
    await post("/v1/projects", { name: "configured", path: repository });
    const file = join(repository, ".signalbox", "config.yml");
    mkdirSync(dirname(file));
    writeFileSync(file, "setup: [make, setup]\nkeep: [vendor]\n");
    const { json } = await post("/v1/projects/configured/config/trust");
    expect(json).toEqual({ file, hash: expect.stringMatching(/^[0-9a-f]{64}$/), commands: ["setup"], choices: [] });
    expect(readFileSync(stage.places.trusted, "utf8")).toContain(json.hash);
    writeFileSync(file, "setup: make\n");
    expect(refusal(await post("/v1/projects/configured/config/trust"))[1]).toBe("invalid-config");
    await send("DELETE", "/v1/projects/configured");
  });

  test("have a configuration whose choice of a harness and a model has no effect until it is trusted", async () => {
    const repository = newRepository(stage.home, "choosing");
    await post("/v1/projects", { name: "choosing", path: repository });
    const file = join(repository, ".signalbox", "config.yml");
    mkdirSync(dirname(file));
    writeFileSync(file, "harness: scripted\nreview_harness: codex\nmodel: cheap\nworkflow: brew\n");
    const body = { project: "choosing", summary: "Choose", autostart: false };
    const before = (await post("/v1/tasks", { ...body, harness: "scripted" })).json;
    expect(before.task).toMatchObject({ workflow: "brew", reviewHarness: "scripted", model: "" });
    expect(before.warnings).toContainEqual(
      `${file} sets harness, review_harness, model, which has no effect until you trust it: signalbox trust --config --project choosing`,
    );
    const trusted = (await post("/v1/projects/choosing/config/trust")).json;
    expect(trusted).toMatchObject({ commands: [], choices: ["harness", "review_harness", "model"] });
    const after = (await post("/v1/tasks", body)).json;
    expect(after.task).toMatchObject({ harness: "scripted", reviewHarness: "codex", model: "cheap" });
    writeFileSync(file, "model: dear\n");
    expect((await post("/v1/tasks", { ...body, harness: "scripted" })).json.task.model).toBe("");
    for (const task of (await send("GET", "/v1/tasks?project=choosing")).json.tasks)
      await post(`/v1/tasks/${task.id}/move`, { to: "cancelled" });
  });

  test("cannot be removed while they have open tasks", async () => {
    await create();
    expect(refusal(await send("DELETE", "/v1/projects/coffee"))).toEqual([409, "store.in-use"]);
    expect(refusal(await send("DELETE", "/v1/projects/none"))).toEqual([404, "project.missing"]);
  });
});

describe("tasks", () => {
  test("are created from the body, and otherwise from the configuration", async () => {
    const { json } = await post("/v1/tasks", {
      project: "coffee",
      workflow: "brew",
      summary: "  Brew stronger ",
      branch: "stronger",
      context: "Mild is not enough.",
      labels: ["taste", "taste"],
      priority: 5,
      autostart: false,
    });
    expect(json.workflow).toEqual({ from: "user", file: join(stage.places.workflows, "brew.yml") });
    expect(json.task).toMatchObject({
      project: "coffee",
      summary: "Brew stronger",
      branch: "stronger",
      workflow: "brew",
      status: "todo",
      labels: ["taste"],
      priority: 5,
      autostart: false,
      harness: "claude",
      session: "none",
    });
    expect((await get(`/v1/tasks/${json.task.id}/document`)).json.text).toContain("## Context\n\nMild is not enough.");
    const made = await post("/v1/tasks", { project: "coffee" });
    expect(made.json.task).toMatchObject({ workflow: "default", branch: `signalbox/${made.json.task.id}` });
    await post(`/v1/tasks/${made.json.task.id}/cancel`);
  });

  test.each([
    [{ project: "none" }, [404, "project.missing"]],
    [{ workflow: "none" }, [404, "not-found"]],
    [{ branch: "a b" }, [400, "task.invalid"]],
    [{ branch: "-x" }, [400, "task.invalid"]],
    [{ status: "served" }, [409, "refused", "not-allowed"]],
    [{ status: "none" }, [409, "refused", "no-such-state"]],
    [{ preset: "none" }, [409, "refused", "bad-value"]],
    [{ settings: { none: 1 } }, [409, "refused", "bad-value"]],
    [{ dependsOn: ["none"] }, [404, "task.missing"]],
    [{ parent: "none" }, [404, "task.missing"]],
    [{ from: "none" }, [404, "task.missing"]],
  ])("are not created with %j", async (rest, expected) => {
    const before = (await get("/v1/tasks")).json.tasks.length;
    const answer = await post("/v1/tasks", { project: "coffee", workflow: "brew", summary: "Brew", ...rest });
    expect(refusal(answer)).toEqual(expected);
    expect((await get("/v1/tasks")).json.tasks).toHaveLength(before);
  });

  test("do not share a branch while they are open, nor continue an open task", async () => {
    const { id, branch } = await create();
    expect(refusal(await post("/v1/tasks", { project: "coffee", workflow: "brew", branch }))).toEqual([
      409,
      "store.exists",
    ]);
    expect(refusal(await post("/v1/tasks", { project: "coffee", workflow: "brew", from: id }))).toEqual([
      400,
      "task.invalid",
    ]);
  });

  test("continue with the branch and the task file of an ended task", async () => {
    const { id, branch } = await create({ context: "Beans first." });
    await post(`/v1/tasks/${id}/cancel`);
    const next = (await post("/v1/tasks", { project: "coffee", workflow: "brew", from: id })).json.task;
    expect(next).toMatchObject({ branch, summary: "Brew" });
    expect((await get(`/v1/tasks/${next.id}/document`)).json.text).toContain("Beans first.");
  });

  test("of a repository's own workflow need the person's trust for each version of it", async () => {
    const file = join(coffee, ".signalbox", "workflows", "house.yml");
    mkdirSync(join(coffee, ".signalbox", "workflows"), { recursive: true });
    writeFileSync(file, brew.replace("name: brew", "name: house"));
    const body = { project: "coffee", workflow: "house", summary: "Brew" };
    const refused = await post("/v1/tasks", body);
    expect(refusal(refused)).toEqual([403, "workflow.untrusted"]);
    expect(refused.json.error.hint).toContain("signalbox trust house --project coffee");
    const { json } = await post("/v1/trust", { project: "coffee", workflow: "house" });
    expect(json).toEqual({ hash: expect.stringMatching(/^[0-9a-f]{64}$/), file });
    expect((await post("/v1/tasks", body)).status).toBe(200);
    writeFileSync(file, readFileSync(file, "utf8").replace("served", "poured").replace("to: served", "to: poured"));
    expect(refusal(await post("/v1/tasks", body))).toEqual([403, "workflow.untrusted"]);
    writeFileSync(file, "states: 1");
    expect(refusal(await post("/v1/trust", { project: "coffee", workflow: "house" }))).toEqual([
      400,
      "workflow.invalid",
    ]);
    expect(refusal(await post("/v1/trust", { project: "coffee", workflow: "none" }))).toEqual([404, "not-found"]);
    expect(refusal(await post("/v1/trust", { project: "none", workflow: "house" }))).toEqual([404, "project.missing"]);
  });

  test("are found by id, by number and by branch", async () => {
    const task = await create();
    for (const name of [task.id, `coffee#${task.number}`, task.branch])
      expect((await get(`/v1/tasks/${encodeURIComponent(name)}?project=coffee`)).json.task.id).toBe(task.id);
    expect(refusal(await get("/v1/tasks/none"))).toEqual([404, "task.missing"]);
    expect(refusal(await get("/v1/tasks/."))).toEqual([404, "task.missing"]);
    expect(refusal(await get(`/v1/tasks/${task.branch}?project=none`))).toEqual([404, "task.missing"]);
  });

  test("are found by their words, and counted by group", async () => {
    const task = await create({ summary: "Grind the Aeropress beans", labels: ["fine"] });
    const [row] = (await get("/v1/tasks?q=AEROPRESS%20fine&sort=waiting&limit=5")).json.tasks;
    expect(row).toMatchObject({ id: task.id, group: "needs-me", ask: { command: expect.any(String) }, commits: null });
    const before = (await get("/v1/counts")).json;
    expect(before.projects.find(({ project }: { project: string }) => project === "coffee")).toEqual({
      ...(await get("/v1/counts?project=coffee")).json.projects[0],
    });
    expect(before.all["needs-me"]).toBe((await get("/v1/status")).json.tasks.needPerson);
    await post(`/v1/tasks/${task.id}/cancel`);
    await stage.settled(task.id);
    const after = (await get("/v1/counts?project=coffee")).json.all;
    expect(after).toEqual(
      (await get("/v1/counts?project=coffee")).json.projects.map(
        ({ project: _, ...own }: { project: string }) => own,
      )[0],
    );
    expect((await get("/v1/counts")).json.all).toEqual({
      ...before.all,
      "needs-me": before.all["needs-me"] - 1,
      over: before.all.over + 1,
    });
    expect(refusal(await get("/v1/counts?project=none"))).toEqual([404, "project.missing"]);
    expect(refusal(await get("/v1/tasks?group=mine"))).toEqual([400, "request.invalid"]);
    expect(refusal(await get("/v1/tasks?sort=updated&before=7"))).toEqual([400, "request.invalid"]);
  });

  test("are listed the newest first, a page at a time, by project, state and whether they are open", async () => {
    const [first, second] = [await create({ parent: (await create()).id }), await create()];
    const ids = async (query: string) =>
      (await get(`/v1/tasks?${query}`)).json.tasks.map(({ id }: { id: string }) => id);
    expect(await ids("limit=2")).toEqual([second.id, first.id]);
    const { next } = (await get("/v1/tasks?limit=1")).json;
    expect((await ids(`limit=1&before=${next}`))[0]).toBe(first.id);
    expect(await ids(`parent=${first.parent}`)).toEqual([first.id]);
    expect(await ids("project=none")).toEqual([]);
    expect(await ids("status=todo&open=false")).toEqual([]);
    expect((await get("/v1/tasks?limit=1000")).json.next).toBeNull();
    for (const wrong of ["limit=0", "limit=1001", "limit=x", "before=-1", "limit=1.5"])
      expect(refusal(await get(`/v1/tasks?${wrong}`))).toEqual([400, "request.invalid"]);
  });

  test("can be edited, but not their state", async () => {
    const { id } = await create();
    const edit = { summary: "Stronger", labels: ["x"], priority: -3, dependsOn: [(await create()).branch] };
    const { json } = await send("PATCH", `/v1/tasks/${id}`, edit);
    expect(json).toMatchObject({ kind: "stayed", from: "todo", task: { summary: "Stronger", priority: -3 } });
    expect((await send("PATCH", `/v1/tasks/${id}`, edit)).json).toMatchObject({
      kind: "ignored",
      why: expect.any(String),
    });
    expect(refusal(await send("PATCH", `/v1/tasks/${id}`, { status: "served" }))).toEqual([400, "request.invalid"]);
    expect(refusal(await send("PATCH", `/v1/tasks/${id}`, { branch: "a..b" }))).toEqual([409, "refused", "bad-value"]);
    expect(refusal(await send("PATCH", `/v1/tasks/${id}`, { dependsOn: ["none"] }))).toEqual([404, "task.missing"]);
    expect(refusal(await send("PATCH", "/v1/tasks/none", edit))).toEqual([404, "task.missing"]);
  });

  test("are deleted only when they have ended, and leave their history in a private file", async () => {
    const { id } = await create();
    expect(refusal(await send("DELETE", `/v1/tasks/${id}`))).toEqual([409, "task.in-use"]);
    await post(`/v1/tasks/${id}/cancel`);
    await expect.poll(async () => (await get(`/v1/tasks/${id}`)).json.task.phase).toBe("over");
    const { kept } = (await send("DELETE", `/v1/tasks/${id}`)).json;
    expect([dirname(kept), statSync(kept).mode & 0o777]).toEqual([stage.places.trash, 0o600]);
    const lines = readFileSync(kept, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).kind)).toContain("event");
    expect(refusal(await get(`/v1/tasks/${id}`))).toEqual([404, "task.missing"]);
    expect(refusal(await send("DELETE", `/v1/tasks/${id}`))).toEqual([404, "task.missing"]);
  });
});

describe("a request", () => {
  test("for a state moves the task, or says everything that is missing", async () => {
    const { id } = await create();
    expect(refusal(await post(`/v1/tasks/${id}/move`, { to: "served" }))).toEqual([409, "refused", "no-transition"]);
    expect(refusal(await post(`/v1/tasks/${id}/move`, { to: "none" }))).toEqual([409, "refused", "no-such-state"]);
    expect(refusal(await post("/v1/tasks/none/move", { to: "served" }))).toEqual([404, "task.missing"]);
    expect((await post(`/v1/tasks/${id}/continue`)).json).toMatchObject({ kind: "moved", from: "todo" });
    const missing = await post(`/v1/tasks/${id}/move`, { to: "served", document: "## Notes\n\nx\n" });
    expect(refusal(missing)).toEqual([409, "refused", "gate-missing"]);
    expect((await get(`/v1/tasks/${id}/document`)).json.text).not.toContain("## Notes");
    const moved = await post(`/v1/tasks/${id}/move`, { to: "served", document: "## Recipe\n\nBeans, water.\n" });
    expect(moved.json).toMatchObject({ kind: "moved", from: "brewing", task: { status: "served", outcome: "done" } });
    expect(refusal(await post(`/v1/tasks/${id}/move`, { to: "spilled" }))).toEqual([409, "refused", "terminal"]);
    expect(refusal(await post(`/v1/tasks/${id}/continue`))).toEqual([409, "refused", "terminal"]);
  });

  test("to cancel finds the state with that outcome, whatever its name", async () => {
    const { id } = await create();
    expect((await post(`/v1/tasks/${id}/cancel`)).json).toMatchObject({
      task: { status: "spilled", outcome: "cancelled" },
    });
    writeFileSync(join(stage.places.workflows, "endless.yml"), brew.replace(/^ {2}(spilled|- .*spilled).*$\n/gm, ""));
    const endless = await create({ workflow: "endless" });
    expect(refusal(await post(`/v1/tasks/${endless.id}/cancel`))).toEqual([409, "refused", "no-such-state"]);
    expect(refusal(await post("/v1/tasks/none/cancel"))).toEqual([404, "task.missing"]);
  });

  test("to open a pull request checks the caller first, then whether it is possible", async () => {
    const { id } = await create();
    const path = `/v1/tasks/${id}/pull-request`;
    expect(refusal(await stage.ask(path, { token: "", json: {} }))).toEqual([401, "caller.unknown"]);
    expect(refusal(await post(path))).toEqual([409, "forge.unavailable"]);
    await post(`/v1/tasks/${id}/cancel`);
    await stage.settled(id);
    expect(refusal(await post(path))).toEqual([409, "refused", "terminal"]);
    expect((await get(`/v1/tasks/${id}`)).json.pullRequest).toBeNull();
  });

  test("to retry carries out the failed effects again", async () => {
    failing.add("spawn_agent");
    const { id } = await create({ workflow: "default" });
    await expect.poll(async () => (await get(`/v1/tasks/${id}`)).json.task.held?.again).toBe("effects");
    const shown = (await get(`/v1/tasks/${id}`)).json.effects.at(-1);
    expect(shown).toMatchObject({ action: "spawn_agent", state: "failed", failure: "No spawn_agent today." });
    failing.clear();
    expect((await post(`/v1/tasks/${id}/retry`)).json).toMatchObject({ retried: 1, task: { id } });
    await expect.poll(async () => (await get(`/v1/tasks/${id}`)).json.task.phase).toBe("waiting");
    expect((await post(`/v1/tasks/${id}/retry`)).json).toMatchObject({ retried: 0 });
    expect(refusal(await post("/v1/tasks/none/retry"))).toEqual([404, "task.missing"]);
    await post(`/v1/tasks/${id}/cancel`);
  });

  test("for another state drops failed effects, and carries out those of the way", async () => {
    failing.add("acquire_workspace");
    const { id } = await create({ workflow: "default" });
    await expect.poll(async () => (await get(`/v1/tasks/${id}`)).json.task.held?.again).toBe("effects");
    expect((await post(`/v1/tasks/${id}/cancel`)).json.task.status).toBe("cancelled");
    await expect.poll(async () => (await get(`/v1/tasks/${id}`)).json.task.phase).toBe("over");
    failing.clear();
    const effects = (await get(`/v1/tasks/${id}`)).json.effects as { action: string; state: string }[];
    expect(effects.map(({ action, state }) => [action, state])).toEqual([
      ["acquire_workspace", "dropped"],
      ["spawn_agent", "dropped"],
      // A failed start may have left an agent running.
      ["kill_agent", "done"],
      ["kill_session", "done"],
      ["release_workspace", "done"],
    ]);
  });

  test("to explain a task names the commands that continue it", async () => {
    const { id } = await create();
    const { json } = await get(`/v1/tasks/${id}/explain`);
    expect(json.where).toContain("todo");
    expect(json.moves.map(({ to, open }: { to: string; open: boolean }) => [to, open])).toContainEqual([
      "spilled",
      true,
    ]);
    expect(json.moves[0].command).toMatch(/^signalbox task /);
    expect(refusal(await get("/v1/tasks/none/explain"))).toEqual([404, "task.missing"]);
  });

  test("to explain a task without a workspace says so, and how to get more", async () => {
    const place = folderBeside(stage.home, "tiny");
    execFileSync("git", ["init", "-q", "-b", "main", place]);
    await post("/v1/projects", { name: "tiny", path: place, poolSize: 1 });
    writeFileSync(
      join(stage.places.workflows, "kettle.yml"),
      `name: kettle
version: 1
states:
  cold: { waits_for: slot, next: hot }
  hot: { waits_for: human, next: drunk }
  drunk: { terminal: true }
  spilled: { terminal: true, outcome: cancelled }
transitions:
  - { from: any, to: spilled, by: human }
`,
    );
    const first = await create({ project: "tiny", workflow: "kettle" });
    await expect.poll(async () => (await get(`/v1/tasks/${first.id}`)).json.task.status).toBe("hot");
    const second = await create({ project: "tiny", workflow: "kettle" });
    const { blocked, next } = (await get(`/v1/tasks/${second.id}/explain`)).json;
    expect(blocked).toEqual([
      {
        reason:
          "The only slot of tiny is taken by a task that has begun; a task that waits for a person keeps its slot.",
        fix: expect.stringContaining("signalbox project update tiny --pool-size 2"),
      },
    ]);
    expect(next).toEqual([{ what: "Start when a slot is free", at: null }]);
    for (const { id } of [first, second]) await post(`/v1/tasks/${id}/cancel`);
  });

  test("for a person's actions returns a command for each, or the reason why it is not allowed", async () => {
    const { id } = await create();
    const { json } = await get(`/v1/tasks/${id}/actions`);
    const named = (name: string) => json.actions.find((each: { name: string }) => each.name === name);
    expect(named("cancel")).toMatchObject({ key: "x", command: `signalbox task cancel ${id}`, to: "spilled", why: "" });
    expect(named("attach")).toMatchObject({ allowed: false, to: "" });
    expect(named("attach").why).toContain(`signalbox task explain ${id}`);
    expect(refusal(await get("/v1/tasks/none/actions"))).toEqual([404, "task.missing"]);
  });

  test("to migrate shows what another version would change, and migrates on request", async () => {
    const file = join(stage.places.workflows, "moving.yml");
    writeFileSync(file, brew.replace("name: brew", "name: moving"));
    const { id, workflowHash } = await create({ workflow: "moving" });
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("todo", "queued"));
    const shown = (await post(`/v1/tasks/${id}/migrate`)).json;
    expect(shown).toMatchObject({ change: null, plan: { states: { added: ["queued"], removed: ["todo"] } } });
    expect((await get(`/v1/tasks/${id}`)).json.task.workflowHash).toBe(workflowHash);
    expect(refusal(await post(`/v1/tasks/${id}/migrate`, { apply: true }))[0]).toBe(409);
    expect(refusal(await post(`/v1/tasks/${id}/migrate`, { apply: true, to: "none" }))[0]).toBe(409);
    const done = (await post(`/v1/tasks/${id}/migrate`, { apply: true, to: "queued" })).json;
    expect(done.change.task).toMatchObject({ status: "queued" });
    expect(done.change.task.workflowHash).not.toBe(workflowHash);
    expect(refusal(await post(`/v1/tasks/${id}/migrate`, { workflow: "none" }))).toEqual([404, "not-found"]);
  });
});

describe("open questions", () => {
  test.each([
    ["limit=0", [400, "request.invalid"]],
    ["limit=1001", [400, "request.invalid"]],
    ["limit=many", [400, "request.invalid"]],
    ["before=-1", [400, "request.invalid"]],
    ["task=none", [404, "task.missing"]],
    ["colour=red", [400, "request.invalid"]],
  ])("are not listed with %s", async (query, refused) => {
    const answer = await get(`/v1/questions?${query}`);
    expect(refusal(answer).slice(0, 2)).toEqual(refused);
    expect(answer.json.error.message).toMatch(/^\S.* \S.*\.$/);
  });

  test("of an unknown project are none", async () => {
    expect((await get("/v1/questions?project=tea")).json).toEqual({ questions: [], next: null });
  });
});

describe("a person's text", () => {
  test("is written down and ends the wait, and is refused where no task waits", async () => {
    const asking = brew
      .replace("name: brew", "name: asking\nunclear: asked\nprompts: { p: Brew. }\nroles: { cook: {} }")
      .replace("brewing: {", "asked: { waits_for: human, next: brewing }\n  brewing: { respawn_prompt: p,");
    writeFileSync(join(stage.places.workflows, "asking.yml"), asking);
    const { id } = await create({ workflow: "asking", status: "asked" });
    const { questions, next } = (await get("/v1/questions?project=coffee&limit=500")).json;
    const asked = questions.find(({ task }: { task: string }) => task === id);
    expect([asked, next]).toMatchObject([{ kind: "state", text: "The task waits for your answer.", role: "" }, null]);
    const told = await post(`/v1/tasks/${id}/answer`, { text: "Arabica.", question: asked.id });
    expect(told.json).toMatchObject({ section: "Answers", told: null, change: { from: "asked", kind: "moved" } });
    expect(told.json.question).toEqual({ id: asked.id, text: asked.text });
    const late = await post(`/v1/tasks/${id}/answer`, { text: "Robusta.", question: asked.id });
    expect(refusal(late)).toEqual([409, "refused", "answered"]);
    expect((await get(`/v1/tasks/${id}/document`)).json).toMatchObject({
      text: expect.stringMatching(/## Answers\n\n### .* UTC\n\nArabica\.\n$/),
      authors: { Answers: { role: "human" } },
    });
    expect(refusal(await post(`/v1/tasks/${id}/answer`, { text: "More." }))).toEqual([409, "refused", "not-waiting"]);
    expect(refusal(await post(`/v1/tasks/${id}/answer`, { text: "" }))).toEqual([409, "refused", "not-waiting"]);
    expect(refusal(await post(`/v1/tasks/${id}/request-changes`, { text: "No." }))).toEqual([
      ...[409, "refused", "no-transition"],
    ]);
    expect(refusal(await post(`/v1/tasks/${id}/request-changes`, { text: "No.", to: "served" }))).toEqual([
      ...[409, "refused", "no-transition"],
    ]);
    expect(refusal(await post(`/v1/tasks/${id}/approve`))).toEqual([409, "refused", "not-waiting"]);
    expect((await get(`/v1/tasks/${id}/document`)).json.text).not.toMatch(/More|No\./);
  });

  test("is not consent: without a question an answer moves nothing, and the right command is named", async () => {
    const { id } = await create();
    const refused = await post(`/v1/tasks/${id}/answer`, { text: "No! Do not brew it." });
    expect(refusal(refused)).toEqual([409, "refused", "not-waiting"]);
    expect(JSON.stringify(refused.json)).toContain(`signalbox task approve ${id}`);
    expect((await get(`/v1/tasks/${id}`)).json.task.status).toBe("todo");
    expect((await get(`/v1/tasks/${id}/document`)).json.text).not.toContain("Do not brew");
    const { actions } = (await get(`/v1/tasks/${id}/actions`)).json;
    expect(actions.find(({ name }: { name: string }) => name === "answer")).toMatchObject({ allowed: false });
    expect(JSON.stringify((await get(`/v1/tasks/${id}/explain`)).json)).not.toContain("task answer");
  });

  test("is refused from runs", async () => {
    const { id } = await create({ workflow: "default" });
    await expect.poll(async () => (await get(`/v1/tasks/${id}`)).json.task.status).toBe("planning");
    const { token } = (await post(`/v1/tasks/${id}/runs`, { role: "worker" })).json;
    for (const [path, json] of [
      ["answer", { text: "Yes." }],
      ["request-changes", { text: "No." }],
      ["approve", {}],
    ] as const)
      expect((await stage.ask(`/v1/tasks/${id}/${path}`, { json, token })).status).toBe(403);
    await post(`/v1/tasks/${id}/cancel`);
  });
});

describe("a plan", () => {
  test("is shown, and changed while the task waits for a person before its children start", async () => {
    const planning = `name: planning
version: 1
states:
  plan: { agent: { mode: turn, permissions: reduced, prompt: p, result: r }, next: look }
  look: { waits_for: human, next: build }
  build: { fan_out: { from: r.parts, workflow: part }, next: served }
  served: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions: [{ from: any, to: dropped, by: human }]
prompts: { p: Plan. }
schemas: { r: { type: object, properties: { parts: { type: array } } } }
`;
    writeFileSync(join(stage.places.workflows, "planning.yml"), planning);
    const part = brew.replace("to: spilled, by: human", "to: spilled, by: [engine, human]");
    writeFileSync(join(stage.places.workflows, "part.yml"), part);
    const { id } = await create({ workflow: "planning" });
    const empty = { task: id, items: [], fingerprint: "", canChange: false, why: "The task has no plan yet." };
    expect((await get(`/v1/tasks/${id}/plan`)).json).toEqual(empty);
    const cup = { id: "cup", title: "Cup" };
    await stage.core.submit(id, { kind: "ended", run: "worker#1", word: "ok", answer: { parts: [cup] } });
    await stage.settled(id);
    const shown = { ...cup, description: "", needs: [], files: [], size: "M" };
    expect((await get(`/v1/tasks/${id}/plan`)).json).toEqual({
      task: id,
      fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
      items: [shown],
      canChange: true,
      why: "",
    });
    const refused = await send("PUT", `/v1/tasks/${id}/plan`, { items: [{ ...cup, needs: ["lid"] }] });
    expect(refusal(refused)).toEqual([409, "refused", "bad-value"]);
    const items = [
      { ...cup, size: "S" },
      { id: "lid", title: "Lid", needs: ["cup"], files: ["lid.ts"] },
    ];
    expect((await send("PUT", `/v1/tasks/${id}/plan`, { items })).json.items).toMatchObject(items);
    expect((await get(`/v1/tasks/${id}/plan`)).json.items).toMatchObject(items);
    await post(`/v1/tasks/${id}/cancel`);
  });
});

// hand-over.test.ts has the rest.
test("what a run hands over is in the history, and listed", async () => {
  const packing = `name: packing
version: 1
roles: { packer: { mode: turn, permissions: reduced, prompt: p, tools: [work_complete, stage_message] } }
states:
  packing: { agent: { role: packer }, next: served }
  served: { terminal: true }
prompts: { p: Pack. }
`;
  writeFileSync(join(stage.places.workflows, "packing.yml"), packing);
  const { id } = await create({ workflow: "packing" });
  await stage.settled(id);
  const { token } = (await post(`/v1/tasks/${id}/runs`, { role: "packer" })).json;
  const documents = [{ type: "list", title: "Things", text: "A cup." }];
  await stage.ask("/v1/tasks/./complete", { token, json: { summary: "Packed.", documents } });
  await stage.ask("/v1/tasks/./stage-messages", { token, json: { to: "all", message: "Mind the cup." } });
  expect((await get(`/v1/tasks/${id}/handed-over`)).json).toMatchObject({
    ...{ task: id, documents: [{ title: "Things" }], messages: [{ to: "all", priority: "normal" }] },
  });
  // Answers, such as sealed verdicts, and the pull request are for people only.
  expect((await get(`/v1/tasks/${id}/handed-over`)).json).toMatchObject({ answers: [], pullRequest: null });
  const own = await stage.ask(`/v1/tasks/${id}/handed-over`, { token });
  expect(Object.keys(own.json).toSorted()).toEqual(["documents", "messages", "task"]);
  expect((await stage.ask("/v1/tools", { token })).json).toEqual({
    ...{ caller: "run", tools: ["stage_message", "work_complete"] },
  });
  expect((await get("/v1/tools")).json).toMatchObject({ caller: "person" });
  expect((await post("/v1/mcp", { jsonrpc: "2.0", id: 1, method: "ping" })).json).toMatchObject({ result: {} });
  const types = (await get(`/v1/events?task=${id}`)).json.events.map(({ type }: EventView) => type);
  expect(types).toEqual(expect.arrayContaining(["work.completed", "stage.messaged"]));
  await post(`/v1/tasks/${id}/runs/packer%231/end`, { word: "error" });
  expect((await stage.settled(id))?.status).toBe("served");
});

describe("findings of reviews", () => {
  const reviewing = `name: tasting
version: 1
roles:
  critic: { mode: turn, permissions: reduced, prompt: p, result: r }
  cook: { mode: turn, permissions: full, prompt: p }
states:
  tasting:
    agent: { role: critic }
    outcomes: [{ result: { good: true }, then: served }, { result: { good: false }, then: mended }]
  mended: { waits_for: human, agent: { role: cook }, next: served }
  served: { terminal: true }
prompts: { p: Taste. }
schemas: { r: { type: object, properties: { good: { type: boolean }, findings: { type: array } } } }
`;

  test("are listed, decided by a person, and in the history", async () => {
    writeFileSync(join(stage.places.workflows, "tasting.yml"), reviewing);
    const { id } = await create({ workflow: "tasting" });
    const none = { task: id, round: 0, quiet: 0, said: "", findings: [], parts: [] };
    expect((await get(`/v1/tasks/${id}/findings`)).json).toEqual(none);
    const findings = [
      { title: "It is cold", file: "cup.ts", severity: "high" },
      { title: "No lid", file: "cup.ts" },
    ];
    await stage.core.submit(id, { kind: "ended", run: "critic#1", word: "ok", answer: { good: false, findings } });
    await stage.settled(id);
    expect(refusal(await post(`/v1/tasks/${id}/findings`, { findings: ["F1", "F7"], state: "approved" }))).toEqual([
      ...[409, "refused", "bad-value"],
    ]);
    const decided = await post(`/v1/tasks/${id}/findings`, { findings: ["F1"], state: "approved", reason: "Hot!" });
    expect(decided.json).toEqual((await get(`/v1/tasks/${id}/findings`)).json);
    expect(decided.json.findings).toMatchObject([
      { id: "F1", state: "approved", by: "human", note: "Hot!", reason: "" },
      { id: "F2", state: "open", by: "critic" },
    ]);
    const own = { file: "lid.ts", text: "The lid leaks" };
    expect(refusal(await post(`/v1/tasks/${id}/findings/own`, { ...own, file: "/lid.ts" }))).toEqual([
      ...[409, "refused", "bad-value"],
    ]);
    expect((await post(`/v1/tasks/${id}/findings/own`, own)).json.findings.at(-1)).toMatchObject({
      ...{ id: "F3", state: "approved", severity: "medium", by: "human", line: 0, title: "The lid leaks", note: "" },
    });
    const { events } = (await get(`/v1/events?task=${id}`)).json;
    expect(events.map(({ type }: { type: string }) => type)).toEqual(
      expect.arrayContaining(["finding.reviewed", "finding.approved", "finding.added"]),
    );
  });

  test("are not decided by runs", async () => {
    const { id } = await create({ workflow: "default" });
    await expect.poll(async () => (await get(`/v1/tasks/${id}`)).json.task.status).toBe("planning");
    const { token } = (await post(`/v1/tasks/${id}/runs`, { role: "worker" })).json;
    const json = { findings: ["F1"], state: "dismissed" };
    expect((await stage.ask(`/v1/tasks/${id}/findings`, { json, token })).status).toBe(403);
    expect((await stage.ask(`/v1/tasks/${id}/findings`, { token })).status).toBe(200);
    await post(`/v1/tasks/${id}/cancel`);
  });
});

describe("merging", () => {
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", coffee, ...args], { encoding: "utf8" });

  test("merges a branch and moves the task; a caller who may not move it may not merge it either", async () => {
    git("commit", "-q", "--allow-empty", "-m", "first");
    const brewing = async () => {
      const task = await create();
      await post(`/v1/tasks/${task.id}/continue`);
      git("branch", task.branch);
      return task;
    };
    const early = await create();
    const nothing = { target: "main", commit: "", committed: { files: [], text: "" }, uncommitted: null };
    expect((await get(`/v1/tasks/${early.id}/diff`)).json).toMatchObject(nothing);
    expect(refusal(await post(`/v1/tasks/${early.id}/fetch`))).toEqual([400, "task.invalid"]);
    expect(refusal(await post(`/v1/tasks/${early.id}/merge`))).toEqual([409, "refused", "no-transition"]);
    const task = await brewing();
    expect(refusal(await post(`/v1/tasks/${task.id}/merge`))).toEqual([409, "refused", "gate-missing"]);
    await send("PUT", `/v1/tasks/${task.id}/document`, { text: "## Recipe\nBeans.\n" });
    git("checkout", "-q", task.branch);
    git("commit", "-q", "--allow-empty", "-m", "brewed");
    git("checkout", "-q", "main");
    const rehearsed = await post(`/v1/tasks/${task.id}/merge`, { dryRun: true });
    expect(rehearsed.json).toMatchObject({ state: "merged", commits: 1, dryRun: true, task: { status: "brewing" } });
    expect(refusal(await post(`/v1/tasks/${task.id}/sync`))).toEqual([409, "sync.no-workspace"]);
    const { json } = await post(`/v1/tasks/${task.id}/merge`);
    expect(json).toMatchObject({ state: "merged", target: "main", dryRun: false, task: { status: "served" } });
    expect(git("rev-parse", "main").trim()).toBe(json.after);
    expect(refusal(await post(`/v1/tasks/${task.id}/merge/cancel`))).toEqual([409, "merge.nothing"]);
    expect((await post(`/v1/tasks/${task.id}/merge/undo`)).json).toMatchObject({ state: "undone" });
    expect(refusal(await post(`/v1/tasks/${task.id}/merge/undo`))).toEqual([409, "merge.nothing"]);
  });
});

describe("views for dashboards", () => {
  test("answer for a fresh task; test/api/task-views.test.ts says what", async () => {
    const { id, revision } = await create();
    expect((await send("PUT", `/v1/tasks/${id}/seen`, { revision })).json).toMatchObject({ task: id });
    expect((await get(`/v1/tasks/${id}/graph`)).json).toMatchObject({ status: "todo" });
    expect((await get(`/v1/tasks/${id}/conversations`)).json).toEqual({ task: id, said: [], next: null });
    expect(refusal(await get(`/v1/tasks/${id}/artifacts/${"0".repeat(64)}`))).toEqual([404, "artifact.missing"]);
    expect((await get("/v1/workflows")).json.workflows).toContainEqual(expect.objectContaining({ name: "brew" }));
    expect((await get("/v1/workflows/brew")).json).toMatchObject({ name: "brew", from: "user" });
    expect((await get("/v1/merges?project=coffee")).json.queues).toEqual([]);
    expect((await get("/v1/doctor")).json.checks).not.toEqual([]);
    const timeline = (await get("/v1/timeline?project=coffee")).json.tasks;
    expect(timeline).toContainEqual(expect.objectContaining({ id, status: "todo" }));
    expect((await get("/v1/config")).json.settings).toContainEqual(expect.objectContaining({ key: "harness" }));
  });
});

describe("task files", () => {
  test("are shown with their authors, and a person can replace them as a whole", async () => {
    const { id } = await create({ context: "Mild." });
    const { json } = await send("PUT", `/v1/tasks/${id}/document`, { text: "Hello\n\n## Recipe\n\nBeans.\n" });
    expect(json).toEqual({ changed: ["Recipe", "Context"], ignored: [] });
    const shown = (await get(`/v1/tasks/${id}/document`)).json;
    expect(shown.text).toMatch(/^---\n[\s\S]*status: todo[\s\S]*\n---\n\n?Hello\n\n## Recipe\n\nBeans\.\n$/);
    expect(shown.authors).toEqual({ Recipe: { role: "human", run: "", commit: "" } });
    await send("PUT", `/v1/tasks/${id}/document`, { text: shown.text.replace("status: todo", "status: served") });
    const { task } = (await get(`/v1/tasks/${id}`)).json;
    expect(task.status).toBe("todo");
    const changed = (await post(`/v1/tasks/${id}/continue`)).json.task.updatedAt;
    expect((await get(`/v1/tasks/${id}/document`)).json.text).toContain(`updated_at: "${changed}"`);
    expect(refusal(await get("/v1/tasks/none/document"))).toEqual([404, "task.missing"]);
    expect(refusal(await send("PUT", "/v1/tasks/none/document", { text: "" }))).toEqual([404, "task.missing"]);
  });
});

describe("runs", () => {
  test("of the task get a credential, and end", async () => {
    const { id } = await create({ workflow: "default" });
    await expect.poll(async () => (await get(`/v1/tasks/${id}`)).json.task.phase).toBe("waiting");
    expect(refusal(await post(`/v1/tasks/${id}/runs`, { role: "reviewer" }))).toEqual([409, "refused", "run-over"]);
    const nowhere = await post(`/v1/tasks/${id}/runs`, { role: "worker", folder: join(coffee, "none") });
    expect(refusal(nowhere)).toEqual([400, "run.invalid"]);
    const { json } = await post(`/v1/tasks/${id}/runs`, {
      role: "worker",
      folder: folderBeside(stage.home, "ws"),
      pid: 4242,
    });
    expect(json).toEqual({
      run: "worker#1",
      role: "worker",
      token: expect.stringMatching(/^sbr_[0-9a-f]{48}$/),
      expiresAt: expect.stringMatching(/Z$/),
    });
    const published = JSON.parse(readFileSync(stage.places.agents, "utf8"));
    expect(published).toEqual({ folders: [folderBeside(stage.home, "ws")], pids: [4242] });
    expect(readFileSync(stage.places.database).includes(json.token.slice(4))).toBe(false);
    const end = `/v1/tasks/${id}/runs/${encodeURIComponent("worker#1")}/end`;
    expect(refusal(await post(end, { word: "bored" }))).toEqual([400, "request.invalid"]);
    expect((await post(end, { word: "exit" })).json).toMatchObject({ kind: "stayed" });
    expect((await post(end, { word: "exit" })).json).toMatchObject({ kind: "ignored" });
    expect(refusal(await post("/v1/tasks/none/runs", { role: "worker" }))).toEqual([404, "task.missing"]);
    await post(`/v1/tasks/${id}/cancel`);
  });
});

describe("history", () => {
  test("is listed after a position, for all tasks, for a task, and for an agent", async () => {
    const { id } = await create();
    await send("PATCH", `/v1/tasks/${id}`, { summary: "Else" });
    const types = async (query: string) =>
      (await get(`/v1/events?${query}`)).json.events.map(({ type }: { type: string }) => type);
    expect(await types(`task=${id}`)).toEqual(["task.created", "task.settled", "task.edited"]);
    expect(await types(`task=${id}&agent=human`)).toEqual(["task.created", "task.edited"]);
    expect(await types(`task=${id}&agent=worker`)).toEqual([]);
    const { events, last } = (await get(`/v1/events?task=${id}&limit=1`)).json;
    expect(events[0]).toMatchObject({ position: last, task: id, project: "coffee", revision: 1, by: "human" });
    expect(await types(`task=${id}&after=${last}`)).toEqual(["task.settled", "task.edited"]);
    expect(await types(`task=${id}&after=${last}&limit=1`)).toEqual(["task.settled"]);
    expect((await get("/v1/events?project=none")).json.events).toEqual([]);
    expect(refusal(await get("/v1/events?task=none"))).toEqual([404, "task.missing"]);
    for (const wrong of ["after=x", "limit=0", "limit=5001"])
      expect(refusal(await get(`/v1/events?${wrong}`))).toEqual([400, "request.invalid"]);
    expect(refusal(await get("/v1/stream?task=none"))).toEqual([404, "task.missing"]);
    expect(refusal(await get("/v1/stream?after=x"))).toEqual([400, "request.invalid"]);
  });

  test("of a task is exported whole, one object per line", async () => {
    const { id } = await create({ context: "Mild." });
    const { text, headers } = await get(`/v1/tasks/${id}/export`);
    expect(headers["content-type"]).toBe("application/jsonl");
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ kind }) => kind)).toEqual(["task", "document", "event", "event"]);
    expect(lines[0].task.id).toBe(id);
    expect(refusal(await get("/v1/tasks/none/export"))).toEqual([404, "task.missing"]);
  });
});

describe("workspaces and salvage", () => {
  test("are empty at first, and reading them creates nothing", async () => {
    const before = readdirSync(stage.places.control);
    expect((await get("/v1/workspaces?project=coffee")).json).toEqual({
      workspaces: [],
      size: 0,
      trash: { folders: 0, size: 0 },
    });
    expect((await post("/v1/workspaces/gc", { dryRun: true })).json).toEqual({ done: [] });
    expect((await get("/v1/salvage")).json).toEqual({ salvaged: [], unreadable: [] });
    expect(refusal(await post("/v1/salvage/restore", { ref: "x/y", folder: "/z" }))).toEqual([404, "salvage.missing"]);
    expect(refusal(await post("/v1/salvage/drop", { ref: "x/y" }))).toEqual([404, "salvage.missing"]);
    expect(refusal(await get("/v1/workspaces?project=none"))).toEqual([404, "project.missing"]);
    expect(readdirSync(stage.places.control)).toEqual(before);
  });
});

describe("agents", () => {
  test("are unavailable in a daemon that starts none, and the answer says so", async () => {
    const { id } = await create();
    const answers = await Promise.all([
      get("/v1/runs"),
      get("/v1/harnesses"),
      get("/v1/projects/coffee/permissions"),
      get("/v1/usage"),
      get(`/v1/tasks/${id}/screen`),
      post(`/v1/tasks/${id}/attach`),
      post(`/v1/tasks/${id}/messages`, { text: "Hello" }),
      post(`/v1/tasks/${id}/runs/worker%231/kill`),
      post("/v1/pause", { all: true }),
      post("/v1/resume", { all: true }),
      post("/v1/agents", { project: "coffee" }),
      post("/v1/agents/cleanup"),
    ]);
    for (const answer of answers) expect(refusal(answer)).toEqual([503, "agents.unavailable"]);
    expect(refusal(await get(`/v1/tasks/${id}/terminal`))).toEqual([426, "request.upgrade"]);
    expect((await get("/v1/agents")).json).toEqual({ agents: [] });
    expect(refusal(await post("/v1/agents/A/assign", { project: "coffee", task: id }))).toEqual([404, "agent.missing"]);
    expect(refusal(await post("/v1/agents/A/clear", { project: "coffee" }))).toEqual([404, "agent.missing"]);
    expect((await get(`/v1/tasks/${id}/messages`)).json).toEqual({ messages: [] });
  });

  test("are started by spawning, respawning and replying, as the workflow defines it", async () => {
    const { id } = await create();
    expect((await post(`/v1/tasks/${id}/spawn`)).json.task.status).toBe("brewing");
    expect(refusal(await post(`/v1/tasks/${id}/spawn`))).toEqual([409, "refused", "not-waiting"]);
    expect(refusal(await post(`/v1/tasks/${id}/respawn`))).toEqual([409, "refused", "no-respawn"]);
    expect(refusal(await post(`/v1/tasks/${id}/reply`, { text: "Stronger" }))).toEqual([409, "refused", "not-waiting"]);
  });

  test("hand nothing over without runs, and people have no tools of runs", async () => {
    const { id } = await create();
    expect((await get(`/v1/tasks/${id}/handed-over`)).json).toEqual({
      ...{ task: id, documents: [], messages: [], answers: [], pullRequest: null },
    });
    expect((await get("/v1/tools")).json.caller).toBe("person");
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await post("/v1/mcp", ping)).json).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    const answers = await Promise.all([
      post(`/v1/tasks/${id}/complete`, { summary: "Brewed" }),
      post(`/v1/tasks/${id}/stage-messages`, { to: "all", message: "Mild" }),
    ]);
    for (const answer of answers) expect(refusal(answer)).toEqual([409, "refused", "not-allowed"]);
  });

  test("and people can add comments to the history, and nothing else changes", async () => {
    const { id, revision } = await create();
    expect((await post(`/v1/tasks/${id}/comments`, { text: " Mild, please. " })).json).toMatchObject({ task: id });
    expect(refusal(await post(`/v1/tasks/${id}/comments`, { text: " " }))).toEqual([409, "refused", "bad-value"]);
    expect(refusal(await stage.ask(`/v1/tasks/${id}/comments`, { json: { text: "Me too" }, token: "" }))).toEqual([
      401,
      "caller.unknown",
    ]);
    const { events } = (await get(`/v1/events?task=${id}`)).json;
    expect(events.at(-2)).toMatchObject({ type: "task.commented", by: "human", data: { text: "Mild, please." } });
    expect((await get(`/v1/tasks/${id}`)).json.task).toMatchObject({ revision, status: "todo" });
  });
});

describe("tickets", () => {
  const file = (id: string) => join(coffee, ".tickets", `${id}.md`);
  const write = (id: string, fields: string, body = "") => {
    mkdirSync(dirname(file(id)), { recursive: true });
    writeFileSync(file(id), `---\nid: ${id}\n${fields}\n---\n${body}`);
  };
  const tickets = async () => (await get("/v1/projects/coffee/tickets")).json;

  test("are listed with their dependencies and tasks, the most urgent first, and broken files by name", async () => {
    expect(await tickets()).toEqual({ tickets: [], broken: [], place: "file" });
    write("c-1", "status: open\npriority: 1", "# Grind\n\nFine.\n");
    write("c-2", "status: open\npriority: 0\ndeps: [c-1]", "# Brew\n");
    write("c-3", "status: closed\npriority: 0", "# Buy\n");
    writeFileSync(file("c-4"), "# Nothing");
    const { tickets: found, broken } = await tickets();
    expect(found).toMatchObject([
      { id: "c-2", isReady: false, blockers: ["c-1"], task: "", isTaken: false },
      { id: "c-1", isReady: true, blockers: [], title: "Grind" },
      { id: "c-3", isReady: false },
    ]);
    expect(broken).toMatchObject([{ file: "c-4.md" }]);
    expect((await get("/v1/projects/coffee/tickets/1")).json).toMatchObject({ id: "c-1", body: "# Grind\n\nFine.\n" });
    expect(refusal(await get("/v1/projects/coffee/tickets/c-"))).toEqual([409, "ticket.ambiguous"]);
    expect(refusal(await get("/v1/projects/coffee/tickets/c-4"))).toEqual([409, "ticket.broken"]);
    expect(refusal(await get("/v1/projects/coffee/tickets/tea"))).toEqual([404, "ticket.missing"]);
    expect(refusal(await get("/v1/projects/none/tickets"))).toEqual([404, "project.missing"]);
  });

  test("become tasks with their title, text and priority, one at a time", async () => {
    const wanted = { project: "coffee", workflow: "brew", ticket: "c-1" };
    const both = await Promise.all([post("/v1/tasks", wanted), post("/v1/tasks", wanted)]);
    const [made] = both.filter(({ status }) => status === 200);
    const refused = both.filter(({ status }) => status !== 200);
    expect(refused.map(refusal)).toEqual([[409, "refused", "not-waiting"]]);
    const { task } = made?.json ?? {};
    expect(task).toMatchObject({ ticket: "c-1", summary: "Grind", priority: 1 });
    expect((await get(`/v1/tasks/${task.id}/document`)).json.text).toContain("Fine.");
    const named = `coffee#${task.number}`;
    expect((await get("/v1/projects/coffee/tickets/c-1")).json).toMatchObject({ task: named, isTaken: true });
    expect(readFileSync(file("c-1"), "utf8")).toContain("status: open");
    // The work is not merged yet.
    const closing = await send("PATCH", "/v1/projects/coffee/tickets/c-1", { status: "closed" });
    expect(refusal(closing)).toEqual([409, "refused", "not-waiting"]);

    await stage.settled(task.id);
    await post(`/v1/tasks/${task.id}/cancel`);
    await stage.settled(task.id);
    expect((await get("/v1/projects/coffee/tickets/c-1")).json).toMatchObject({ task: named, isTaken: false });
    const again = await post("/v1/tasks", { ...wanted, summary: "Grind finer", priority: 7 });
    expect(again.json.task).toMatchObject({ ticket: "c-1", summary: "Grind finer", priority: 7 });
    await stage.settled(again.json.task.id);
    await post(`/v1/tasks/${again.json.task.id}/cancel`);
    await stage.settled(again.json.task.id);
  });

  test("do not become tasks while they wait, or if they are closed, broken or missing", async () => {
    const make = (ticket: string) => post("/v1/tasks", { project: "coffee", workflow: "brew", ticket });
    // An unknown status: its meaning is not guessed.
    write("c-tested", "status: needs_testing");
    const unknown = await make("c-tested");
    rmSync(file("c-tested"));
    expect(refusal(unknown)).toEqual([409, "refused", "not-waiting"]);
    expect(unknown.json.error.reasons[0].text).toContain('"needs_testing"');
    expect(refusal(await make("c-2"))).toEqual([409, "refused", "not-waiting"]);
    expect(refusal(await make("c-3"))).toEqual([409, "refused", "not-waiting"]);
    expect(refusal(await make("c-4"))).toEqual([409, "ticket.broken"]);
    expect(refusal(await make("tea"))).toEqual([404, "ticket.missing"]);
    expect(refusal(await make(""))).toEqual([404, "ticket.missing"]);
  });

  test("can be changed by people, and the rest of the file stays", async () => {
    const change = (body: object, token?: string) =>
      stage.ask("/v1/projects/coffee/tickets/c-1", {
        method: "PATCH",
        json: body,
        ...(token === undefined ? {} : { token }),
      });
    const before = readFileSync(file("c-1"), "utf8");
    expect((await change({ status: "closed" })).json).toMatchObject({ id: "c-1", status: "closed", isReady: false });
    expect(readFileSync(file("c-1"), "utf8")).toBe(before.replace("open", "closed"));
    expect((await get("/v1/projects/coffee/tickets/c-2")).json).toMatchObject({ isReady: true });
    await change({ status: "open", note: "Not fine enough." });
    expect(readFileSync(file("c-1"), "utf8")).toMatch(/^---\nid: c-1\nstatus: open\n[\s\S]*\n\nNot fine enough\.\n$/);
    expect(refusal(await change({}))).toEqual([400, "usage"]);
    expect(refusal(await change({ status: "done" }))).toEqual([400, "request.invalid"]);
    expect(refusal(await change({ status: "closed" }, ""))).toEqual([401, "caller.unknown"]);
  });
});

describe("a crew", () => {
  const crew = async () => (await get("/v1/projects/tea/crew")).json;
  const slots = async () =>
    (await crew()).agents.map(({ name, ticket, state }: { name: string; ticket: string; state: string }) =>
      [name, ticket, state].join(" ").trim(),
    );
  let tea: string;
  const write = (id: string, fields: string) => {
    mkdirSync(join(tea, ".tickets"), { recursive: true });
    writeFileSync(join(tea, ".tickets", `${id}.md`), `---\nid: ${id}\n${fields}\n---\n# Steep ${id}\n`);
  };
  const spawn = (name: string, at: number) =>
    stage.core.store.agents.put({
      ...{ id: `tea/${name}`, project: "tea", task: "", at, role: "worker", harness: "claude", model: "" },
      ...{ state: "idle", reason: "" },
    });
  /** Polls: there is no signal when the runner has checked. */
  const until = async (isSo: () => Promise<boolean>) => {
    for (let i = 0; i < 2_000 && !(await isSo()); i++) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await isSo()).toBe(true);
  };
  const cancel = async (ticket: string) => {
    const { task } = (await get(`/v1/projects/tea/tickets/${ticket}`)).json;
    await stage.settled((await get(`/v1/tasks/${encodeURIComponent(task)}`)).json.task.id);
    expect((await post(`/v1/tasks/${encodeURIComponent(task)}/cancel`)).status).toBe(200);
  };

  beforeAll(async () => {
    tea = folderBeside(stage.home, "teahouse");
    execFileSync("git", ["init", "-q", "-b", "main", tea]);
    execFileSync("git", ["-C", tea, ...me, "commit", "-q", "--allow-empty", "-m", "first"]);
    await post("/v1/projects", { name: "tea", path: tea, poolSize: 10 });
    writeFileSync(
      join(stage.places.workflows, "cooling.yml"),
      `name: cooling
version: 1
states:
  hot: { waits_for: human, next: cooling }
  cooling: { waits_for: 1h, next: cold }
  cold: { terminal: true }
  spilled: { terminal: true, outcome: cancelled }
transitions:
  - { from: cooling, to: hot, by: human }
  - { from: any, to: spilled, by: human }
`,
    );
  });

  test("gets no tickets before it is run, and problems are reported immediately", async () => {
    write("c-1", "status: open\npriority: 1");
    write("c-2", "status: open\npriority: 0");
    write("c-3", "status: open\ndeps: [c-1]");
    write("c-4", "status: in_progress\npriority: 0");
    await spawn("A", 1);
    expect(await crew()).toMatchObject({ running: false, waiting: ["c-2", "c-1"], problems: [], poolSize: 10 });
    expect(await slots()).toEqual(["A  idle"]);
    expect(refusal(await post("/v1/projects/tea/crew/run", { workflow: "none" }))[0]).toBe(404);
    expect(refusal(await post("/v1/projects/none/crew/run"))).toEqual([404, "project.missing"]);
    expect((await crew()).running).toBe(false);
    expect(await stage.core.store.listTasks({ project: "tea" }, { limit: 9 })).toEqual([]);
  });

  test("accepts a ticket from a person for an idle agent, and for no other", async () => {
    const give = (agent: string, ticket: string) =>
      post(`/v1/projects/tea/crew/${agent}/assign`, { ticket, workflow: "cooling" });
    expect(refusal(await give("Z", "c-2"))).toEqual([404, "agent.missing"]);
    expect(refusal(await give("A", "tea"))).toEqual([404, "ticket.missing"]);
    expect(refusal(await give("A", "c-3"))).toEqual([409, "refused", "not-waiting"]);
    const [one, two] = await Promise.all([give("A", "c-2"), give("A", "c-1")]);
    expect([one.status, two.status].toSorted()).toEqual([200, 409]);
    const given = one.status === 200 ? "c-2" : "c-1";
    expect(await slots()).toEqual([`A ${given} ready`]);
    const { task } = (one.status === 200 ? one : two).json;
    expect(task).toMatchObject({ ticket: given, branch: `agent/A-${given}`, harness: "claude", workflow: "cooling" });

    const kill = () => post("/v1/projects/tea/crew/A/kill");
    expect(refusal(await kill())).toEqual([409, "refused", "not-waiting"]);
    await stage.settled(task.id);
    await post(`/v1/tasks/${task.id}/continue`);
    await stage.settled(task.id);
    expect(await slots()).toEqual([`A ${given} stuck`]);
    expect((await kill()).json).toMatchObject({ kind: "moved", task: { status: "hot" } });
    await cancel(given);
    await until(async () => (await slots())[0] === "A  idle");
    expect((await crew()).leftOver).toEqual([given]);
    // The same if the ended task has left its ticket in progress.
    const file = join(tea, ".tickets", `${given}.md`);
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace("status: open", "status: in_progress"));
    expect((await crew()).leftOver).toEqual([given]);
    writeFileSync(file, text);
  });

  test("runs: every idle agent gets the most urgent unassigned ticket, up to the limit", async () => {
    await spawn("B", 2);
    await spawn("C", 3);
    for (const id of ["c-5", "c-6", "c-7"]) write(id, "status: open");
    const left = (await crew()).waiting;
    expect(left).toHaveLength(4);
    expect((await post("/v1/projects/tea/crew/run", { most: 2, workflow: "brew" })).json).toMatchObject({
      running: true,
    });
    await until(async () => (await crew()).waiting.length === 2);
    expect(await slots()).toEqual([`A ${left[0]} ready`, `B ${left[1]} ready`, "C  idle"]);
    // One has ended: its agent continues with the next, and no agent gets a ticket that was assigned before.
    await cancel(left[0]);
    await until(async () => (await crew()).waiting.length === 1);
    expect(await slots()).toEqual([`A ${left[2]} ready`, `B ${left[1]} ready`, "C  idle"]);
    await post("/v1/projects/tea/crew/run", { most: 9, workflow: "brew" });
    await until(async () => (await crew()).waiting.length === 0);
    expect(await slots()).toEqual([`A ${left[2]} ready`, `B ${left[1]} ready`, `C ${left[3]} ready`]);
    const tasks = await stage.core.store.listTasks({ project: "tea" }, { limit: 99 });
    expect(new Set(tasks.map(({ task }) => task.ticket)).size).toBe(tasks.length);
  });

  test("reports a ticket that cannot be given out, and gives out the others", async () => {
    for (const name of ["A", "B", "C"])
      await post("/v1/tasks", { project: "tea", workflow: "brew", branch: `agent/${name}-c-8` });
    write("c-8", "status: open\npriority: 0");
    write("c-9", "status: open");
    await cancel("c-7");
    await until(async () => !(await crew()).waiting.includes("c-9"));
    expect((await crew()).problems).toMatchObject([
      { ticket: "c-8", problem: expect.stringContaining("has the branch") },
    ]);
    expect((await crew()).waiting).toEqual(["c-8"]);
  });

  test("reports tickets that can never be given out: unreadable ones, or with a missing dependency", async () => {
    write("c-vain", "status: open\ndeps: [gone]");
    writeFileSync(join(tea, ".tickets", "c-broken.md"), "# Nothing");
    expect(await crew()).toMatchObject({
      unread: ["c-broken.md"],
      troubles: ["c-vain waits for gone, and there is no such ticket."],
    });
    for (const id of ["c-vain", "c-broken"]) rmSync(join(tea, ".tickets", `${id}.md`));
    expect(await crew()).toMatchObject({ unread: [], troubles: [] });
  });

  test("after a crash keeps a created task with its agent, and gives out a ticket without a task again", async () => {
    const { store } = stage.core;
    const tasks = await store.listTasks({ project: "tea", isOpen: true }, { limit: 99 });
    const made = tasks.find(({ task }) => task.ticket === "c-9")?.task;
    const [owner] = await store.agents.list({ task: made?.id ?? "" });
    if (owner === undefined) throw new Error("No agent has the ticket.");
    await store.agents.put({ ...owner, task: "", had: [], taking: "c-9" });
    await store.agents.put({ ...owner, id: "tea/D", at: 4, task: "", had: [], taking: "c-0" });
    await store.agents.put({ ...owner, id: "tea/E", at: 5, task: "", had: [], taking: "c-9" });
    await stage.core.crew.recover();
    expect(await store.agents.get(owner.id)).toMatchObject({ task: made?.id, had: [made?.id], taking: "" });
    for (const id of ["tea/D", "tea/E"]) {
      expect(await store.agents.get(id)).toMatchObject({ task: "", taking: "" });
      await store.agents.remove(id);
    }
  });

  test("stops: running tasks continue, and no more tickets are given out", async () => {
    expect((await post("/v1/projects/tea/crew/stop")).json).toMatchObject({ running: false, problems: [] });
    write("c-10", "status: open");
    await cancel("c-9");
    await until(async () => (await slots()).includes("A  idle") || (await slots()).includes("C  idle"));
    expect((await crew()).waiting).toContain("c-10");
    expect(JSON.parse(readFileSync(join(stage.places.run, "crew.json"), "utf8"))).toEqual({});
  });
});
