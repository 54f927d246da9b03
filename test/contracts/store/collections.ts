import { describe, expect, test } from "vitest";
import type {
  Agent,
  ChatQuestion,
  Conversation,
  Credential,
  Kept,
  Merge,
  Message,
  PullRequestRecord,
  Run,
  Usage,
  WebKey,
  WorkSize,
  Workspace,
} from "../../../src/ports/records.ts";
import type { Collection } from "../../../src/ports/store.ts";
import { sampleProject, sampleRecord } from "../samples.ts";
import type { Stage } from "../stage.ts";
import { tryTo } from "../try-to.ts";

const agent: Agent = {
  ...sampleRecord("r1"),
  ...{ role: "worker", harness: "claude", model: "fast", state: "stuck", reason: "π ☕ \u0000" },
};
const workspace: Workspace = { ...sampleRecord("r1"), path: "/src/coffee-1", kind: "worktree" };
const run: Run = {
  ...sampleRecord("r1"),
  ...{ key: "worker#1", role: "worker", harness: "claude", model: "fast", session: "", folder: "/src", pid: 7 },
  ...{ endedAt: undefined, word: "" },
};
const credential: Credential = {
  ...sampleRecord("r1"),
  ...{ role: "worker", run: "worker#1", expiresAt: 9_000, revokedAt: undefined },
};
const message: Message = { ...sampleRecord("r1"), from: "human", to: "worker", text: "Hot!", deliveredAt: undefined };
const conversation: Conversation = {
  ...sampleRecord("r1"),
  ...{ role: "scout", entries: [{ from: "human", text: "How hot?", at: 5 }] },
};
const usage: Usage = {
  ...sampleRecord("r1"),
  ...{ run: "worker#1", model: "fast", inputTokens: 9, outputTokens: 3, cachedTokens: 0, cost: 0.01 },
};
const merge: Merge = {
  ...sampleRecord("r1"),
  ...{ target: "main", strategy: "merge", to: "done", by: "human", state: "merged", reason: "", files: ["a b"] },
  ...{ commit: "c0ffee", before: "b0", after: "b1", endedAt: 7 },
};
const pullRequest: PullRequestRecord = {
  ...sampleRecord("r1"),
  ...{ number: 3, url: "https://forge/3", head: "brew", headCommit: "c0ffee", base: "main", title: "Brew", body: "" },
  ...{
    isDraft: false,
    state: "open",
    mergedCommit: "",
    review: "none",
    checks: "failing",
    comments: { "t1:1": "Hot!" },
  },
  ...{ seenAt: 5, told: { "": "π" } },
};
const chatQuestion: ChatQuestion = {
  ...sampleRecord("r1"),
  ...{ need: "t1:2:question", isOpen: true, changedAt: 7, sent: { "-100": { message: 3, isClosed: false } } },
};
const workSize: WorkSize = {
  ...sampleRecord("r1"),
  ...{ commit: "c0ffee", base: "b0", commits: 2, added: 30, removed: 4 },
};
const records = {
  ...{ agents: agent, workspaces: workspace, runs: run, credentials: credential },
  ...{ messages: message, conversations: conversation, usage },
  ...{ merges: merge, pullRequests: pullRequest, chatQuestions: chatQuestion, workSizes: workSize },
};
type Kind = keyof typeof records;

/** Records of every kind are stored in the same way, but each kind separately. */
export function collections(stage: Stage): void {
  const kinds = Object.keys(records) as Kind[];
  const of = (kind: Kind) => stage.store[kind] as Collection<Kept>;
  const ids = async (kind: Kind, filter: Parameters<Collection<Kept>["list"]>[0]) =>
    (await of(kind).list(filter)).map(({ id }) => id);

  describe("records", () => {
    test("of each kind are stored unchanged, separately from other kinds", async () => {
      for (const kind of kinds) await of(kind).put(records[kind]);
      for (const kind of kinds) {
        expect(await of(kind).get("r1")).toEqual(records[kind]);
        expect(await of(kind).list({})).toEqual([records[kind]]);
        await of(kind).remove("r1");
        expect(await of(kind).get("r1")).toBeUndefined();
      }
    });

    test("are deleted with their project", async () => {
      await stage.store.addProject(sampleProject("tea"));
      for (const kind of kinds) {
        await of(kind).put(sampleRecord("r1"));
        await of(kind).put(sampleRecord("r2", "", 1_000, "tea"));
      }
      await stage.store.removeProject("coffee");
      for (const kind of kinds) expect(await ids(kind, {})).toEqual(["r2"]);
    });

    test("are deleted with their task", async () => {
      for (const id of ["t1", "t2"]) await stage.create(id);
      for (const kind of kinds) {
        for (const task of ["", "t1", "t2"]) await of(kind).put(sampleRecord(`of ${task}`, task));
      }
      await stage.store.deleteTask("t1");
      await stage.create("t1", { branch: "again" });
      for (const kind of kinds) {
        expect(await ids(kind, {})).toEqual(["of ", "of t2"]);
        expect(await ids(kind, { task: "t1" })).toEqual([]);
      }
    });

    test("are replaced completely by a record with the same id", async () => {
      await stage.store.addProject(sampleProject("tea"));
      await stage.create("t1", { project: "tea" });
      await stage.store.agents.put(agent);
      const changed: Agent = { ...agent, project: "tea", task: "t1", at: 5, state: "idle" };
      await stage.store.agents.put(changed);
      expect(await stage.store.agents.get("r1")).toEqual(changed);
      expect(await stage.store.agents.list({ project: "coffee" })).toEqual([]);
      expect(await stage.store.agents.list({ project: "tea", task: "t1" })).toEqual([changed]);
    });

    test("are listed by project, by task, by both, and without a task", async () => {
      await stage.store.addProject(sampleProject("tea"));
      await stage.create("t1");
      await stage.create("u1", { project: "tea" });
      const { put } = stage.store.workspaces;
      for (const [id, task, project] of [
        ["r1", "t1", "coffee"],
        ["r2", "", "coffee"],
        ["r3", "u1", "tea"],
        ["r4", "", "tea"],
      ] as const) {
        await put({ ...workspace, id, task, project });
      }
      expect(await ids("workspaces", {})).toEqual(["r1", "r2", "r3", "r4"]);
      expect(await ids("workspaces", { project: "coffee" })).toEqual(["r1", "r2"]);
      expect(await ids("workspaces", { task: "u1" })).toEqual(["r3"]);
      expect(await ids("workspaces", { task: "" })).toEqual(["r2", "r4"]);
      expect(await ids("workspaces", { task: "", project: "tea" })).toEqual(["r4"]);
      expect(await ids("workspaces", { task: "t1", project: "tea" })).toEqual([]);
      expect(await ids("workspaces", { task: "t9" })).toEqual([]);
      expect(await ids("workspaces", { project: "ale" })).toEqual([]);
    });

    test("are listed the oldest first; those of the same time in the order of adding", async () => {
      const { put } = stage.store.messages;
      for (const [id, at] of Object.entries({ z: 30, y: 10, x: 20, w: 10 })) await put({ ...message, id, at });
      await put({ ...message, id: "y", at: 10, text: "again" });
      expect(await ids("messages", {})).toEqual(["y", "w", "x", "z"]);
      expect(await ids("messages", { project: "coffee" })).toEqual(["y", "w", "x", "z"]);
      expect(await ids("messages", { task: "" })).toEqual(["y", "w", "x", "z"]);
    });

    test("of runs are live until their end is recorded", async () => {
      const { store } = stage;
      for (const [id, at] of Object.entries({ z: 30, y: 10, x: 20 })) await store.runs.put({ ...run, id, at });
      const live = async () => (await store.liveRuns()).map(({ id }) => id);
      expect(await live()).toEqual(["y", "x", "z"]);
      await store.runs.put({ ...run, id: "x", at: 20, endedAt: 40, word: "ok" });
      await store.runs.remove("z");
      expect(await live()).toEqual(["y"]);
      expect(await store.liveRuns()).toEqual([{ ...run, id: "y", at: 10 }]);
    });

    test("must belong to an existing project and task", async () => {
      const missing = (name: string) => ({ code: "store.missing", message: expect.stringContaining(name) });
      await expect(stage.store.runs.put({ ...run, project: "tea" })).rejects.toMatchObject(missing("tea"));
      await expect(stage.store.runs.put({ ...run, task: "t9" })).rejects.toMatchObject(missing("t9"));
      expect(await stage.store.runs.list({})).toEqual([]);
    });

    test("that do not exist can be removed without an error", async () => {
      await stage.store.usage.remove("r9");
      expect(await stage.store.usage.get("r9")).toBeUndefined();
    });

    test("do not change when objects that were passed in or returned are changed", async () => {
      const given = { ...conversation, entries: [...conversation.entries] };
      await stage.store.conversations.put(given);
      given.entries.length = 0;
      const got = (await stage.store.conversations.get("r1"))?.entries as unknown[];
      tryTo(() => {
        got.length = 0;
      });
      expect(await stage.store.conversations.get("r1")).toEqual(conversation);
    });
  });

  describe("keys of browsers", () => {
    const link: WebKey = { id: "h1", kind: "link", at: 1, expiresAt: 60_001 };
    const session: WebKey = {
      ...{
        id: "h2",
        kind: "session",
        at: 2,
        expiresAt: 9,
        pageKey: "h3",
        address: "http://127.0.0.1:4711",
        browser: "π",
      },
    };

    test("are listed in the order in which they came, replaced by their id, and belong to no project", async () => {
      const { webKeys } = stage.store;
      for (const key of [link, session, { ...link, expiresAt: 7 }]) await webKeys.put(key);
      await stage.store.removeProject("coffee");
      expect(await webKeys.list()).toEqual([{ ...link, expiresAt: 7 }, session]);
    });

    test("are taken once, whoever else tries at the same time", async () => {
      const { webKeys } = stage.store;
      for (const key of [link, session]) await webKeys.put(key);
      const taken = await Promise.all([webKeys.take("h1"), webKeys.take("h1"), webKeys.take("h4")]);
      expect(taken).toEqual([link, undefined, undefined]);
      expect(await webKeys.list()).toEqual([session]);
    });
  });
}
