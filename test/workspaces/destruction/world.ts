import { spawnCommands, systemClock } from "../../../src/adapters/system.ts";
import { acquireWorkspace, releaseWorkspace } from "../../../src/daemon/effects/workspace.ts";
import { createFacts } from "../../../src/daemon/look.ts";
import { createSubmit } from "../../../src/daemon/submit.ts";
import { parkWorkspace } from "../../../src/daemon/workspaces/parking.ts";
import { createPoolRoom } from "../../../src/daemon/workspaces/pool.ts";
import { createTask } from "../../../src/engine/create.ts";
import { loadWorkflow } from "../../../src/engine/language/load.ts";
import { blankIdentity, type Task } from "../../../src/engine/task.ts";
import { homePlaces } from "../../../src/home/places.ts";
import { createTurns } from "../../../src/keyed.ts";
import type { Workspace } from "../../../src/ports/records.ts";
import type { Log } from "../../../src/ports/system.ts";
import { author, date } from "../../git/stage.ts";
import { createMemoryStore } from "../../memory-store/memory-store.ts";
import type { Scene } from "../stage.ts";

const flow = `
version: 1
states:
  todo: { waits_for: human, next: done }
  done: { terminal: true }
`;
const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent, close: async () => {} };

/** Tasks that acquire and release workspaces, as in the daemon. */
export interface World {
  /** The folder of the workspaces. */
  readonly folder: string;
  /** A new task, which has no workspace yet. */
  begin(): Promise<string>;
  acquire(task: string): Promise<void>;
  release(task: string): Promise<void>;
  /** Merges and publishes the task's commits. False if that is not possible now. */
  merge(task: string): Promise<boolean>;
  workspaces(): Promise<readonly Workspace[]>;
  /** Parks a free workspace. */
  park(workspace: Workspace): Promise<boolean>;
  /** Removes a free workspace. */
  remove(workspace: Workspace): Promise<void>;
}

export async function createWorld(scene: Scene, poolSize: number): Promise<World> {
  const { control, kind, stage, user } = scene;
  const { workflow } = loadWorkflow(flow, "flow.yml");
  if (workflow === undefined) throw new Error("The workflow of the test must load.");
  const store = createMemoryStore();
  const settings = {
    workflow: "",
    harness: "",
    reviewHarness: "",
    branchPrefix: "",
    workspaces: kind.kind,
    createdAt: 0,
  };
  await store.addProject({ name: "coffee", path: user.folder, defaultBranch: "main", poolSize, ...settings });
  const workflowOf = async () => workflow;
  const factsOf = createFacts(store, async () => false);
  const folder = scene.place("coffee");
  const ports = {
    ...{ store, clock: systemClock, log: silent, inTurn: createTurns(), workflowOf },
    submit: createSubmit({ store, clock: systemClock, workflowOf, factsOf, changed() {} }),
    workspacesOf: async () => ({
      ...{ git: stage.git, repository: user.folder, control, kind, folder, kindOf: async () => kind },
    }),
    settingsOf: () => ({
      ...{ keep: ["node_modules"], copy: [], link: [], setup: [], teardown: [], setupTimeout: 0, testCommand: [] },
      ...{ testTimeout: 0, requireTests: false, protect: [], testMerges: false, ports: undefined },
    }),
    ...{ places: homePlaces(scene.place("home")), commands: spawnCommands, env: {} },
    limits: () => ({
      keepEnded: Number.POSITIVE_INFINITY,
      trashDays: 30,
      trashBytes: Number.POSITIVE_INFINITY,
      diskBytes: Number.POSITIVE_INFINITY,
    }),
    publishAgents: async () => {},
    room: createPoolRoom(systemClock),
    endRuns: async () => {},
    endCommands: async () => {},
    tellPerson: async () => {},
    // Does nothing: the simulation parks workspaces at random times.
    protection: { wordsOf: async () => [] },
    parking: { released() {} },
  };
  const effects = { acquire_workspace: acquireWorkspace(ports), release_workspace: releaseWorkspace(ports) };
  const taskOf = async (id: string): Promise<Task> => {
    const stored = await store.getTask(id);
    if (stored === undefined) throw new Error(`There is no task ${id}.`);
    return stored.task;
  };
  const perform = async (action: keyof typeof effects, id: string) =>
    effects[action]({ action, params: {}, delay: 0 } as never, { task: await taskOf(id), key: "k" });
  let count = 0;
  return {
    folder,
    async begin() {
      const id = `t${count++}`;
      const facts = await factsOf({ ...blankIdentity, id, project: "coffee", workspace: "" } as never, {
        text: "",
        authors: {},
      });
      await store.createTask("coffee", (number) => {
        const given = { ...blankIdentity, id, project: "coffee", number, summary: "Brew", branch: `signalbox/${id}` };
        const decision = createTask(workflow, given, facts);
        if (decision.kind !== "moved") throw new Error(JSON.stringify(decision));
        const { task, events } = decision;
        return { task, document: { text: "", authors: {} }, events, effects: [], at: 0 };
      });
      return id;
    },
    acquire: (task) => perform("acquire_workspace", task),
    release: (task) => perform("release_workspace", task),
    async merge(task) {
      const { workspace, branch: own } = await taskOf(task);
      const branch = (await kind.currentBranch(workspace)) ?? own;
      const { commit } = await control.collect({ folder: workspace, branch, task });
      const { branches } = await control.syncFrom({ from: user.folder, name: "user" });
      const onto = branches.main ?? "";
      const order = { onto, branch: commit, strategy: "merge", message: `Merge ${task}`, author, date } as const;
      const merged = await control.merge(order);
      if (merged.kind !== "merged") return false;
      await control.moveRef("refs/heads/main", merged.commit, await control.commitAt("refs/heads/main"));
      const published = { repository: user.folder, branch: "main", commit: merged.commit, expected: onto };
      return (await control.publish({ ...published, workspaces: folder })).kind === "published";
    },
    workspaces: () => store.workspaces.list({ project: "coffee" }),
    park: (workspace) => parkWorkspace(ports, workspace),
    async remove({ id, path }) {
      const salvage = await control.salvage({ folder: path, task: "gone", at: Date.now(), repository: user.folder });
      await kind.remove(path, salvage);
      await store.workspaces.remove(id);
    },
  };
}
