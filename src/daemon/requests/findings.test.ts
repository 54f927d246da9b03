import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { builtIn, drive } from "../../../test/engine/drive.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { emptyLedger } from "../../engine/findings.ts";
import { takeReview } from "../../engine/review.ts";
import { lastReview, verdictWords } from "../../engine/review-words.ts";
import type { Core } from "../core.ts";
import { listFindings } from "./findings.ts";

const workflow = builtIn("team-subtask");
const part = { item: "api", title: "The API", description: "", stay: 1, try: 1, size: "M", files: [] } as const;

async function view(task: string) {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  const context = { role: "architect", commit: "c1", hasChanged: () => true };
  const { ledger } = takeReview(emptyLedger, [{ title: "It is cold", file: "cup.ts" }], context);
  const results = { review: { approved: false, feedback: "Warm it." } };
  const quiet = { ...drive(workflow).task, results, ledger: { ...emptyLedger, round: 3 } };
  await store.createTask("coffee", sampleTask("t1", quiet));
  await store.createTask("coffee", sampleTask("t2", { parent: "t1", part, ledger }));
  const core = { store, workflows: { get: async () => workflow } } as unknown as Core;
  const asked = { params: { task }, query: {}, caller: { kind: "human" } };
  return listFindings(core)(asked as never);
}

test("reviews that named no findings are counted, with the words of the last one", async () => {
  expect(await view("t1")).toMatchObject({ round: 3, findings: [], said: "Warm it." });
});

test("the findings of a parent name its parts that were reviewed", async () => {
  expect(await view("t1")).toMatchObject({ parts: [{ task: "t2", item: "api", round: 1, open: 1, found: 1 }] });
  expect(await view("t2")).toMatchObject({ parts: [], findings: [{ id: "F1" }] });
});

test("the words of a review of something else are not those of the review with findings", async () => {
  const pipeline = builtIn("pipeline");
  const results = { review: { outcome: "done", summary: "Spec ok" }, findings: { findings: [] } };
  const task = { ...drive(pipeline).task, results, ledger: { ...emptyLedger, round: 1 } };
  expect(lastReview(pipeline, task)).toBe("");
  const spec = Object.values(pipeline.states).find(({ wait }) => wait.kind === "agent" && wait.run.result === "review");
  if (spec === undefined) throw new Error("No state reviews the specification.");
  expect(verdictWords(pipeline, spec, task, results.review, undefined)).toBe("The reviewer's last words: Spec ok");
});
