import { linkSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import type { Run } from "../../ports/records.ts";
import { whyUnsealed } from "./sealed-file.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-sealed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, "TASK.md");
writeFileSync(path, "## Review\n\nVerdict: PASS\n");

const runOf = (task: string, key: string, isConfined: boolean | undefined, times: Partial<Run> = {}): Run => ({
  ...{ id: `${task}/${key}`, project: "coffee", task, at: 100, key, role: key.split("#")[0] ?? "", harness: "" },
  ...{ model: "", session: "", folder, pid: 1, endedAt: undefined, word: "" },
  started: {
    ...{ name: "a-1", mode: "session", window: "", at: 0, entry: 1, part: 0, isResumed: false },
    ...{ transcript: "", transcriptFrom: 0, raised: "", ...(isConfined === undefined ? {} : { isConfined }) },
  },
  ...times,
});
const judge = runOf("t1", "reviewer#2", true);
const file = { role: "reviewer", run: "reviewer#2", text: "", path, isOwn: true, isShared: true };

/** Why the file of the reviewer of `t1` is not its own alone, if these runs are recorded. */
async function unsealed(runs: readonly Run[], change: Partial<typeof file> = {}): Promise<string> {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  for (const id of ["t1", "t2"]) await store.createTask("coffee", sampleTask(id));
  for (const run of runs) await store.runs.put(run);
  return whyUnsealed(store, { id: "t1" }, { ...file, ...change });
}

test("the file of a sandboxed judge in its own checkout is sealed while all other agents have sandboxes", async () => {
  const others = [runOf("t1", "worker#1", true), runOf("t2", "worker#1", true)];
  expect(await unsealed([judge, ...others])).toBe("");
});

test("the record of the run's start decides, and an old record says nothing of a sandbox", async () => {
  for (const isConfined of [false, undefined])
    expect(await unsealed([runOf("t1", "reviewer#2", isConfined)])).toContain("no sandbox");
  expect(await unsealed([])).toContain("no sandbox");
});

test("a file in a folder that the run shares with others is not sealed", async () => {
  expect(await unsealed([judge], { isOwn: false })).toContain("shared");
});

test("a run of the same task without a sandbox may have left a process, whenever it ended", async () => {
  expect(await unsealed([judge, runOf("t1", "worker#1", false, { endedAt: 10 })])).toContain("t1/worker#1");
});

test("a run of another task without a sandbox counts only if it was there at the same time", async () => {
  expect(await unsealed([judge, runOf("t2", "worker#1", false)])).toContain("t2/worker#1");
  expect(await unsealed([judge, runOf("t2", "worker#1", false, { endedAt: 100 })])).toContain("t2/worker#1");
  expect(await unsealed([judge, runOf("t2", "worker#1", false, { endedAt: 99 })])).toBe("");
});

test("a file that is a link, has a second name or is gone is not sealed", async () => {
  symlinkSync(path, join(folder, "link.md"));
  writeFileSync(join(folder, "one.md"), "");
  linkSync(join(folder, "one.md"), join(folder, "two.md"));
  for (const name of ["link.md", "two.md", "missing.md"])
    expect(await unsealed([judge], { path: join(folder, name) })).toContain("link");
});
