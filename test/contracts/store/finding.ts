import { describe, expect, test } from "vitest";
import type { Store } from "../../../src/ports/store.ts";
import { sampleProject } from "../samples.ts";
import type { Stage } from "../stage.ts";

export function finding(stage: Stage): void {
  describe("finding", () => {
    const found = async (...query: Parameters<Store["findTask"]>) => (await stage.store.findTask(...query))?.task.id;

    test("a task is found by its id, by project and number, by number within a project", async () => {
      await stage.store.addProject(sampleProject("tea"));
      await stage.create("t1");
      await stage.create("t2");
      await stage.create("u1", { project: "tea" });
      expect(await found("t2")).toBe("t2");
      expect(await found("coffee#2")).toBe("t2");
      expect(await found("coffee#1", "tea")).toBe("t1");
      expect(await found("#1", "tea")).toBe("u1");
      expect(await found("#1")).toBeUndefined();
      expect(await found("coffee#9")).toBeUndefined();
      expect(await found("coffee#99999999999999999999")).toBeUndefined();
      expect(await found("nothing")).toBeUndefined();
      expect(await found("")).toBeUndefined();
    });

    test("an open task is found by its branch, even if that looks like a number", async () => {
      const stored = await stage.create("t1", { branch: "fix" });
      await stage.create("t2", { branch: "issue#7" });
      expect(await found("fix")).toBe("t1");
      expect(await found("issue#7")).toBe("t2");
      await stage.over(stored);
      expect(await found("fix")).toBeUndefined();
    });

    test("a branch of two projects identifies a task only together with the project", async () => {
      await stage.store.addProject(sampleProject("tea"));
      await stage.create("t1", { branch: "fix" });
      await stage.create("u1", { branch: "fix", project: "tea" });
      expect(await found("fix")).toBeUndefined();
      expect(await found("fix", "tea")).toBe("u1");
      expect(await found("fix", "ale")).toBeUndefined();
    });

    test("a task without a branch is not found by an empty reference", async () => {
      await stage.create("t1", { branch: "" });
      expect(await found("")).toBeUndefined();
      expect(await found("", "coffee")).toBeUndefined();
    });

    test("tasks are listed newest first, by every combination of filters", async () => {
      await stage.store.addProject(sampleProject("tea"));
      const shapes: { project: string; status: string; parent: string; isOpen: boolean }[] = [];
      for (const project of ["coffee", "tea"])
        for (const status of ["todo", "working"])
          for (const parent of ["", "t0"])
            for (const isOpen of [true, false]) shapes.push({ project, status, parent, isOpen });
      const ids = new Map<string, (typeof shapes)[number]>();
      for (const [i, { isOpen, ...shape }] of [...shapes, ...shapes].entries()) {
        const stored = await stage.create(`t${i + 1}`, shape);
        if (!isOpen) await stage.over(stored);
        ids.set(`t${i + 1}`, { ...shape, isOpen });
      }
      for (let bits = 0; bits < 16; bits++) {
        for (const shape of shapes) {
          const keys = (["project", "status", "parent", "isOpen"] as const).filter((_, i) => bits & (1 << i));
          const filter = Object.fromEntries(keys.map((key) => [key, shape[key]]));
          const expected = [...ids].filter(([, each]) => keys.every((key) => each[key] === shape[key]));
          const listed = await stage.store.listTasks(filter, { limit: 100 });
          expect(listed.map(({ task }) => task.id)).toEqual(expected.map(([id]) => id).reverse());
        }
      }
      expect(await stage.store.listTasks({ project: "ale" }, { limit: 9 })).toEqual([]);
    });

    test("pages have no gaps and no duplicates while tasks are being added", async () => {
      const before = Array.from({ length: 23 }, (_, i) => `t${i}`);
      for (const id of before) await stage.create(id);
      const seen: string[] = [];
      let added = 0;
      for (let last: number | undefined; ; ) {
        const page = await stage.store.listTasks({}, last === undefined ? { limit: 5 } : { before: last, limit: 5 });
        if (page.length === 0) break;
        seen.push(...page.map(({ task }) => task.id));
        last = page.at(-1)?.order;
        await Promise.all([stage.create(`n${added++}`), stage.create(`n${added++}`)]);
      }
      expect(seen).toEqual(before.reverse());
      expect(added).toBe(10);
    });
  });
}
