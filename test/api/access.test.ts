import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Route } from "../../src/api/client.ts";
import { routes } from "../../src/api/routes.ts";
import type { EventView } from "../../src/api/tasks.ts";
import { newRepository, removeHomes, type Stage, startStage } from "./stage.ts";

let stage: Stage;
/** Two tasks with a live run each, and a task whose run has ended. */
const ids: Record<"own" | "other" | "ended", string> = { own: "", other: "", ended: "" };
const tokens: Record<"own" | "other" | "ended", string> = { own: "", other: "", ended: "" };

beforeAll(async () => {
  stage = await startStage();
  await stage.ask("/v1/projects", { json: { name: "coffee", path: newRepository(stage.home), poolSize: 19 } });
  for (const name of ["own", "other", "ended"] as const) {
    const { id, token } = await begin(name);
    ids[name] = id;
    tokens[name] = token;
  }
  await stage.ask(`/v1/tasks/${ids.ended}/runs/${encodeURIComponent("worker#1")}/end`, { json: { word: "exit" } });
});
afterAll(async () => {
  await stage.close();
  removeHomes();
});

/** Creates a task with a live worker. */
async function begin(branch: string): Promise<{ readonly id: string; readonly token: string }> {
  const json = { project: "coffee", workflow: "default", summary: "Brew", branch };
  const { id } = (await stage.ask("/v1/tasks", { json })).json.task;
  await vi.waitFor(async () => expect((await stage.core.store.getTask(id))?.task.runs.worker?.key).toBe("worker#1"));
  const { token } = (await stage.ask(`/v1/tasks/${id}/runs`, { json: { role: "worker" } })).json;
  return { id, token };
}

/** What a run may ask for: reading its own task, its document, its moves, its branch and summary, and comments. */
const forRuns = [
  ...["openapi", "getTask", "explainTask", "getDocument", "diffTask", "listEvents", "listFindings"],
  "getArtifact",
  ...["editTask", "moveTask", "putDocument", "commentTask"],
  ...["completeWork", "sendStageMessage", "listHandedOver", "listTools", "mcp"],
];
/** Those that only runs use whose workflow gives them the tool. */
const forStages = ["completeWork", "sendStageMessage"];
/** It is about the caller's own task, whatever the path of a request says. */
const aboutCaller = ["openapi", "listTools", "mcp"];
const everyRoute = Object.values(routes) as readonly Route[];
const bodies: Readonly<Record<string, unknown>> = {
  moveTask: { to: "nowhere" },
  editTask: { summary: "Brew" },
  putDocument: { text: "" },
  commentTask: { text: "Hm." },
  completeWork: { summary: "Done." },
  sendStageMessage: { to: "working", message: "Hm." },
  mcp: { jsonrpc: "2.0", id: 1, method: "tools/list" },
};

/** Sends a request of a route about a task, and returns the status and the error's code. */
async function ask(route: Route, task: string, token: string): Promise<readonly [number, string]> {
  const path = route.path
    .replace(":task", task)
    .replace(":project", "coffee")
    .replace(":run", "worker%231")
    .replace(/:\w+/, "x");
  const { status, json } = await stage.ask(route.name === "listEvents" ? `${path}?task=${task}` : path, {
    method: route.method,
    token,
    ...(route.method === "GET" || route.method === "DELETE" ? {} : { json: bodies[route.name] ?? {} }),
  });
  return [status, (json as { error?: { code: string } } | undefined)?.error?.code ?? ""];
}

const history = async (id: string): Promise<readonly EventView[]> =>
  (await stage.ask(`/v1/events?task=${id}&limit=5000`)).json.events;
/** Where everything that a request could have changed stands, without the refusals. */
const standing = async () => [
  await Promise.all(Object.values(ids).map((id) => stage.core.store.getTask(id))),
  await stage.core.store.listProjects(),
  stage.stops(),
];

test("the routes for runs are those that a role needs, one route is for everybody, and one for pages of ours", () => {
  const named = (access: string) => everyRoute.filter((each) => each.access === access).map(({ name }) => name);
  expect(named("run").toSorted()).toEqual(forRuns.toSorted());
  expect(named("anyone")).toEqual(["health"]);
  expect(named("page")).toEqual(["openWebSession"]);
});

/** The answer of every route, by its name. */
const answers = async (task: string, token: string) => {
  const before = await standing();
  const all: Record<string, readonly [number, string]> = {};
  for (const route of everyRoute) {
    all[route.name] = await ask(route, task, token);
    if (all[route.name]?.[0] !== 200) expect([route.name, await standing()]).toEqual([route.name, before]);
  }
  return all;
};
/** No page reaches the socket. */
const expected = (answer: (route: Route) => readonly [number, string]) =>
  Object.fromEntries(
    everyRoute.map((route) => [route.name, route.access === "page" ? [403, "request.origin"] : answer(route)]),
  );
const isChange = ({ name, method }: Route) => forRuns.includes(name) && method !== "GET" && name !== "mcp";

test("a live run gets the routes that a role needs for its own task, and nothing else", async () => {
  expect(await answers(ids.own, tokens.own)).toEqual(
    expected(({ name }) => {
      if (name === "moveTask" || forStages.includes(name)) return [409, "refused"];
      // The handler was reached, and the task has no such artifact.
      if (name === "getArtifact") return [404, "artifact.missing"];
      // The handler was reached: this daemon has no git.
      if (name === "diffTask") return [503, "git.unavailable"];
      return forRuns.includes(name) || name === "health" ? [200, ""] : [403, "caller.denied"];
    }),
  );
  for (const name of new Set(stage.asked.slice(-forRuns.length))) expect([...forRuns, "health"]).toContain(name);
});

test("a run of another task gets nothing", async () => {
  expect(await answers(ids.own, tokens.other)).toEqual(
    expected((route) => {
      if (route.name === "health" || aboutCaller.includes(route.name)) return [200, ""];
      return isChange(route) ? [409, "refused"] : [403, "caller.denied"];
    }),
  );
});

test("a run that has ended gets nothing, also for its own task", async () => {
  expect(await answers(ids.ended, tokens.ended)).toEqual(
    expected((route) => {
      if (route.name === "health") return [200, ""];
      return isChange(route) ? [409, "refused"] : [401, "caller.unknown"];
    }),
  );
});

test.each([
  ["no credential", ""],
  ["a made-up run's", `sbr_${"0".repeat(48)}`],
  ["a made-up person's", `sbh_${"0".repeat(48)}`],
])("a caller with %s gets nothing but the daemon's health", async (_, token) => {
  const before = stage.core.refusals.strangers();
  expect(await answers(ids.own, token)).toEqual(
    expected(({ name }) => (name === "health" ? [200, ""] : [401, "caller.unknown"])),
  );
  expect(stage.core.refusals.strangers() - before).toBe(everyRoute.length - 2);
});

test("a run names its own task by dot, id, number or branch, and gets no other by any of them", async () => {
  const { number } = (await stage.core.store.getTask(ids.own))?.task ?? {};
  for (const name of [".", ids.own, `%23${number}`, `coffee%23${number}`, "own"])
    expect((await stage.ask(`/v1/tasks/${name}`, { token: tokens.own })).json.task.id).toBe(ids.own);
  const other = (await stage.core.store.getTask(ids.other))?.task.number;
  for (const name of [ids.other, `%23${other}`, `coffee%23${other}`, "other"])
    expect((await stage.ask(`/v1/tasks/${name}`, { token: tokens.own })).status).toBe(403);
});

test("a run that names no task gets the events of its own task only", async () => {
  const { events } = (await stage.ask("/v1/events?limit=5000", { token: tokens.own })).json;
  expect(new Set(events.map(({ task }: EventView) => task))).toEqual(new Set([ids.own]));
});

test("the refusals of a live run are in the history of its own task, with the run and the route", async () => {
  const { id, token } = await begin("refused");
  await ask(routes.pause, id, token);
  await ask(routes.getTask, ids.own, token);
  const actor = { role: "worker", run: "worker#1" };
  expect((await history(id)).slice(-2)).toMatchObject([
    {
      type: "request.rejected",
      by: "worker",
      data: { request: { kind: "pause", actor }, reasons: [{ code: "only-human" }] },
    },
    {
      type: "request.rejected",
      by: "worker",
      data: { request: { kind: "getTask", actor }, reasons: [{ code: "other-task" }] },
    },
  ]);
});

test("a flood of refused requests does not fill a history, and explain says how many were only counted", async () => {
  const { id, token } = await begin("flooded");
  const rejections = async () => (await history(id)).filter(({ type }) => type === "request.rejected");
  const size = async () => JSON.stringify(await history(id)).length;
  const before = await size();
  const labels = Array.from({ length: 9_000 }, (_, i) => `${i}`.padStart(100, "x"));
  for (const each of [token, ""])
    for (let i = 0; i < 50; i++)
      expect((await stage.ask(`/v1/tasks/${id}`, { method: "PATCH", token: each, json: { labels } })).status).not.toBe(
        200,
      );
  expect(await rejections()).toHaveLength(21);
  expect((await rejections()).at(-1)?.data.reasons).toMatchObject([
    { text: expect.stringContaining("Further refused requests of agents are only counted") },
  ]);
  expect((await size()) - before).toBeLessThan(100_000);
  const { warnings } = (await stage.ask(`/v1/tasks/${id}/explain`)).json;
  expect(warnings).toContain(
    "80 more requests of agents were refused in this state. They are counted, but not in history.",
  );
  // A person's refused requests are all there.
  await stage.ask(`/v1/tasks/${id}/move`, { json: { to: "nowhere" } });
  expect(await rejections()).toHaveLength(22);
  // Every stay has its own limit.
  await stage.ask(`/v1/tasks/${id}/cancel`, { json: {} });
  await stage.ask(`/v1/tasks/${id}`, { method: "PATCH", token: "", json: { labels } });
  expect((await rejections()).length).toBe(23);
});

test("a person's token does not act for a person inside a workspace", async () => {
  const folder = `${stage.home}/ws`;
  const workspace = { id: "w1", project: "coffee", task: ids.own, path: folder, kind: "folder", at: 1 } as const;
  await stage.core.store.workspaces.put(workspace as never);
  const headers = { "signalbox-folder": encodeURIComponent(`${folder}/src`) };
  const before = (await history(ids.own)).length;
  const { status, json } = await stage.ask("/v1/stop", { headers, json: {} });
  expect([status, json.error.reasons[0].code]).toEqual([409, "in-workspace"]);
  expect(stage.stops()).toBe(0);
  expect((await history(ids.own)).slice(before)).toMatchObject([{ type: "request.rejected", by: "human" }]);
  await stage.core.store.workspaces.remove("w1");
});
