import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createClient, type Route, staleTaskOf } from "../../src/api/client.ts";
import { changesTask } from "../../src/api/revisions.ts";
import { routes } from "../../src/api/routes.ts";
import type { JsonSchema } from "../../src/api/wire.ts";
import { newRepository, removeHomes, type Stage, startStage } from "./stage.ts";

let stage: Stage;
let count = 0;

beforeAll(async () => {
  stage = await startStage();
  await stage.ask("/v1/projects", { json: { name: "coffee", path: newRepository(stage.home), poolSize: 100 } });
});
afterAll(async () => {
  expect(stage.complaints).toEqual([]);
  await stage.close();
  removeHomes();
});

/** A task that a person can move, in `brewing`. */
async function brewing() {
  const json = { project: "coffee", workflow: "brew", summary: "Brew", branch: `r${++count}` };
  const { id } = (await stage.ask("/v1/tasks", { json })).json.task;
  await stage.settled(id);
  await stage.ask(`/v1/tasks/${id}/continue`, { json: {} });
  await stage.settled(id);
  return taskOf(id);
}

const taskOf = async (id: string) => (await stage.ask(`/v1/tasks/${id}`)).json.task;

test("every route that changes a task takes the revision that the caller has seen, and no other route does", () => {
  const all = Object.values(routes) as readonly Route[];
  const taking = all.filter(({ query }) => Object.hasOwn((query?.schema.properties ?? {}) as object, "revision"));
  const changing = all.filter(({ method, path }) => method !== "GET" && path.startsWith("/v1/tasks/:task"));
  expect(taking.map(({ name }) => name)).toEqual(changing.map(({ name }) => name));
  expect(all.filter(changesTask)).toEqual(changing);
  expect(changing.length).toBeGreaterThan(25);
});

test("a change with an older revision is refused with the task as it is, and with what happened since", async () => {
  const { id, revision } = await brewing();
  await stage.ask(`/v1/tasks/${id}`, { method: "PATCH", json: { summary: "Brew two" } });
  await stage.ask(`/v1/tasks/${id}/cancel`, { json: {} });
  await stage.settled(id);
  await vi.waitFor(async () => expect((await taskOf(id)).phase).toBe("over"));
  const before = await taskOf(id);
  for (const route of (Object.values(routes) as readonly Route[]).filter(changesTask)) {
    const path = route.path.replace(":task", id).replace(":run", "x");
    const sent = route.body === undefined ? {} : { json: sampleOf(route.body.schema) };
    const { status, json } = await stage.ask(`${path}?revision=${revision}`, { method: route.method, ...sent });
    expect([route.name, status, json.error.code]).toEqual([route.name, 409, "task.stale"]);
    expect(json.error.task).toEqual(before);
    expect(json.error.message).toContain('it went from "brewing" to "spilled"');
    expect(json.error.message).toContain(`is at revision ${before.revision}, and you have seen ${revision}`);
    expect(json.error.hint).toBe(`Look at it, and decide again: signalbox task show ${id}`);
  }
  expect(await taskOf(id)).toEqual(before);
});

test("a client sends the revision, and gets the task out of the refusal", async () => {
  const { id, revision } = await brewing();
  const call = createClient(async ({ method, path, body }) => {
    const sent = body === undefined ? {} : { json: JSON.parse(body) };
    const { status, json } = await stage.ask(path, { method, ...sent });
    return { status, body: JSON.stringify(json) };
  });
  const edit = { params: { task: id }, revision, body: { summary: "Two" } };
  const { task } = await call(routes.editTask, edit);
  const error = await call(routes.editTask, edit).catch((thrown: unknown) => thrown);
  expect(staleTaskOf(error)).toEqual(JSON.parse(JSON.stringify(task)));
});

test("a change with the present revision is made", async () => {
  const { id, revision } = await brewing();
  const path = `/v1/tasks/${id}?project=coffee&revision=${revision}`;
  const { status, json } = await stage.ask(path, { method: "PATCH", json: { summary: "Two" } });
  expect([status, json.task.summary]).toEqual([200, "Two"]);
  expect((await stage.ask(path, { method: "PATCH", json: { summary: "Three" } })).json.error.code).toBe("task.stale");
});

test("of several changes at once that have seen the same revision, one is made, and the others are told of it", async () => {
  const { id, revision } = await brewing();
  const answers = await Promise.all(
    ["One", "Two", "Three", "Four"].map((summary) =>
      stage.ask(`/v1/tasks/${id}?revision=${revision}`, { method: "PATCH", json: { summary } }),
    ),
  );
  const made = answers.filter(({ status }) => status === 200);
  expect(made).toHaveLength(1);
  const { summary } = await taskOf(id);
  for (const { status, json } of answers.filter((answer) => answer !== made[0])) {
    expect([status, json.error.code, json.error.task.summary]).toEqual([409, "task.stale", summary]);
    expect(json.error.message).toContain("fields of the task, such as its summary, have changed");
  }
});

test.for(["", "0", "-1", "1.5", "x", "9".repeat(21)])("the revision %j is no revision", async (revision) => {
  const { id } = await brewing();
  const { status, json } = await stage.ask(`/v1/tasks/${id}?revision=${revision}`, {
    method: "PATCH",
    json: { summary: "Two" },
  });
  // An empty value counts as none.
  expect([status, json.error?.code]).toEqual(revision === "" ? [200, undefined] : [400, "request.invalid"]);
});

test("a revision that the task does not have yet is refused too", async () => {
  const { id, revision } = await brewing();
  const { json } = await stage.ask(`/v1/tasks/${id}?revision=${revision + 7}`, { method: "PATCH", json: {} });
  expect(json.error).toMatchObject({ code: "task.stale", task: { id, revision } });
  expect(json.error.message).toBe(`coffee#${count} is at revision ${revision}, and you have seen ${revision + 7}.`);
});

test("a caller who may not see the task learns nothing about it from a wrong revision", async () => {
  const { id } = await brewing();
  const json = { project: "coffee", workflow: "default", summary: "Other", branch: "other" };
  const other = (await stage.ask("/v1/tasks", { json })).json.task.id;
  await vi.waitFor(async () => expect((await stage.core.store.getTask(other))?.task.runs.worker?.key).toBe("worker#1"));
  const { token } = (await stage.ask(`/v1/tasks/${other}/runs`, { json: { role: "worker" } })).json;
  for (const each of ["", `sbr_${"0".repeat(48)}`, token]) {
    const answer = await stage.ask(`/v1/tasks/${id}/move?revision=1`, { token: each, json: { to: "served" } });
    expect(answer.json.error.task).toBeUndefined();
    expect(["caller.unknown", "refused"]).toContain(answer.json.error.code);
  }
  // A run sees its own task.
  const own = await stage.ask(`/v1/tasks/${other}/move?revision=99`, { token, json: { to: "working" } });
  expect(own.json.error).toMatchObject({ code: "task.stale", task: { id: other } });
});

/** A value that a schema allows, with nothing but what it requires. */
function sampleOf({ type, enum: words, minimum, properties = {}, required = [] }: JsonSchema): unknown {
  if (type === "string") return (words as readonly string[] | undefined)?.[0] ?? "x";
  if (type === "integer" || type === "number") return Math.max(1, Number(minimum ?? 1));
  if (type === "boolean") return true;
  if (type === "array") return [];
  const each = properties as Readonly<Record<string, JsonSchema>>;
  return Object.fromEntries((required as readonly string[]).map((key) => [key, sampleOf(each[key] ?? {})]));
}
