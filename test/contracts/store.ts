import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../src/ports/store.ts";
import { sampleDocument, sampleEffect, sampleProject } from "./samples.ts";
import { createStage } from "./stage.ts";
import { belongings } from "./store/belongings.ts";
import { collections } from "./store/collections.ts";
import { decisions } from "./store/decisions.ts";
import { effects } from "./store/effects.ts";
import { finding } from "./store/finding.ts";
import { history } from "./store/history.ts";
import { newTasks } from "./store/new-tasks.ts";
import { projects } from "./store/projects.ts";

/** Every store passes this; a new store adds one line. */
export function storeContract(name: string, open: () => Promise<Store>): void {
  describe(`${name} store`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
      await store.addProject(sampleProject());
    });
    afterEach(() => store.close());

    const stage = createStage(() => store);
    for (const part of [projects, newTasks, decisions, history, effects, finding, belongings, collections]) part(stage);

    test("the check finds no damage in an intact store", async () => {
      await stage.create("t1", {}, { effects: [sampleEffect("notify")] });
      expect(await store.check()).toEqual([]);
    });

    test("a closed store says so, and pending writes are saved or refused, never left open", async () => {
      await stage.create("t1");
      const closed = { code: "store.closed", hint: expect.any(String) };
      const written = store.saveDocument("t1", sampleDocument("last words"), [], 1);
      const closing = store.close();
      const late = expect(store.saveDocument("t1", sampleDocument("too late"), [], 1)).rejects.toMatchObject(closed);
      await written;
      await closing;
      await late;
      await expect(store.getTask("t1")).rejects.toMatchObject(closed);
      await expect(store.saveDocument("t1", sampleDocument("x"), [], 1)).rejects.toMatchObject(closed);
      await store.close();
    });
  });
}
