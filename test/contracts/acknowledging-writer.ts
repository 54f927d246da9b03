// Run by sqlite-faults.test.ts, which kills it. Saves decisions about several tasks concurrently and prints each as
// soon as the store has acknowledged it: `saved <task> <revision>`, `finished <effect>`.
import { writeSync } from "node:fs";
import { openSqliteStore } from "../../src/adapters/sqlite/store.ts";
import { sampleDecision, sampleDocument, sampleEffect, sampleEvent, sampleProject, sampleTask } from "./samples.ts";

const store = openSqliteStore(process.argv[2] ?? "");
const say = (...words: readonly unknown[]) => writeSync(1, `${words.join(" ")}\n`);
if ((await store.getProject("coffee")) === undefined) await store.addProject(sampleProject());
await Promise.all(Array.from({ length: 8 }, (_, i) => work(`t${i}`)));

async function work(id: string): Promise<never> {
  let stored =
    (await store.getTask(id)) ??
    (await store.createTask("coffee", sampleTask(id, {}, { document: sampleDocument("revision 1") })));
  for (;;) {
    const next = `revision ${stored.revision + 1}`;
    stored = await store.saveDecision(
      sampleDecision(
        stored,
        { summary: next, entry: stored.revision + 1, status: stored.revision % 2 === 0 ? "todo" : "working" },
        {
          events: [sampleEvent("task.moved", { summary: next })],
          effects: [sampleEffect("notify")],
          document: sampleDocument(next),
        },
      ),
    );
    say("saved", id, stored.revision);
    const [owed] = await store.openEffects(id);
    if (owed === undefined) throw new Error(`${id} owes nothing after ${next}.`);
    await store.finishEffect(owed.id, stored.revision);
    say("finished", owed.id);
  }
}
