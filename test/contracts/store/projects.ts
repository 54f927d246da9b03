import { describe, expect, test } from "vitest";
import { sampleEffect, sampleProject } from "../samples.ts";
import type { Stage } from "../stage.ts";

export function projects(stage: Stage): void {
  describe("projects", () => {
    test("a project is stored unchanged under its name", async () => {
      expect(await stage.store.getProject("coffee")).toEqual(sampleProject());
      expect(await stage.store.getProject("tea")).toBeUndefined();
    });

    test("projects are listed by name", async () => {
      for (const each of ["tea", "ale", "Zinc"]) await stage.store.addProject(sampleProject(each));
      expect((await stage.store.listProjects()).map((project) => project.name)).toEqual([
        "Zinc",
        "ale",
        "coffee",
        "tea",
      ]);
    });

    test("a name can be used only once", async () => {
      await expect(stage.store.addProject({ ...sampleProject(), poolSize: 9 })).rejects.toMatchObject({
        code: "store.exists",
        hint: expect.stringContaining("--name"),
      });
      expect((await stage.store.getProject("coffee"))?.poolSize).toBe(2);
    });

    test("a change keeps the other fields, and returns the updated project", async () => {
      const changed = { ...sampleProject(), poolSize: 7 };
      expect(await stage.store.updateProject("coffee", { poolSize: 7 })).toEqual(changed);
      expect(await stage.store.getProject("coffee")).toEqual(changed);
    });

    test("a missing project cannot be changed or removed", async () => {
      const missing = { code: "store.missing", hint: expect.any(String) };
      await expect(stage.store.updateProject("tea", { poolSize: 1 })).rejects.toMatchObject(missing);
      await expect(stage.store.removeProject("tea")).rejects.toMatchObject(missing);
    });

    test("a project with open tasks cannot be removed; otherwise its tasks and their history are removed with it", async () => {
      await stage.store.addProject(sampleProject("tea"));
      await stage.create("u1", { project: "tea" });
      const first = await stage.create("t1", {}, { effects: [sampleEffect("notify")] });
      await stage.create("t2");
      await expect(stage.store.removeProject("coffee")).rejects.toMatchObject({
        code: "store.in-use",
        message: expect.stringContaining("2 open tasks"),
      });
      await stage.over(first);
      await stage.store.deleteTask("t2");
      await stage.store.removeProject("coffee");
      expect(await stage.store.getProject("coffee")).toBeUndefined();
      expect(await stage.store.getTask("t1")).toBeUndefined();
      expect((await stage.all()).map((event) => event.task)).toEqual(["u1"]);
      expect(await stage.store.dueEffects(9_999, 10)).toEqual([]);
      expect(await stage.store.getTask("u1")).toBeDefined();
    });
  });
}
