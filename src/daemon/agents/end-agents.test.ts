import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { makePrivateFolder } from "../../home/make-folder.ts";
import { homePlaces } from "../../home/places.ts";
import type { Run } from "../../ports/records.ts";
import { killAgent } from "./brake.ts";

test("a session that a run reports while it is being ended is kept, so that it can be resumed", async () => {
  const home = mkdtempSync(join(tmpdir(), "signalbox-end-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const places = homePlaces(home);
  makePrivateFolder(places.run);
  const store = createMemoryStore();
  await store.addProject({ name: "coffee" } as never);
  const run = { id: "/worker#1", project: "coffee", task: "", at: 1, key: "worker#1", session: "", pid: 0 } as Run;
  await store.runs.put(run);
  const kill = killAgent({
    ...{ store, places, clock: { now: () => 10, after: () => () => {} } },
    callers: { revoke: async () => {} },
    kill: (ended) => store.runs.put({ ...ended, session: "said at last" }),
  });
  await kill({ action: "kill_agent", params: { run: "worker#1" } }, { task: { id: "" } as never, key: "" });
  expect(await store.runs.get(run.id)).toMatchObject({ session: "said at last", endedAt: 10, word: "killed" });
});
