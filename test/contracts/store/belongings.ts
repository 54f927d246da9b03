import { describe, expect, test } from "vitest";
import { sampleArtifact, sampleDocument, sampleEffect, sampleEvent, unwritableEvent } from "../samples.ts";
import type { Stage } from "../stage.ts";

export function belongings(stage: Stage): void {
  describe("what belongs to a task", () => {
    test("a document is the text that was last saved, or empty if there is none", async () => {
      await stage.create("t1");
      const text = "## Plan\r\n\tπ ☕ 𝕊 \u0000 \u{10ffff}\n".repeat(500);
      for (const document of [sampleDocument(text, "worker"), sampleDocument("", "human"), sampleDocument("")]) {
        await stage.store.saveDocument("t1", document, [], 1);
        expect(await stage.store.getDocument("t1")).toEqual(document);
      }
      expect(await stage.store.getDocument("t9")).toEqual({ text: "", authors: {} });
      await expect(stage.store.saveDocument("t9", sampleDocument("x"), [], 1)).rejects.toMatchObject({
        code: "store.missing",
      });
    });

    test("a document and the events about its authors are saved together, and the task does not change", async () => {
      const before = await stage.create("t1");
      const document = sampleDocument("## Plan\n", "worker");
      const events = [sampleEvent("task.attended"), sampleEvent("task.held")];
      await stage.store.saveDocument("t1", document, events, 7_000);
      expect(await stage.store.getTask("t1")).toEqual(before);
      expect((await stage.all("t1")).slice(1)).toMatchObject([
        { revision: 1, at: 7_000, event: { type: "task.attended" } },
        { revision: 1, at: 7_000, event: { type: "task.held" } },
      ]);
      const unwritable = unwritableEvent("task.held");
      const lost = stage.store.saveDocument(
        "t1",
        sampleDocument("lost"),
        [sampleEvent("task.held"), unwritable],
        8_000,
      );
      await expect(lost).rejects.toThrow(TypeError);
      expect(await stage.store.getDocument("t1")).toEqual(document);
      expect(await stage.all("t1")).toHaveLength(3);
    });

    test("artifacts are stored unchanged and in the order of adding", async () => {
      await stage.create("t1");
      await stage.create("t2");
      const plans = ["Plan", "Handoff", "Plan"].map((section) => sampleArtifact("t1", section));
      for (const plan of plans) await stage.store.addArtifact(plan);
      expect(await stage.store.listArtifacts("t1")).toEqual(plans);
      expect(await stage.store.listArtifacts("t2")).toEqual([]);
      const document = { ...sampleArtifact("t1", "Map"), hash: "def", document: { type: "context", state: "packing" } };
      await stage.store.addArtifact(document);
      expect(await stage.store.listArtifacts("t1")).toEqual([...plans, document]);
      expect(await stage.store.artifactText("t1", "def")).toBe("Map!");
      expect(await stage.store.artifactText("t1", "ghi")).toBeUndefined();
      expect(await stage.store.artifactText("t2", "def")).toBeUndefined();
      await expect(stage.store.addArtifact(sampleArtifact("t9", "Plan"))).rejects.toMatchObject({
        code: "store.missing",
      });
    });

    test("a workflow is stored by its hash, and its text never changes", async () => {
      await stage.store.saveWorkflow({ hash: "h1", name: "default", text: "name: default" });
      await stage.store.saveWorkflow({ hash: "h1", name: "other", text: "other" });
      expect(await stage.store.getWorkflow("h1")).toEqual({ hash: "h1", name: "default", text: "name: default" });
      expect(await stage.store.getWorkflow("h2")).toBeUndefined();
    });

    test("a task is deleted with all its records; other tasks are untouched", async () => {
      for (const id of ["t1", "t2"]) {
        await stage.create(id, {}, { effects: [sampleEffect("notify")] });
        await stage.store.addArtifact(sampleArtifact(id, "Plan"));
      }
      const [effect] = await stage.store.listEffects("t1");
      await stage.store.deleteTask("t1");
      expect(await stage.store.getTask("t1")).toBeUndefined();
      expect(await stage.store.findTask("coffee#1")).toBeUndefined();
      expect(await stage.store.getDocument("t1")).toEqual({ text: "", authors: {} });
      expect(await stage.store.listEffects("t1")).toEqual([]);
      expect(await stage.store.listArtifacts("t1")).toEqual([]);
      expect(await stage.all("t1")).toEqual([]);
      expect((await stage.all()).map((event) => event.task)).toEqual(["t2"]);
      expect((await stage.store.dueEffects(9_999, 9)).map((each) => each.task)).toEqual(["t2"]);
      expect(await stage.store.getDocument("t2")).toEqual(sampleDocument("# t2\n"));
      expect(await stage.store.listArtifacts("t2")).toHaveLength(1);
      await expect(stage.store.finishEffect(effect?.id ?? 0, 1)).rejects.toMatchObject({ code: "store.missing" });
      await expect(stage.store.deleteTask("t1")).rejects.toMatchObject({ code: "store.missing" });
      await stage.create("t1");
      expect(await stage.store.listEffects("t1")).toEqual([]);
      expect(await stage.store.getDocument("t1")).toEqual(sampleDocument("# t1\n"));
    });
  });
}
