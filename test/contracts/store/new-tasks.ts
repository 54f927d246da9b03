import { describe, expect, test } from "vitest";
import {
  sampleDecision,
  sampleDocument,
  sampleEffect,
  sampleProject,
  sampleTask,
  unwritableEvent,
} from "../samples.ts";
import type { Stage } from "../stage.ts";

export function newTasks(stage: Stage): void {
  describe("new tasks", () => {
    test("a new task is open, at revision 1, with its document, events and effects", async () => {
      const { task } = sampleTask("t1")(1);
      const created = await stage.create("t1", {}, { effects: [sampleEffect("notify")] });
      expect(created).toEqual({
        task,
        revision: 1,
        isOpen: true,
        createdAt: 1_000,
        updatedAt: 1_000,
        enteredAt: 1_000,
        order: created.order,
      });
      expect(await stage.store.getTask("t1")).toEqual(created);
      expect(await stage.store.getDocument("t1")).toEqual(sampleDocument("# t1\n"));
      expect(await stage.all()).toMatchObject([
        { task: "t1", project: "coffee", revision: 1, at: 1_000, event: { type: "task.created" } },
      ]);
      expect(await stage.owedBy("t1")).toEqual([["notify", "owed"]]);
    });

    test("numbers count from 1 in each project, without gaps, even with concurrent creation", async () => {
      await stage.store.addProject(sampleProject("tea"));
      const ids = Array.from({ length: 60 }, (_, i) => i);
      const results = await Promise.allSettled(
        ids.map((i) => {
          const project = i % 2 === 0 ? "coffee" : "tea";
          if (i % 5 === 4) return stage.store.createTask(project, () => refuse());
          return stage.create(`t${i}`, { project });
        }),
      );
      expect(results.filter(({ status }) => status === "rejected")).toHaveLength(12);
      for (const project of ["coffee", "tea"]) {
        const numbers = (await stage.store.listTasks({ project }, { limit: 100 })).map(({ task }) => task.number);
        expect(numbers.reverse()).toEqual(Array.from({ length: 24 }, (_, i) => i + 1));
      }
    });

    test("a number is never reused, even when its task is deleted", async () => {
      await stage.create("t1");
      await stage.create("t2");
      await stage.store.deleteTask("t2");
      expect((await stage.create("t3")).task.number).toBe(3);
      expect(await stage.store.findTask("coffee#2")).toBeUndefined();
    });

    test("a decision that throws leaves nothing behind", async () => {
      await expect(stage.store.createTask("coffee", refuse)).rejects.toThrow("refused");
      const unwritable = { events: [unwritableEvent("task.created")] };
      await expect(stage.create("t1", {}, unwritable)).rejects.toThrow(TypeError);
      expect(await stage.store.listTasks({}, { limit: 10 })).toEqual([]);
      expect(await stage.all()).toEqual([]);
      expect((await stage.create("t1")).task.number).toBe(1);
    });

    test("a task cannot be created without a project", async () => {
      await expect(stage.store.createTask("tea", sampleTask("t1"))).rejects.toMatchObject({
        code: "store.missing",
        message: expect.stringContaining("tea"),
        hint: expect.any(String),
      });
    });

    test("a parent has one child for each try at an item of its plan, even after the child has ended", async () => {
      const part = { stay: 3, item: "api", try: 1, title: "API", description: "", files: [], size: "M" } as const;
      await stage.create("p1");
      await stage.over(await stage.create("c1", { parent: "p1", part }));
      await expect(stage.create("c2", { parent: "p1", part: { ...part, slot: 2 } })).rejects.toMatchObject({
        code: "store.exists",
        message: 'Task c1 is try 1 at the part "api" of p1 already.',
      });
      const others = [
        { parent: "p1", part: { ...part, try: 2 } },
        { parent: "p1", part: { ...part, item: "web" } },
        { parent: "p1", part: { ...part, stay: 5 } },
        { parent: "p2", part },
        { parent: "p1" },
        { parent: "p1" },
      ];
      for (const [i, each] of others.entries()) await stage.create(`d${i}`, each);
      const created = await stage.store.listTasks({ parent: "p1" }, { limit: 10 });
      expect(created.map(({ task }) => task.number)).toEqual([8, 7, 5, 4, 3, 2]);
    });

    test("an id stays taken, even after its task has ended", async () => {
      await stage.over(await stage.create("t1"));
      await expect(stage.create("t1", { branch: "other" })).rejects.toMatchObject({ code: "store.exists" });
      expect((await stage.create("t2")).task.number).toBe(2);
    });

    test("a branch belongs to one open task of a project, and is free again when that task has ended", async () => {
      await stage.store.addProject(sampleProject("tea"));
      const first = await stage.create("t1", { branch: "fix" });
      await expect(stage.create("t2", { branch: "fix" })).rejects.toMatchObject({
        code: "store.exists",
        message: expect.stringContaining("t1"),
        hint: expect.stringContaining("t1"),
      });
      await stage.create("u1", { branch: "fix", project: "tea" });
      await stage.over(first);
      expect((await stage.create("t3", { branch: "fix" })).task.branch).toBe("fix");
    });

    test("of two concurrent tasks with the same branch, one gets it", async () => {
      const results = await Promise.allSettled([
        stage.create("t1", { branch: "fix" }),
        stage.create("t2", { branch: "fix" }),
      ]);
      expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    });

    test("any number of tasks can have no branch", async () => {
      await stage.create("t1", { branch: "" });
      await stage.create("t2", { branch: "" });
      expect(await stage.store.listTasks({}, { limit: 10 })).toHaveLength(2);
    });

    test("a decision cannot take a branch that another open task has, nor reopen a task whose branch is taken", async () => {
      const first = await stage.create("t1", { branch: "fix" });
      const second = await stage.create("t2", { branch: "other" });
      const taken = { code: "store.exists", message: expect.stringContaining('"fix"') };
      await expect(stage.store.saveDecision(sampleDecision(second, { branch: "fix" }))).rejects.toMatchObject(taken);
      const closed = await stage.over(first);
      await stage.create("t3", { branch: "fix" });
      const reopened = sampleDecision(closed, { status: "todo" }, { isOpen: true });
      await expect(stage.store.saveDecision(reopened)).rejects.toMatchObject(taken);
      expect(await stage.store.getTask("t1")).toEqual(closed);
      expect(await stage.store.getTask("t2")).toEqual(second);
    });
  });
}

function refuse(): never {
  throw new Error("refused");
}
