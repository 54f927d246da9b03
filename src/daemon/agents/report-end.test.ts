import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { removeFolder } from "../../../test/remove-folder.ts";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import { makePrivateFolder } from "../../home/make-folder.ts";
import { homePlaces } from "../../home/places.ts";
import type { Run } from "../../ports/records.ts";
import type { Answer } from "../submit.ts";
import { reportEnd } from "./run-record.ts";

const run: Run = {
  ...{ id: "t1/worker#1", project: "coffee", task: "t1", at: 0, key: "worker#1", role: "worker", harness: "any" },
  ...{ model: "", session: "", folder: "/", pid: 1, endedAt: undefined, word: "" },
};

/** What happened, in order, and the final record. `meanwhile` happens while the end is reported to the engine. */
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
      return { decision: { kind: "ignored", why: "" } } as unknown as Answer;
    },
  };
  await reportEnd(ports, "t1", "worker#1", { word: "exit" });
  return { happened, record: await store.runs.get(run.id) };
}

test("the credential is revoked before the engine is notified, and the record is closed afterwards", async () => {
  const { happened, record } = await report();
  expect(happened).toEqual(["revoked: open", "told: open"]);
  expect(record).toMatchObject({ endedAt: 1_000, word: "exit" });
});

test("an end that was recorded when the run was killed is not overwritten", async () => {
  const { record } = await report({ endedAt: 500, word: "killed" });
  expect(record).toMatchObject({ endedAt: 500, word: "killed" });
});
