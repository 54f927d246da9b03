import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../test/contracts/samples.ts";
import { builtIn } from "../../test/engine/drive.ts";
import { createMemoryStore } from "../../test/memory-store/memory-store.ts";
import { createFacts, gatherFacts } from "./look.ts";

const worker = { role: "worker", run: "worker#1" };
const reviewer = { role: "reviewer", run: "reviewer#2" };
const pass = "## Review\n\nVerdict: PASS\n";

/** A task in review; the reviewer's file, in a workspace that other agents can write to, says that the work passes. */
async function seenBy(given: Parameters<typeof gatherFacts>[2]) {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  const change = { status: "agent-review", workspace: "/w" };
  const { task } = await store.createTask("coffee", sampleTask("t1", change, { document: { text: "", authors: {} } }));
  const workflow = builtIn("default");
  const facts = { head: "c1", numbers: { workspace: 1 }, taskFileTracked: false };
  const { document, changes } = await gatherFacts(
    {
      ...{ store, workflowOf: async () => workflow, factsOf: createFacts(store, async () => false) },
      outsideOf: async () => ({
        files: [{ ...reviewer, text: pass, path: "/w/TASK.md", isOwn: false, isShared: true }],
        facts,
        unreadable: undefined,
        gone: [],
      }),
    },
    task,
    given,
  );
  return { author: document.authors.Review?.run, changes: changes.map(({ type }) => type) };
}

test("the text of a reviewer's shared file counts once the reviewer itself asks for a state", async () => {
  const asked = await seenBy({ ...reviewer, text: undefined, asks: true });
  expect(asked).toEqual({ author: "reviewer#2", changes: ["document.changed"] });
});

test("the text of a shared file does not count when another caller asks, or when the reviewer asks for something else", async () => {
  for (const given of [
    { ...worker, text: undefined, asks: true },
    { role: "human", text: undefined, asks: true },
    { ...reviewer, text: undefined },
    { role: "engine", text: undefined },
  ])
    expect(await seenBy(given)).toEqual({ author: undefined, changes: [] });
});

test("text that the reviewer left in a shared file when it ended does not count, and the history shows it", async () => {
  const ended = await seenBy({ role: "engine", text: undefined, ended: reviewer.run });
  expect(ended).toEqual({ author: undefined, changes: ["document.unclaimed"] });
});
