import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { CorePorts } from "../../src/daemon/core-ports.ts";
import { createCore } from "../../src/daemon/create-core.ts";
import type { Performers } from "../../src/daemon/perform.ts";
import type { Submit } from "../../src/daemon/submit.ts";
import { type Creation, createTask } from "../../src/engine/create.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { blankIdentity } from "../../src/engine/task.ts";
import { makePrivateFolder } from "../../src/home/make-folder.ts";
import { homePlaces } from "../../src/home/places.ts";
import type { Store } from "../../src/ports/store.ts";
import type { Log } from "../../src/ports/system.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { removeFolder } from "../remove-folder.ts";
import { createScriptedClock, type ScriptedClock } from "../scripted-ports.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent, close: async () => {} };

/** A core in memory with a scripted clock. `more` adds or replaces parts of the core. */
export async function coreStage(
  text: string,
  poolSize = 1,
  store: Store = createMemoryStore(),
  more: (clock: ScriptedClock, submit: Submit) => Partial<CorePorts> = () => ({}),
  furnish: (home: string) => void = () => {},
) {
  const { workflow, problems } = loadWorkflow(text, "test.yml");
  if (workflow === undefined) throw new Error(JSON.stringify(problems));
  const home = mkdtempSync(join(tmpdir(), "signalbox-core-"));
  onTestFinished(() => removeFolder(home));
  makePrivateFolder(homePlaces(home).run);
  furnish(home);
  const clock = createScriptedClock(1_000_000);
  const errors: unknown[] = [];
  const nothing: Performers = Object.fromEntries(
    ["acquire_workspace", "spawn_agent", "notify_agent", "notify", "run_command"].map((name) => [name, async () => {}]),
  );
  let newest: ReturnType<typeof createCore>;
  const others = more(clock, (...asked) => newest.submit(...asked));
  const start = () => {
    const core = createCore({
      version: "1.0.0",
      home,
      store,
      clock,
      ids: { task: () => "bbbbb", secret: () => "0".repeat(48) },
      log: { ...silent, error: (message, fields) => errors.push([message, fields]) },
      commands: { run: async () => ({ code: 0, timedOut: false, output: "" }) },
      humanToken: "sbh_x",
      performers: () => nothing,
      config: () => ({ values: {}, problems: [] }),
      stop: () => {},
      ...others,
    });
    newest = core;
    return core;
  };
  const core = start();
  const settings = {
    workflow: "",
    harness: "",
    reviewHarness: "",
    branchPrefix: "",
    workspaces: "clone",
    createdAt: 0,
  } as const;
  if ((await store.getProject("coffee")) === undefined) {
    await store.addProject({ name: "coffee", path: home, defaultBranch: "main", poolSize, ...settings });
    await core.workflows.keep(workflow, text);
  }
  await core.recover();
  return {
    core,
    store,
    clock,
    errors,
    start,
    /** The core that was started last. */
    newest: () => newest,
    async create(id: string, identity: Partial<Creation> = {}) {
      const facts = { ...(await core.factsOf({ ...blankIdentity, id, project: "coffee" } as never)), poolFull: false };
      const stored = await core.store.createTask("coffee", (number) => {
        const given = { ...blankIdentity, id, project: "coffee", number, summary: "Brew", branch: id, ...identity };
        const decision = createTask(workflow, given, facts);
        if (decision.kind !== "moved") throw new Error(JSON.stringify(decision));
        const { task, events, effects } = decision;
        return { task, document: { text: "", authors: {} }, events, effects, at: clock.now() };
      });
      core.changed(stored);
    },
    /** Advances the clock by this much, and waits until everything has settled. */
    async rest(milliseconds = 0) {
      for (let i = 0; i < 12; i++) await clock.pass(i === 0 ? milliseconds : 0);
    },
    statuses: async (...ids: readonly string[]) =>
      Promise.all(ids.map(async (id) => (await store.getTask(id))?.task.status)),
  };
}
