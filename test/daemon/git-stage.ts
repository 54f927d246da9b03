import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { createMemoryStore } from "../../src/adapters/store/memory.ts";
import { type CorePorts, createCore } from "../../src/daemon/create-core.ts";
import { createTask } from "../../src/engine/create.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { blankIdentity } from "../../src/engine/task.ts";
import { makePrivateFolder } from "../../src/home/make-folder.ts";
import { homePlaces } from "../../src/home/places.ts";
import type { Log } from "../../src/ports/log.ts";
import { realWorkspaces } from "../real-workspaces.ts";

/** Workspaces come and go, and people decide everything else. */
export const plainFlow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  judged: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, hooks: [release_workspace] }
  - { from: busy, to: judged, gate: { section: "## Handoff", fields: [DONE] } }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`;
export const human = { role: "human" };

export interface GitStageOptions {
  readonly poolSize?: number;
  readonly flow?: string;
  /** Instead of the usual ones. */
  readonly ports?: Partial<CorePorts>;
}

export type GitStage = Awaited<ReturnType<typeof startGitStage>>;

/** A core with real git, a repository with one commit in it, and a workflow. */
export async function startGitStage({ poolSize = 1, flow = plainFlow, ports = {} }: GitStageOptions = {}) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-pool-")));
  const repository = join(base, "coffee");
  const git = (folder: string, ...args: readonly string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=A", "-c", "user.email=a@b", ...args], {
      encoding: "utf8",
    }).trim();
  execFileSync("git", ["init", "-q", "-b", "main", repository]);
  writeFileSync(join(repository, "recipe.md"), "beans\n");
  git(repository, "add", "-A");
  git(repository, "commit", "-qm", "first");

  const { workflow } = loadWorkflow(flow, "flow.yml");
  if (workflow === undefined) throw new Error("The workflow of the test must load.");
  const home = join(base, "home");
  const places = homePlaces(home);
  for (const folder of [home, places.run, places.workspaces, places.control]) makePrivateFolder(folder);
  const workspacesOf = realWorkspaces(places);
  const complaints: unknown[] = [];
  const log: Log = {
    debug() {},
    info() {},
    warn() {},
    error: (message, fields) => complaints.push([message, fields]),
    with: () => log,
    close: async () => {},
  };
  const store = createMemoryStore();
  const core = createCore({
    version: "1.0.0",
    home,
    store,
    clock: systemClock,
    ids: { task: () => "bbbbb", secret: () => "0".repeat(48) },
    log,
    commands: { run: async () => ({ code: 0, timedOut: false, output: "" }) },
    humanToken: "sbh_x",
    performers: () => ({}),
    workspacesOf,
    config: () => ({ values: {}, problems: [] }),
    address: () => "",
    stop: () => {},
    ...ports,
  });
  onTestFinished(async () => {
    await core.close();
    rmSync(base, { recursive: true, force: true });
  });
  const settings = { workflow: "", harness: "", reviewHarness: "", branchPrefix: "", createdAt: 0 };
  await store.addProject({ name: "coffee", path: repository, defaultBranch: "main", poolSize, ...settings });
  await core.workflows.keep(workflow, flow);
  const until = async (id: string, isSo: (task: NonNullable<Awaited<ReturnType<typeof store.getTask>>>) => boolean) => {
    for (let i = 0; i < 1_000; i++) {
      const stored = await store.getTask(id);
      if (stored !== undefined && isSo(stored)) return stored.task;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`It did not come to that: ${JSON.stringify((await store.getTask(id))?.task)}`);
  };
  return {
    repository,
    places,
    store,
    core,
    git,
    complaints,
    until,
    control: async () => (await workspacesOf((await store.getProject("coffee")) as never)).control,
    async begin(id: string) {
      const facts = { ...(await core.factsOf({ ...blankIdentity, id, project: "coffee" } as never)), poolFull: false };
      const stored = await core.store.createTask("coffee", (number) => {
        const given = { ...blankIdentity, id, project: "coffee", number, summary: "Brew", branch: `signalbox/${id}` };
        const decision = createTask(workflow, given, facts);
        if (decision.kind !== "moved") throw new Error(JSON.stringify(decision));
        const { task, events, effects } = decision;
        const document = { text: "## Context\nStrong, please.\n", authors: {} };
        return { task, document, events, effects, at: systemClock.now() };
      });
      core.changed(stored);
      await until(id, ({ task }) => task.phase === "waiting");
      await core.submit(id, { kind: "continue", actor: human });
      return until(id, ({ task }) => task.phase === "waiting" || task.held !== undefined);
    },
  };
}
