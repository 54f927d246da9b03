import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { childrenOf } from "../../src/daemon/children/child-tasks.ts";
import type { Performers } from "../../src/daemon/perform.ts";
import type { Submit } from "../../src/daemon/submit.ts";
import { type ChildTask, newestTries, stateOfChild } from "../../src/engine/children.ts";
import type { Creation } from "../../src/engine/create.ts";
import type { Store } from "../../src/ports/store.ts";
import { coreStage } from "./core-stage.ts";

/** A parent that plans, gives its workspace back while its children work, and takes one again for the rest. */
export const parentWorkflow = `
version: 1
settings:
  agents: { default: 2 }
  waves: { default: false }
  policy: { default: retry, one_of: [retry, continue, stop] }
  words: { default: short }
states:
  queued: { waits_for: slot, do: [acquire_workspace], next: planning }
  planning: { agent: { role: planner, mode: turn, prompt: plan, result: plan }, next: spawned }
  spawned: { do: [release_workspace], next: building }
  building:
    fan_out: { from: plan.parts, workflow: part, parallel: "{agents}", waves: "{waves}", policy: "{policy}" }
    next: counted
  counted: { outcomes: [{ when: children_done == 0, then: failed }], next: joining }
  joining: { waits_for: slot, do: [acquire_workspace], next: done }
  done: { terminal: true, do: [release_workspace] }
  failed: { terminal: true, outcome: failed, do: [release_workspace] }
  dropped: { terminal: true, outcome: cancelled }
transitions: [{ from: any, to: dropped, by: human, hooks: [release_workspace] }]
prompts: { plan: Plan }
schemas: { plan: { type: object, properties: { parts: { type: array } } } }
`;

export const partWorkflow = `
version: 1
settings: { words: { default: long }, other: { default: 1 } }
states:
  waiting: { waits_for: slot, do: [acquire_workspace], next: working }
  working:
    agent: { role: builder, mode: turn, prompt: build }
    outcomes: [{ on: failed, then: failed }]
    next: done
  done: { terminal: true, do: [release_workspace] }
  failed: { terminal: true, outcome: failed, do: [release_workspace] }
  dropped: { terminal: true, outcome: cancelled }
transitions: [{ from: any, to: dropped, by: [engine, human], hooks: [kill_session, release_workspace] }]
prompts: { build: "{title}: {description} ({parent.branch} {agent_number}) {reason}" }
`;

interface StageOptions {
  readonly poolSize?: number;
  readonly store?: Store;
  /** What the test itself reads; the core's store where it is missing. */
  readonly seen?: Store;
  readonly parent?: string;
  readonly part?: string;
  readonly performers?: Performers;
}

export interface PlannedItem {
  readonly id: string;
  readonly needs?: readonly string[];
}

/** A core in memory whose tasks have children. Runs end when the test says so. */
export async function childrenStage(options: StageOptions = {}) {
  const { poolSize = 8, parent = parentWorkflow, part = partWorkflow } = options;
  let ids = 0;
  // Given once the core exists: it may owe effects from before.
  let submit: Submit | undefined;
  const edit = (id: string, workspace: string) =>
    submit?.(id, { kind: "edit", actor: { role: "engine" }, set: { workspace } });
  const folders: Performers = {
    acquire_workspace: async (_, { task }) => void (await edit(task.id, `/folders/${task.id}`)),
    release_workspace: async (_, { task }) => void (await edit(task.id, "")),
  };
  const quiet = ["spawn_agent", "notify_agent", "notify", "run_command"].map((name) => [name, async () => {}] as const);
  const performers: Performers = { ...Object.fromEntries(quiet), ...folders, ...options.performers };
  const furnish = (home: string) => {
    mkdirSync(join(home, "workflows"), { recursive: true });
    writeFileSync(join(home, "workflows", "part.yml"), part);
  };
  const ports = { ids: { task: () => `c${++ids}`, secret: () => "0".repeat(48) }, performers: () => performers };
  const moreOf = (_: unknown, given: Submit) => {
    submit = given;
    return ports;
  };
  const stage = await coreStage(parent, poolSize, options.store, moreOf, furnish);
  const store = options.seen ?? stage.store;
  /** The workflow of the children is read from a file, which takes real time. */
  const rest = async (milliseconds = 0) => {
    await stage.rest(milliseconds);
    // A process that a test has let die never becomes quiet.
    for (let quiet = 0, last = -1, rounds = 0; quiet < 3 && rounds < 500; rounds++) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      await stage.rest();
      const owed = await store.dueEffects(stage.clock.now(), 100);
      const isReading =
        owed.some(({ effect }) => effect.action === "start_children") || stage.newest().children.isBusy("coffee");
      const now = await store.lastEvent();
      quiet = now === last && !isReading ? quiet + 1 : 0;
      last = now;
    }
  };
  const all = (id: string) =>
    childrenOf({ store, workflowOf: (task) => stage.newest().workflows.get(task.workflowHash) }, id);
  const newest = async (id: string): Promise<readonly ChildTask[]> => {
    const children = await all(id);
    return newestTries(children, Math.max(0, ...children.map(({ task }) => task.part.stay)));
  };
  const childFor = async (id: string, item: string) => {
    const found = (await newest(id)).find(({ task }) => task.part.item === item);
    if (found === undefined) throw new Error(`${id} has no child for ${item}.`);
    return found.task;
  };
  return {
    ...stage,
    store,
    rest,
    all,
    newest,
    childFor,
    /** Creates a parent, and ends its planner with these items. */
    async plan(id: string, items: readonly PlannedItem[], identity: Partial<Creation> = {}) {
      await stage.create(id, identity);
      await rest();
      await this.answer(id, items);
    },
    async answer(id: string, items: readonly PlannedItem[]) {
      const answer = {
        parts: items.map((item) => ({ title: `Do ${item.id}`, description: `About ${item.id}`, ...item })),
      };
      const run = (await store.getTask(id))?.task.runs.planner?.key ?? "";
      await stage.newest().submit(id, { kind: "ended", run, word: "ok", answer });
      await rest();
    },
    /** Ends the agent of a child. */
    async finish(id: string, item: string, word: "ok" | "error" = "ok") {
      const child = await childFor(id, item);
      const run = child.runs.builder?.key ?? "";
      await stage.newest().submit(child.id, { kind: "ended", run, word, reason: word === "ok" ? "" : `${item} broke` });
      await rest();
    },
    /** `api running 1`: each newest try, its state and its slot. */
    async states(id: string) {
      return (await newest(id)).map((child) => {
        const { item, slot } = child.task.part;
        const again = child.task.part.try > 1 ? ` try ${child.task.part.try}` : "";
        return `${item} ${stateOfChild(child)}${slot === undefined ? "" : ` ${slot}`}${again}`;
      });
    },
  };
}
