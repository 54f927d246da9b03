import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { removeFolder } from "../../../test/remove-folder.ts";
import { createMemoryStore } from "../../adapters/store/memory.ts";
import { makePrivateFolder } from "../../home/make-folder.ts";
import { homePlaces } from "../../home/places.ts";
import type { Run } from "../../ports/records.ts";
import { createScriptedClock } from "../../testing/scripted-clock.ts";
import type { Answer } from "../submit.ts";
import { reportEnd } from "./report-end.ts";

const run: Run = {
  ...{ id: "t1/worker#1", project: "coffee", task: "t1", at: 0, key: "worker#1", role: "worker", harness: "any" },
  ...{ model: "", session: "", folder: "/", pid: 1, endedAt: undefined, word: "" },
};

/** What happened, in order, and the record as it is then. `meanwhile` happens while the engine is told. */
async function report(meanwhile: Partial<Run> = {}) {
  const home = mkdtempSync(join(tmpdir(), "signalbox-report-"));
  onTestFinished(() => removeFolder(home));
  const places = homePlaces(home);
  makePrivateFolder(places.run);
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("t1"));
  await store.runs.put(run);
  const happened: string[] = [];
  const noteWord = async (what: string) => {
    const known = await store.runs.get(run.id);
    happened.push(`${what}: ${known?.endedAt === undefined ? "open" : "closed"}`);
  };
  const ports = {
    ...{ store, places, clock: createScriptedClock(1_000) },
    callers: { revoke: () => noteWord("revoked") },
    async submit() {
      await noteWord("told");
      await store.runs.put({ ...run, ...meanwhile });
      return {} as Answer;
    },
  };
  await reportEnd(ports, "t1", "worker#1", { word: "exit" });
  return { happened, record: await store.runs.get(run.id) };
}

test("the credential is worth nothing before the engine is told, and the record is closed after that", async () => {
  const { happened, record } = await report();
  expect(happened).toEqual(["revoked: open", "told: open"]);
  expect(record).toMatchObject({ endedAt: 1_000, word: "exit" });
});

test("what was noted of a run's end by whoever ended it stays", async () => {
  const { record } = await report({ endedAt: 500, word: "killed" });
  expect(record).toMatchObject({ endedAt: 500, word: "killed" });
});
