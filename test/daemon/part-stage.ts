import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Asked, createHandlers } from "../../src/daemon/handlers.ts";
import type { Task, TaskIdentity } from "../../src/engine/task.ts";
import { type ControlRepository, taskRef } from "../../src/ports/control-repository.ts";
import { type GitCoreOptions, startGitCore } from "./git-core.ts";

/** Parents and parts in one workflow: people move both. */
export const partFlow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: dropped }
  parent: { waits_for: human, next: dropped }
  merging:
    do: [{ action: merge, into: parent, strategy: no-ff }]
    outcomes:
      - { on: conflict, then: conflicted }
      - { on: tests, then: failing }
      - { on: failed, then: refused }
    next: done
  conflicted: { waits_for: human, next: dropped }
  failing: { waits_for: human, next: dropped }
  refused: { waits_for: human, next: dropped }
  whole:
    do: [acquire_workspace, { action: merge, from: children, into: task, strategy: no-ff }]
    outcomes: [{ on: conflict, then: conflicted }]
    next: joined
  joined: { waits_for: human, next: done }
  done: { terminal: true, do: [release_workspace] }
  finished: { terminal: true, outcome: done, do: [release_workspace] }
  dropped: { terminal: true, outcome: failed, do: [release_workspace] }
transitions:
  - { from: [todo, joined, conflicted], to: parent, by: human, hooks: [acquire_workspace, release_workspace] }
  - { from: [parent, conflicted], to: whole, by: human }
  - { from: [busy, conflicted, failing, refused], to: merging, by: human }
  - from: todo
    to: busy
    by: human
    hooks:
      - acquire_workspace
      - { action: create_branch, name: "{parent.branch}-agent-{agent_number}", from: "{parent.branch}" }
  - { from: any, to: [dropped, finished], by: human }
`;

type Options = Partial<Omit<GitCoreOptions, "name">>;

/** A parent "ppppp" on the branch "team/x", which waits without a workspace, and parts of its plan. */
export async function partStage(options: Options = {}) {
  const stage = await startGitCore({ name: "parts", flow: partFlow, poolSize: 4, ...options });
  const { core, create, move, git } = stage;
  // The parent waits for a person, not for its parts: as soon as one has ended, the others would be stopped.
  Object.assign(core.children, { noticed() {} });
  const control = async (): Promise<ControlRepository> => (await stage.workspaces()).control;
  const asked = <Body>(task: string, body: Body): Asked<object, Body> => ({
    ...{ params: { task }, query: {}, body, caller: { kind: "human" }, folder: "", lastEvent: "" },
  });
  const handlers = createHandlers(core);
  const commit = (folder: string, files: Readonly<Record<string, string>>, message = "work") => {
    // Git would take an empty path for the folder that the tests run in.
    if (folder === "") throw new Error("The task has no workspace.");
    for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
    git(folder, "add", "-A");
    git(folder, "commit", "-qm", message);
    return git(folder, "rev-parse", "HEAD");
  };
  return {
    ...stage,
    commit,
    control,
    ask: (route: keyof typeof handlers, task: string, body: object = {}) =>
      (handlers[route] as unknown as (asked: unknown) => Promise<never>)(asked(task, body)),
    /** The commit of the parent's branch. */
    async tip() {
      return (await (await control()).commitAt(taskRef("ppppp"))) ?? "";
    },
    async show(path: string, at?: string) {
      const { folder, commitAt } = await control();
      return git(folder, "show", `${at ?? (await commitAt(taskRef("ppppp")))}:${path}`);
    },
    async begin() {
      await create("ppppp", { branch: "team/x", summary: "Brew" });
      return move("ppppp", "parent");
    },
    async part(id: string, slot: number, given: Partial<NonNullable<TaskIdentity["part"]>> = {}): Promise<Task> {
      const part = {
        stay: 1,
        item: id,
        try: 1,
        slot,
        title: `Part ${id}`,
        description: "",
        files: [],
        size: "M",
      } as const;
      await create(id, { parent: "ppppp", base: "team/x", part: { ...part, ...given } });
      const begun = await move(id, "busy");
      if (begun.held !== undefined) throw new Error(begun.held.reason);
      return begun;
    },
    async merges(id: string) {
      const events = await stage.store.listEvents({ task: id }, 0, 1_000);
      return events.map(({ event }) => event.type).filter((type) => type.startsWith("merge."));
    },
  };
}
