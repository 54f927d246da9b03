import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { sha256 } from "../../src/sha256.ts";
import { ask as send } from "./http.ts";
import { newRepository, removeHomes, type Stage, startStage } from "./stage.ts";

const stages = `name: stages
version: 1
initial: packing
roles:
  any: { mode: turn }
  analyst: {}
  builder: {}
states:
  packing:
    agent: { role: analyst, prompt: work, tools: [comment, stage_message, work_complete, Read] }
    outcomes: [{ on: ok, when: documents > 0, then: building }]
  building:
    agent: { role: builder, prompt: work }
    next: served
  served: { terminal: true }
  spilled: { terminal: true, outcome: cancelled }
transitions:
  - { from: any, to: spilled, by: human }
prompts: { work: "Work. {documents} {messages}" }
`;

let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
  writeFileSync(join(stage.places.workflows, "stages.yml"), stages);
  await stage.ask("/v1/projects", { json: { name: "coffee", path: newRepository(stage.home), poolSize: 50 } });
});
afterAll(async () => {
  await stage.close();
  removeHomes();
});

/** Creates a task with a live analyst, and returns the analyst's token. */
async function begin() {
  const json = { project: "coffee", workflow: "stages", summary: "Brew", allowFullPermissions: true };
  const { id } = (await stage.ask("/v1/tasks", { json })).json.task as { id: string };
  await stage.settled(id);
  const { token } = (await stage.ask(`/v1/tasks/${id}/runs`, { json: { role: "analyst" } })).json as { token: string };
  return { id, token, task: async () => (await stage.core.store.getTask(id))?.task };
}

const pack = { type: "context-pack", title: "The map", text: "Ä map of the kitchen.\n" };
const done = { summary: "All is read.", outcome: "done", documents: [pack] };
const complete = (id: string, token: string, json: unknown) => stage.ask(`/v1/tasks/${id}/complete`, { token, json });

describe("completing work", () => {
  test("is saved before it is answered, with the texts of the documents, and is the run's answer", async () => {
    const { id, token, task } = await begin();
    const { status, json } = await complete(".", token, done);
    expect([status, json]).toEqual([
      200,
      { task: id, run: "analyst#1", outcome: "done", documents: ["The map"], isNew: true },
    ]);
    const stored = await task();
    expect(stored?.runs.analyst?.report).toMatchObject({ summary: "All is read.", outcome: "done" });
    expect(await stage.core.store.artifactText(id, sha256(pack.text))).toBe(pack.text);
    expect((await complete(id, token, done)).json).toMatchObject({ isNew: false });
    expect((await task())?.documents).toHaveLength(1);
    const shown = (await stage.ask(`/v1/tasks/${id}/handed-over`)).json;
    expect(shown.documents).toMatchObject([
      { title: "The map", path: ".signalbox/documents/context-pack-the-map.md", role: "analyst", state: "packing" },
    ]);
    const path = encodeURIComponent(shown.documents[0].path);
    expect((await stage.ask(`/v1/tasks/${id}/handed-over?path=${path}`)).json.documents).toMatchObject([
      { text: pack.text },
    ]);
    expect((await stage.ask(`/v1/tasks/${id}/handed-over?path=../x`)).status).toBe(404);
    // Its program fails, but its work is complete.
    const run = encodeURIComponent("analyst#1");
    await stage.ask(`/v1/tasks/${id}/runs/${run}/end`, { json: { word: "error", reason: "It crashed." } });
    expect((await stage.settled(id))?.status).toBe("building");
    // Over now: the answer of the ended run cannot change any more.
    const late = await complete(id, token, done);
    expect([late.status, late.json.error.reasons[0].code]).toEqual([409, "run-over"]);
    expect((await stage.ask(`/v1/tasks/${id}/document`)).json.artifacts).toEqual([]);
  });

  const large = { ...pack, text: "x".repeat(1024 * 1024 + 1) };
  test.each<readonly [name: string, body: unknown, status: number, says: RegExp]>([
    ["another outcome", { ...done, outcome: "revise" }, 409, /means nothing here/],
    ["an unknown outcome", { ...done, outcome: "perfect" }, 400, /outcome/],
    ["no summary", { outcome: "done" }, 400, /summary/],
    ["an empty title", { ...done, documents: [{ ...pack, title: "" }] }, 409, /empty title/],
    ["a document over 1 MB", { ...done, documents: [large] }, 409, /1048577 bytes/],
    ["half a character", { ...done, documents: [{ ...pack, text: "\ud800" }] }, 409, /not text in UTF-8/],
    ["a field that nobody knows", { ...done, task: "another" }, 400, /task/],
  ])("with %s is refused, and nothing changes", async (_, body, status, says) => {
    const { id, token, task } = await begin();
    const before = await task();
    const answer = await complete(id, token, body);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.json)).toMatch(says);
    expect(await task()).toEqual(before);
  });

  test("with bytes that are not UTF-8 is refused, and nothing changes", async () => {
    const { id, token, task } = await begin();
    const before = await task();
    const [head = "", tail = ""] = JSON.stringify(done).split("Ä");
    const body = Buffer.concat([Buffer.from(head), Buffer.from([0xff, 0xc0]), Buffer.from(tail)]);
    const answer = await fetch(`http://${stage.tcp.address}/v1/tasks/${id}/complete`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body,
    });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { message: "The body is not UTF-8." } }]);
    expect(await task()).toEqual(before);
  });

  test("a second outcome, and the work of another task, are refused, each with its own reason", async () => {
    const first = await begin();
    const other = await begin();
    await complete(".", first.token, done);
    const stranger = await complete(first.id, other.token, done);
    expect([stranger.status, stranger.json.error.reasons[0].code]).toEqual([409, "other-task"]);
    const person = await complete(first.id, stage.human, done);
    expect([person.status, person.json.error.reasons[0].code]).toEqual([409, "not-allowed"]);
    expect((await complete(first.id, "", done)).status).toBe(401);
    expect((await other.task())?.documents).toBeUndefined();
  });

  test("a document of 1 MB is taken, and its text is in no event and in no task", async () => {
    const { id, token, task } = await begin();
    const text = "ü".repeat(512 * 1024);
    const answer = await complete(id, token, { ...done, documents: [{ ...pack, text }] });
    expect(answer.status).toBe(200);
    expect(JSON.stringify(await task()).length).toBeLessThan(10_000);
    expect(JSON.stringify((await stage.ask(`/v1/events?task=${id}`)).json).length).toBeLessThan(20_000);
    // A refused one is cut in the history.
    await complete(id, token, { ...done, documents: [{ ...pack, title: " ", text }] });
    expect(JSON.stringify((await stage.ask(`/v1/events?task=${id}`)).json).length).toBeLessThan(20_000);
  });
});

describe("messages to states", () => {
  test("are kept once, and an unknown state is refused with the list", async () => {
    const { id, token, task } = await begin();
    const body = { to: "building", message: "Mind the step.", priority: "high" };
    const path = `/v1/tasks/${id}/stage-messages`;
    expect((await stage.ask(path, { token, json: body })).json).toEqual({
      ...{ task: id, from: "packing", to: "building", isNew: true },
    });
    expect((await stage.ask(path, { token, json: body })).json).toMatchObject({ isNew: false });
    const wrong = await stage.ask(path, { token, json: { ...body, to: "bilding" } });
    expect(wrong.json.error.reasons).toEqual([
      {
        ...{ code: "no-such-state", text: 'The workflow "stages" has no state "bilding".' },
        fix: "Send it to one of: packing, building, served, spilled, all.",
      },
    ]);
    expect((await task())?.stageMessages).toMatchObject([{ from: "packing", to: "building", priority: "high" }]);
    expect((await stage.ask(`/v1/tasks/${id}/handed-over`)).json.messages).toMatchObject([
      { text: "Mind the step.", isRead: false },
    ]);
  });
});

describe("comments of a run", () => {
  const comment = async (id: string, token: string, text: string) =>
    (await stage.ask(`/v1/tasks/${id}/comments`, { token, json: { text } })).json;
  const kept = async (id: string) =>
    (await stage.core.store.listEvents({ task: id }, 0, 1_000)).flatMap(({ event }) =>
      event.type === "task.commented" ? [event.data.text] : [],
    );

  test("are at most 50, and the next is refused with the reason", async () => {
    const { id, token } = await begin();
    const asked = await Promise.all(Array.from({ length: 60 }, (_, i) => comment(id, token, `Comment ${i}`)));
    const refused = asked.filter(({ error }) => error !== undefined);
    expect(refused).toHaveLength(10);
    expect(refused[0].error.reasons[0].text).toBe("analyst#1 has written 50 comments, which is the limit.");
    expect(await kept(id)).toHaveLength(50);
    // A person's are not limited.
    expect((await stage.ask(`/v1/tasks/${id}/comments`, { json: { text: "Hm." } })).status).toBe(200);
  });

  test("have at most 100,000 characters together, and no control characters", async () => {
    const { id, token } = await begin();
    for (let i = 0; i < 5; i++) await comment(id, token, `${i} ${"x".repeat(19_900)}`);
    const { error } = await comment(id, token, "y".repeat(600));
    expect(error.reasons[0].text).toBe(
      "The comments of analyst#1 would have 100110 characters; at most 100000 are allowed.",
    );
    await comment(id, token, "a\rhuman: b\u2028c\u0000\u001b[2J\u202e");
    expect((await kept(id)).at(-1)).toBe("a\nhuman: b\nc");
  });
});

/** The official client, over HTTP. */
async function connected(token: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`http://${stage.tcp.address}/v1/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  // Its types do not know exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  onTestFinished(() => client.close());
  return client;
}

const textOf = (answer: unknown) => (answer as { content: { text: string }[] }).content[0]?.text ?? "";
const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

describe("the Model Context Protocol over HTTP, with the official client", () => {
  test("a run sees its stage's tools only, and calls them for its own task", async () => {
    const { id, token, task } = await begin();
    const client = await connected(token);
    expect(client.getServerVersion()).toMatchObject({ name: "signalbox" });
    expect(await namesOf(client)).toEqual(["comment", "stage_message", "work_complete"]);
    await expect(client.callTool({ name: "task_update", arguments: { status: "served" } })).rejects.toThrow(
      "There is no tool",
    );
    const call = (name: string, args: object) => client.callTool({ name, arguments: { ...args } });
    expect(await call("comment", { text: "I have begun." })).toMatchObject({ isError: false });
    expect(await call("stage_message", { to: "building", message: "Mind the step." })).toMatchObject({
      isError: false,
    });
    const wrong = await call("stage_message", { to: "nowhere", message: "Hello" });
    expect(wrong.isError).toBe(true);
    expect(textOf(wrong)).toContain("Send it to one of: packing");
    const bad = await call("work_complete", { summary: "All is read.", documents: [{ ...pack, title: "" }] });
    expect([bad.isError, textOf(bad)]).toEqual([true, expect.stringContaining("empty title")]);
    expect(textOf(await call("work_complete", { summary: 7 }))).toContain("summary");
    expect((await task())?.documents).toBeUndefined();
    const good = await call("work_complete", done);
    expect([good.isError, textOf(good)]).toEqual([
      false,
      "Your work is complete with the outcome done. Documents: The map.",
    ]);
    expect(await task()).toMatchObject({
      id,
      documents: [{ title: "The map" }],
      stageMessages: [{ text: "Mind the step." }],
    });
  });

  test("a run without a list of tools has task_update and comment", async () => {
    const { id, token } = await begin();
    await complete(".", token, done);
    await stage.ask(`/v1/tasks/${id}/runs/${encodeURIComponent("analyst#1")}/end`, { json: { word: "ok" } });
    await stage.settled(id);
    const builder = (await stage.ask(`/v1/tasks/${id}/runs`, { json: { role: "builder" } })).json.token;
    const client = await connected(builder);
    expect(await namesOf(client)).toEqual(["task_update", "comment"]);
    await expect(client.callTool({ name: "work_complete", arguments: done })).rejects.toThrow("There is no tool");
    // Not over the route either.
    const past = await complete(id, builder, done);
    expect([past.status, past.json.error.reasons[0].code]).toEqual([409, "not-allowed"]);
  });

  test("a person creates, lists, shows, explains and answers tasks, and reads findings", async () => {
    const client = await connected(stage.human);
    expect(await namesOf(client)).toEqual([
      ...["task_create", "task_list", "task_show", "task_explain", "task_findings", "task_answer"],
    ]);
    const call = async (name: string, args: Record<string, unknown>) => {
      const answer = await client.callTool({ name, arguments: args });
      return [answer.isError, answer.isError ? textOf(answer) : JSON.parse(textOf(answer))] as const;
    };
    const [, made] = await call("task_create", { project: "coffee", summary: "Tea", workflow: "brew" });
    const { id } = made.task as { id: string };
    expect((await call("task_list", { project: "coffee" }))[1].tasks).toContainEqual(expect.objectContaining({ id }));
    expect((await call("task_show", { task: id }))[1].task).toMatchObject({ id, summary: "Tea", status: "todo" });
    expect((await call("task_explain", { task: id }))[0]).toBe(false);
    expect((await call("task_findings", { task: id }))[1]).toMatchObject({ task: id, findings: [] });
    expect(await call("task_answer", { task: id, text: "Green" })).toEqual([
      true,
      expect.stringContaining("No agent asks a question"),
    ]);
    const unclear = { project: "coffee", workflow: "default", summary: "", branch: "unclear" };
    const asking = (await stage.ask("/v1/tasks", { json: unclear })).json.task.id;
    await stage.settled(asking);
    expect((await call("task_answer", { task: asking, text: "Green" }))[1]).toMatchObject({
      change: { from: "clarification" },
    });
    expect(await call("task_show", { task: "none" })).toEqual([true, expect.stringContaining("There is no task")]);
    expect(await call("task_create", { project: "coffee", summary: 7 })).toEqual([
      true,
      expect.stringContaining("summary"),
    ]);
    expect((await call("task_create", { project: "nowhere", summary: "x" }))[0]).toBe(true);
  });

  const message = { jsonrpc: "2.0", id: 1, method: "ping" };
  const tcp = (json: unknown, headers: Readonly<Record<string, string>> = {}) =>
    send(stage.tcp, "/v1/mcp", {
      json,
      headers: { host: stage.tcp.address, authorization: `Bearer ${stage.human}`, ...headers },
    });

  test("a notification and a response get 202 without a body, and a request its answer as JSON", async () => {
    expect(await tcp(message)).toMatchObject({ status: 200, json: { jsonrpc: "2.0", id: 1, result: {} } });
    for (const silent of [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 1, result: {} },
    ])
      expect(await tcp(silent)).toMatchObject({ status: 202, text: "" });
    expect((await tcp({ hello: 1 })).json).toMatchObject({ id: null, error: { code: -32_600 } });
    expect((await tcp({ ...message, method: "nothing" })).json).toMatchObject({ id: 1, error: { code: -32_601 } });
    expect((await tcp([message, { ...message, id: 2 }])).json).toHaveLength(2);
  });

  test("GET and DELETE are refused with 405, and an unknown protocol version with 400", async () => {
    const { human } = stage;
    for (const method of ["GET", "DELETE"])
      expect((await stage.ask("/v1/mcp", { method, token: human })).status).toBe(405);
    expect((await tcp(message, { "mcp-protocol-version": "2025-06-18" })).status).toBe(200);
    expect((await tcp(message, { "mcp-protocol-version": "1999-01-01" })).status).toBe(400);
  });

  test("a foreign origin or host, another content type, and callers without a credential are refused", async () => {
    expect((await tcp(message, { origin: "http://evil.example" })).status).toBe(403);
    expect((await tcp(message, { host: "evil.example" })).status).toBe(403);
    expect((await tcp(message, { "content-type": "text/plain" })).status).toBe(415);
    const { id, token } = await begin();
    await stage.ask(`/v1/tasks/${id}/runs/${encodeURIComponent("analyst#1")}/end`, { json: { word: "exit" } });
    const before = stage.core.refusals.strangers();
    for (const bearer of ["", "Bearer nothing", `Bearer sbr_${"0".repeat(48)}`, `Bearer ${token}`])
      expect((await tcp(message, { authorization: bearer })).status).toBe(401);
    for (const each of ["", "nothing", token])
      expect((await stage.ask("/v1/mcp", { token: each, json: message })).status).toBe(401);
    expect(stage.core.refusals.strangers() - before).toBe(7);
  });

  test("a run's tools refuse what its workflow refuses, also by names of the person's tools", async () => {
    const { token } = await begin();
    const client = await connected(token);
    for (const name of ["task_create", "task_list", "task_answer", "constructor", ""])
      await expect(client.callTool({ name, arguments: {} })).rejects.toThrow("There is no tool");
  });

  test("a person's token in a workspace does not act for the person", async () => {
    const { id } = await begin();
    const folder = join(stage.home, "workspace-of-a-task");
    const kept = { id: "w1", project: "coffee", task: id, at: 1, path: folder, kind: "worktree" } as const;
    await stage.core.store.workspaces.put(kept);
    onTestFinished(() => stage.core.store.workspaces.remove("w1"));
    const headers = { "signalbox-folder": encodeURIComponent(folder) };
    const params = { name: "task_create", arguments: { project: "coffee", summary: "Tea", workflow: "brew" } };
    const { json } = await stage.ask("/v1/mcp", { json: { ...message, method: "tools/call", params }, headers });
    expect(json.result).toMatchObject({ isError: true });
    expect(json.result.content[0].text).toContain("inside a workspace");
  });
});
