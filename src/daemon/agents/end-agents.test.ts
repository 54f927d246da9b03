import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { makePrivateFolder } from "../../home/make-folder.ts";
import { homePlaces } from "../../home/places.ts";
import type { Run } from "../../ports/records.ts";
import { createCallers } from "../callers.ts";
import { killAgent, killSession } from "./brake.ts";

async function stageOf() {
  const home = mkdtempSync(join(tmpdir(), "signalbox-end-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const places = homePlaces(home);
  makePrivateFolder(places.run);
  const store = createMemoryStore();
  await store.addProject({ name: "coffee" } as never);
  const clock = { now: () => 10, after: () => () => {} };
  const callers = createCallers(store, clock, "sbh_x");
  const run = { id: "/worker#1", project: "coffee", task: "", at: 1, key: "worker#1", session: "", pid: 0 } as Run;
  await store.runs.put(run);
  return { store, places, clock, callers, run };
}

const task = { id: "" } as never;
type EndAgentPorts = Parameters<typeof killAgent>[0];

test("the credential of a run counts no longer once the run is being killed, and that of another run stays", async () => {
  for (const [how, ends] of [
    [(ports: EndAgentPorts) => killAgent(ports), ["worker#1"]],
    [(ports: EndAgentPorts) => killSession(ports), ["worker#1", "judge#1"]],
  ] as const) {
    const { run, callers, ...ports } = await stageOf();
    await ports.store.runs.put({ ...run, id: "/judge#1", key: "judge#1" });
    const issue = (key: string) =>
      callers.issue({ project: "coffee", task: "", at: 1, role: "", run: key, expiresAt: 99 }, key);
    const tokens = await Promise.all(["worker#1", "judge#1"].map(issue));
    const over = async () => (await Promise.all(tokens.map(callers.of))).map((who) => who.kind === "run" && who.isOver);
    expect(await over()).toEqual([false, false]);
    const seen: unknown[] = [];
    const kill = async ({ key }: Run) => void seen.push(key, (await over()).at(key === "worker#1" ? 0 : 1));
    await how({ ...ports, callers, kill })({ action: "kill_agent", params: { run: "worker#1" } }, { task, key: "" });
    expect(seen).toEqual(ends.flatMap((key) => [key, true]));
    expect(await over()).toEqual([true, ends.length > 1]);
  }
});

test("a session that a run reports while it is being ended is kept, so that it can be resumed", async () => {
  const { store, run, ...ports } = await stageOf();
  const kill = killAgent({ ...ports, store, kill: (ended) => store.runs.put({ ...ended, session: "said at last" }) });
  await kill({ action: "kill_agent", params: { run: "worker#1" } }, { task, key: "" });
  expect(await store.runs.get(run.id)).toMatchObject({ session: "said at last", endedAt: 10, word: "killed" });
});
