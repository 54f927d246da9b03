import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SaidView } from "../../src/api/task-views.ts";
import { doctor } from "../../src/daemon/requests/doctor.ts";
import { seeTask } from "../../src/daemon/requests/task-views.ts";
import { noteSeen, noteSeenPlan } from "../../src/daemon/reviewed.ts";
import { Fault } from "../../src/fault.ts";
import { newRepository, removeHomes, type Stage, startStage } from "./stage.ts";

let stage: Stage;
let coffee: string;
let number = 0;

beforeAll(async () => {
  stage = await startStage();
  coffee = newRepository(stage.home);
  await stage.ask("/v1/projects", { json: { name: "coffee", path: coffee, poolSize: 1_000 } });
});
afterAll(async () => {
  expect(stage.complaints).toEqual([]);
  await stage.close();
  removeHomes();
});

const get = (path: string) => stage.ask(path);
const post = (path: string, json: unknown = {}) => stage.ask(path, { json });
const put = (path: string, json: unknown) => stage.ask(path, { method: "PUT", json });

async function create(rest: object = {}) {
  const json = { project: "coffee", workflow: "brew", summary: "Brew", branch: `v${++number}`, ...rest };
  const { id } = (await post("/v1/tasks", json)).json.task;
  await stage.settled(id);
  return (await get(`/v1/tasks/${id}`)).json.task;
}

describe("what a person has seen", () => {
  const row = async (id: string) => {
    const { tasks } = (await get("/v1/tasks?project=coffee&limit=1000")).json;
    const { unread, snoozedUntil } = tasks.find((task: { id: string }) => task.id === id);
    return { unread, snoozedUntil };
  };

  test("a task is unread until it is marked as seen at its revision, and again once it has changed", async () => {
    const { id, revision } = await create();
    expect(await row(id)).toEqual({ unread: true, snoozedUntil: null });
    const seen = { task: id, revision, commit: "", unread: false, snoozedUntil: null };
    expect((await put(`/v1/tasks/${id}/seen`, { revision })).json).toEqual(seen);
    expect((await put(`/v1/tasks/${id}/seen`, { revision })).json).toEqual(seen);
    expect(await row(id)).toEqual({ unread: false, snoozedUntil: null });
    await stage.ask(`/v1/tasks/${id}`, { method: "PATCH", json: { summary: "Brew again" } });
    expect(await row(id)).toEqual({ unread: true, snoozedUntil: null });
    // A page that was slow must not take back what a faster one has seen.
    const now = (await get(`/v1/tasks/${id}`)).json.task.revision;
    await put(`/v1/tasks/${id}/seen`, { revision: now });
    expect((await put(`/v1/tasks/${id}/seen`, { revision })).json).toMatchObject({ revision: now, unread: false });
  });

  test("a task that is marked as seen while its diff and its plan are shown keeps all three", async () => {
    const { id, revision } = await create();
    const stored = await stage.core.store.getTask(id);
    const { seen } = stage.core.store;
    const get = async (of: string) => {
      const found = await seen.get(of);
      await new Promise((resolve) => setTimeout(resolve, 10));
      return found;
    };
    const slow = { ...stage.core, store: { ...stage.core.store, seen: { ...seen, get } } };
    const asked = { params: { task: id }, query: {}, body: { revision }, caller: { kind: "human" }, folder: "" };
    if (stored === undefined) throw new Error("The task is there.");
    await Promise.all([
      noteSeen(slow, { kind: "human" }, stored.task, "c1"),
      noteSeenPlan(slow, { kind: "human" }, stored.task, "p1"),
      seeTask(slow)(asked as never),
    ]);
    expect(await seen.get(id)).toMatchObject({ commit: "c1", plan: "p1", revision });
  });

  test("a person marks a task as unread, and marking it as seen ends that", async () => {
    const { id, revision } = await create();
    await put(`/v1/tasks/${id}/seen`, { revision });
    expect((await put(`/v1/tasks/${id}/seen`, { unread: true })).json).toMatchObject({ unread: true, revision });
    const later = "2999-01-01T00:00:00.000Z";
    expect((await put(`/v1/tasks/${id}/seen`, { snoozedUntil: later })).json.unread).toBe(true);
    expect(await row(id)).toEqual({ unread: true, snoozedUntil: later });
    expect((await put(`/v1/tasks/${id}/seen`, { revision })).json.unread).toBe(false);
  });

  test("a snooze ends at its time, or when the person ends it", async () => {
    const { id } = await create();
    const until = new Date(Date.now() + 3600_000).toISOString();
    expect((await put(`/v1/tasks/${id}/seen`, { snoozedUntil: until })).json.snoozedUntil).toBe(until);
    expect((await put(`/v1/tasks/${id}/seen`, { snoozedUntil: "" })).json.snoozedUntil).toBeNull();
    await put(`/v1/tasks/${id}/seen`, { snoozedUntil: until });
    stage.pass(3601_000);
    expect((await row(id)).snoozedUntil).toBeNull();
  });

  test("a revision that does not exist yet, a commit that is none and a time that is none are refused", async () => {
    const { id, revision } = await create();
    const wrong = [
      { revision: revision + 1 },
      { commit: "main" },
      { commit: "0".repeat(40) },
      { snoozedUntil: "soon" },
    ];
    for (const body of wrong) expect((await put(`/v1/tasks/${id}/seen`, body)).status).toBeGreaterThanOrEqual(400);
    expect(await stage.core.store.seen.get(id)).toBeUndefined();
    expect((await put("/v1/tasks/none/seen", {})).status).toBe(404);
    expect((await put(`/v1/tasks/${id}/seen`, { person: "eve" })).status).toBe(400);
  });
});

describe("the graph of a task", () => {
  test("has the path that it took, with times, and its moves, open and closed", async () => {
    const { id } = await create();
    await post(`/v1/tasks/${id}/continue`);
    const { json } = await get(`/v1/tasks/${id}/graph`);
    expect(json).toMatchObject({ task: id, workflow: "brew", status: "brewing", isCut: false });
    const [first, second] = json.path;
    expect(json.path.map(({ state }: { state: string }) => state)).toEqual(["todo", "brewing"]);
    expect(first).toMatchObject({ by: "human", cause: "created", until: second.since });
    expect(second).toMatchObject({ by: "human", until: null });
    expect(json.graph.states.map(({ name }: { name: string }) => name)).toEqual([
      "todo",
      "brewing",
      "served",
      "spilled",
    ]);
    const served = json.moves.find(({ to }: { to: string }) => to === "served");
    expect(served).toMatchObject({ by: ["human"], open: false });
    expect(served.missing.join()).toContain("## Recipe");
    const spilled = json.moves.find(({ to }: { to: string }) => to === "spilled");
    expect(spilled).toMatchObject({ open: true, missing: [] });
  });
});

describe("artifacts", () => {
  test("are shown in parts that together are the whole text, cut only between characters", async () => {
    const { id } = await create();
    const text = `start ${"☕🫖".repeat(500)} end`;
    const artifact = { task: id, section: "Recipe", text, hash: "a".repeat(64), role: "worker", run: "worker#1" };
    await stage.core.store.addArtifact({ ...artifact, commit: "", at: 1_000 });
    const parts: string[] = [];
    for (let from: number | null = 0; from !== null; ) {
      const { json } = await get(`/v1/tasks/${id}/artifacts/${artifact.hash}?from=${from}&limit=10`);
      expect(json).toMatchObject({ section: "Recipe", role: "worker", length: text.length, type: "", from });
      expect(json.text.isWellFormed()).toBe(true);
      parts.push(json.text);
      from = json.next;
    }
    expect(parts.join("")).toBe(text);
    expect((await get(`/v1/tasks/${id}/artifacts/${artifact.hash}?from=99999`)).json).toMatchObject({
      text: "",
      next: null,
    });
  });

  test("of another task are not shown", async () => {
    const [own, other] = [await create(), await create()];
    const artifact = {
      section: "Secret",
      text: "x",
      hash: "b".repeat(64),
      role: "worker",
      run: "worker#1",
      commit: "",
    };
    await stage.core.store.addArtifact({ ...artifact, task: other.id, at: 1 });
    expect((await get(`/v1/tasks/${own.id}/artifacts/${artifact.hash}`)).status).toBe(404);
    expect((await get(`/v1/tasks/${own.id}/artifacts/..%2F..%2Fetc%2Fpasswd`)).status).toBe(404);
    expect((await get(`/v1/tasks/${other.id}/artifacts/${artifact.hash}?limit=0`)).status).toBe(400);
  });
});

describe("conversations", () => {
  test("are listed from the newest on, page by page, without gaps and repetitions", async () => {
    const { id, project } = await create();
    for (let i = 0; i < 7; i++) await post(`/v1/tasks/${id}/comments`, { text: `Comment ${i}` });
    const at = Date.now();
    const message = { project, task: id, at, from: "human", to: "worker#1", deliveredAt: undefined };
    await stage.core.store.messages.put({ ...message, id: "m1", text: "Hurry." });
    await stage.core.store.messages.put({ ...message, id: "m2", from: "engine", text: "A reminder." });
    const said: SaidView[] = [];
    for (let next: string | null = ""; next !== null; ) {
      const { json } = await get(
        `/v1/tasks/${id}/conversations?limit=3${next === "" ? "" : `&before=${encodeURIComponent(next)}`}`,
      );
      expect(json.said.length).toBeLessThanOrEqual(3);
      said.push(...json.said);
      next = json.next;
    }
    const exact = (await get(`/v1/tasks/${id}/conversations?limit=${said.length}`)).json;
    expect([exact.said, exact.next]).toEqual([said, null]);
    expect(said.map(({ at }) => at)).toEqual(
      said
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    );
    expect(said.map(({ text }) => text).sort()).toEqual([
      ...Array.from({ length: 7 }, (_, i) => `Comment ${i}`),
      "Hurry.",
    ]);
    expect(said.find(({ text }) => text === "Hurry.")).toMatchObject({
      from: "human",
      kind: "message",
      run: "worker#1",
    });
    expect(said.find(({ text }) => text === "Comment 0")).toMatchObject({ from: "human", kind: "comment", role: "" });
    expect((await get(`/v1/tasks/${id}/conversations?before=x`)).status).toBe(400);
  });

  test("have a long text only in part", async () => {
    const { id } = await create();
    await stage.core.store.addEvents(
      id,
      [{ type: "dialogue.asked", by: "worker", data: { message: "x".repeat(50_000) }, set: {} } as never],
      1_000,
    );
    const [said] = (await get(`/v1/tasks/${id}/conversations`)).json.said;
    expect(said).toMatchObject({ kind: "dialogue", from: "agent", role: "worker", isCut: true });
    expect(said.text).toHaveLength(20_000);
  });
});

describe("workflows", () => {
  const find = async (name: string, query = "") =>
    (await get(`/v1/workflows${query}`)).json.workflows.find((each: { name: string }) => each.name === name);

  test("are listed with their source and the open tasks that follow them", async () => {
    const before = await find("brew");
    expect(before).toMatchObject({ from: "user", trusted: true, otherText: 0 });
    expect(before.hash).toMatch(/^[0-9a-f]{64}$/);
    await create();
    expect(await find("brew")).toEqual({ ...before, openTasks: before.openTasks + 1 });
    expect(await find("default")).toMatchObject({ from: "built-in", project: "" });
  });

  test("show their text, what loading says with lines, their graph, and later the proof", async () => {
    const first = (await get("/v1/workflows/brew")).json;
    expect(first).toMatchObject({ name: "brew", from: "user", problems: [], trusted: true });
    expect(first.text).toContain("states:");
    expect(first.graph.ways).toContainEqual({
      from: "brewing",
      to: "served",
      label: "human, ## Recipe",
      by: ["human"],
      gates: [{ section: "Recipe", fields: [], verdict: null }],
      when: [],
      hooks: [],
      implied: null,
      everywhere: false,
    });
    expect(first.graph.ways.find(({ to }: { to: string }) => to === "spilled").everywhere).toBe(true);
    expect(first.proof.state).toBe("running");
    await expect.poll(async () => (await get("/v1/workflows/brew")).json.proof.state, { timeout: 30_000 }).toBe("done");
    const { result } = (await get("/v1/workflows/brew")).json.proof;
    expect(result).toMatchObject({ proved: true });
    expect(result.positions).toBeGreaterThan(3);
  });

  test("that do not load are shown with the lines of their problems", async () => {
    writeFileSync(join(stage.places.workflows, "broken.yml"), "version: 1\nstates:\n  a: { next: nowhere }\n");
    const { json } = await get("/v1/workflows/broken");
    expect(json).toMatchObject({ graph: null, proof: { state: "none", result: null } });
    expect(json.problems).toContainEqual(expect.objectContaining({ level: "error", line: 3 }));
  });

  test("of a repository are shown and not loaded before a person has trusted them", async () => {
    const folder = join(coffee, ".signalbox", "workflows");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "theirs.yml"), "version: 1\nstates: { a: { terminal: true } }\n");
    const { json } = await get("/v1/workflows/theirs?project=coffee");
    expect(json).toMatchObject({
      from: "project",
      trusted: false,
      graph: null,
      problems: [],
      proof: { state: "none" },
    });
    expect(json.trust).toBe("signalbox trust theirs --project coffee");
    expect(await find("theirs", "?project=coffee")).toMatchObject({ project: "coffee", trusted: false });
    expect((await get("/v1/workflows/theirs")).status).toBe(404);
  });

  test("are found by name only: no file of the machine can be read", async () => {
    const outside = join(stage.home, "..", "outside.yml");
    writeFileSync(outside, "version: 1\n");
    for (const name of [outside, "../outside.yml", "..%2F..%2Foutside", "/etc/passwd", "outside.yml"])
      expect((await get(`/v1/workflows/${encodeURIComponent(name)}`)).status).toBe(404);
    expect((await get("/v1/workflows/brew?project=none")).status).toBe(404);
    expect((await get(`/v1/workflows/brew?hash=${"0".repeat(64)}`)).status).toBe(404);
  });

  test("that a task is pinned to are shown by their hash, whatever became of the file", async () => {
    const { workflowHash } = await create();
    const file = join(stage.places.workflows, "brew.yml");
    const { text } = (await get("/v1/workflows/brew")).json;
    writeFileSync(file, `${text}# changed\n`);
    expect((await get(`/v1/workflows/brew?hash=${workflowHash}`)).json).toMatchObject({ text, from: "gone" });
    const { openTasks, otherText } = await find("brew");
    expect(otherText).toBe(openTasks);
    writeFileSync(file, text);
  });

  test("that are gone are listed with their open tasks, although another project has one of the same name", async () => {
    const { text } = (await get("/v1/workflows/brew")).json;
    const file = join(stage.places.workflows, "solo.yml");
    writeFileSync(file, text.replace("name: brew", "name: solo"));
    await create({ workflow: "solo" });
    rmSync(file);
    const kettle = newRepository(stage.home, "kettle");
    await stage.ask("/v1/projects", { json: { name: "kettle", path: kettle, poolSize: 10 } });
    mkdirSync(join(kettle, ".signalbox", "workflows"), { recursive: true });
    writeFileSync(join(kettle, ".signalbox", "workflows", "solo.yml"), text);
    const { workflows } = (await get("/v1/workflows")).json;
    const solo = workflows.filter(({ name }: { name: string }) => name === "solo");
    expect(solo).toEqual([
      expect.objectContaining({ from: "project", project: "kettle", openTasks: 0 }),
      expect.objectContaining({ from: "gone", project: "", openTasks: 1 }),
    ]);
  });

  test("are proved in a thread: the daemon answers meanwhile", async () => {
    const { proof } = (await get("/v1/workflows/team")).json;
    expect(proof.state).toBe("running");
    let answers = 0;
    while ((await get("/v1/workflows/team")).json.proof.state === "running") {
      expect((await get("/v1/health")).status).toBe(200);
      answers++;
    }
    expect(answers).toBeGreaterThan(1);
    expect((await get("/v1/workflows/team")).json.proof).toMatchObject({
      state: "done",
      result: { proved: true },
    });
  }, 60_000);
});

describe("merges", () => {
  test("that have ended are listed from the last on, page by page", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      const { id, project } = await create();
      ids.unshift(id);
      const about = { id, project, task: id, at: 1_000, target: "main", strategy: "merge", to: "", files: [] } as const;
      const result =
        i === 0
          ? ({ state: "conflict", reason: "recipe.md conflicts." } as const)
          : ({ state: "merged", reason: "" } as const);
      // Two ended in the same millisecond.
      const endedAt = 2_000 + Math.floor(i / 2);
      await stage.core.store.merges.put({
        ...about,
        ...result,
        by: i === 1 ? "engine" : "human",
        commit: "c",
        before: "b",
        after: "a",
        endedAt,
      });
    }
    type Ended = { readonly task: string; readonly by: string; readonly state: string };
    const pagesOf = async (limit: number) => {
      const pages: (readonly Ended[])[] = [];
      for (let next: string | null = ""; next !== null; ) {
        const { json } = await get(`/v1/merges?project=coffee&limit=${limit}${next === "" ? "" : `&before=${next}`}`);
        expect(json.queues).toEqual([]);
        pages.push(json.ended);
        next = json.next;
      }
      return pages;
    };
    const pages = await pagesOf(2);
    const found = pages.flat();
    // A page with exactly as many rows as are wanted is the last one if there are no more.
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(await pagesOf(5)).toEqual([found]);
    expect((await pagesOf(4)).flat()).toEqual(found);
    expect(found.map(({ task }) => task).sort()).toEqual(ids.toSorted());
    expect(found[0]?.task).toBe(ids[0]);
    expect(found.find(({ task }) => task === ids[4])).toMatchObject({ state: "conflict", by: "person" });
    expect(found.find(({ task }) => task === ids[3])).toMatchObject({
      state: "merged",
      by: "workflow",
      summary: "Brew",
    });
    expect((await get("/v1/merges?before=x")).status).toBe(400);
    expect((await get("/v1/merges?project=none")).status).toBe(404);
    await post("/v1/projects", { name: "cocoa", path: newRepository(stage.home, "cocoa"), poolSize: 1 });
    expect((await get("/v1/merges?project=cocoa")).json).toEqual({ queues: [], ended: [], next: null });
    expect((await get("/v1/merges")).json.ended).toHaveLength(5);
  });
});

describe("the doctor", () => {
  test("says what is well, and what is wrong with the command that mends it", async () => {
    const { json } = await get("/v1/doctor");
    const names = new Set(json.checks.map(({ name }: { name: string }) => name));
    for (const name of [
      "node",
      "git",
      "tmux",
      "agents",
      "sandbox",
      "home",
      "token",
      "config",
      "disk",
      "daemon",
      "database",
      "tasks",
      "projects",
      "workflows",
      "runs",
      "calls",
    ])
      expect(names).toContain(name);
    const of = (checks: { name: string; level: string; found: string; fix: string }[], name: string) =>
      checks.filter((each) => each.name === name);
    expect(of(json.checks, "node")).toEqual([{ name: "node", level: "ok", found: process.versions.node, fix: "" }]);
    expect(json.covers).toContain("signalbox doctor");
    // As many tasks as the inbox has.
    const { tasks } = (await get("/v1/status")).json;
    expect(of(json.checks, "runs")[0]?.found).toMatch(new RegExp(`; ${tasks.needPerson} tasks? needs? you`));
    expect(of(json.checks, "database")).toEqual([{ name: "database", level: "ok", found: "sound", fix: "" }]);
    // The workflow of an earlier test.
    expect(of(json.checks, "workflows")[0]).toMatchObject({
      level: "error",
      fix: "signalbox workflow validate broken",
    });
    expect(json.ok).toBe(false);
  });

  test("says that the store is lost, or cannot save, also if the data that it can still read is sound", async () => {
    const asked = { params: {}, query: {}, body: {}, caller: { kind: "human" }, folder: "", lastEvent: "" } as never;
    const database = async (broken: Partial<typeof stage.core>) =>
      (await doctor({ ...stage.core, ...broken })(asked)).checks.filter(({ name }) => name === "database");
    const lost = new Fault("store.lost", "Its file was deleted.");
    const fix = "signalbox backup\nsignalbox down\nsignalbox doctor";
    expect(await database({ storeLoss: () => lost })).toEqual([
      { name: "database", level: "error", found: "Its file was deleted.", fix },
    ]);
    const full = new Fault("store.full", "The disk is full.", { hint: "Make room." });
    const [found] = await database({ unsaved: () => full } as never);
    expect(found).toMatchObject({ level: "error", fix: "Make room." });
  });
});

describe("the time line", () => {
  test("has each task's stretches until now, and only those of the window", async () => {
    const { id } = await create();
    const { json } = await get("/v1/timeline?project=coffee");
    const line = json.tasks.find((task: { id: string }) => task.id === id);
    expect(line).toMatchObject({ status: "todo", outcome: null });
    expect(line.stretches.at(0).from).toBe(line.createdAt);
    expect(line.stretches.at(-1)).toMatchObject({ state: "todo", until: json.until, dollars: null, unknown: 0 });
    const few = (await get("/v1/timeline?limit=1")).json;
    expect([few.tasks.length, few.more]).toEqual([1, json.tasks.length - 1]);
    const [since, late] = [new Date(Date.now() - 1_000).toISOString(), "2999-01-01T00:00:00.000Z"];
    expect((await get(`/v1/timeline?since=${since}`)).json.since).toBe(since);
    const shown = (await get(`/v1/timeline?since=${late}`)).json.tasks.find((task: { id: string }) => task.id === id);
    expect(shown.stretches).toEqual([]);
    const all = (await get(`/v1/timeline?limit=${json.tasks.length}`)).json;
    expect([all.tasks.length, all.more]).toEqual([json.tasks.length, 0]);
    await post("/v1/projects", { name: "tea", path: newRepository(stage.home, "tea"), poolSize: 1 });
    expect((await get("/v1/timeline?project=tea")).json).toMatchObject({ tasks: [], more: 0 });
  });

  test("refuses a beginning that is no date, and a project that is not there", async () => {
    expect((await get("/v1/timeline?since=yesterday")).json.error.code).toBe("request.invalid");
    expect((await get("/v1/timeline?project=none")).status).toBe(404);
  });
});

describe("the configuration", () => {
  const setting = async (key: string, query = "") =>
    (await get(`/v1/config${query}`)).json.settings.find((each: { key: string }) => each.key === key);

  test("is shown with where each value comes from; a project's own record and file go before the person's", async () => {
    expect(await setting("pool_size")).toMatchObject({ value: "4", source: "default", level: "project" });
    expect(await setting("pool_size", "?project=coffee")).toMatchObject({ value: "1000", source: "project" });
    const file = join(coffee, ".signalbox", "config.yml");
    mkdirSync(join(coffee, ".signalbox"), { recursive: true });
    writeFileSync(file, "keep: [venv]\nsetup: [make]\n");
    expect(await setting("keep", "?project=coffee")).toMatchObject({ value: "[venv]", source: "repository" });
    const { notes } = (await get("/v1/config?project=coffee")).json;
    expect(notes).toEqual([expect.objectContaining({ fix: "signalbox trust --config --project coffee" })]);
    writeFileSync(file, "keep: nothing like a list\n");
    const broken = (await get("/v1/config?project=coffee")).json;
    expect(broken.problems).toHaveLength(1);
    expect(broken.settings).not.toEqual([]);
    writeFileSync(file, "");
  });

  test("is shown without values that may have secrets in them", async () => {
    stage.configure({ setup: ["env", "TOKEN=abc", "true"], notifyWebhook: "https://a.b/c", keep: ["venv"] });
    expect(await setting("setup")).toMatchObject({ hidden: true, value: "", source: "user" });
    expect(await setting("notify.webhook")).toMatchObject({ hidden: true, value: "", source: "user" });
    expect(await setting("keep")).toMatchObject({ hidden: false, value: "[venv]" });
    stage.configure({});
  });
});
