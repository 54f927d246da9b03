import type { CorePorts } from "../../src/daemon/core-ports.ts";
import { createHandlers } from "../../src/daemon/handlers.ts";
import { type GitCoreOptions, startGitCore } from "./git-core.ts";

type Options = Pick<GitCoreOptions, "poolSize" | "workspaces"> & Partial<CorePorts>;

/** A person merges by hand; a task is done once its work is merged, and its branch is deleted. */
export const mergedFlow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, by: human, when: merged == true, hooks: [release_workspace, delete_branch] }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`;

export async function gitStage(flow: string, { poolSize = 1, workspaces = "clone", ...ports }: Options = {}) {
  const stage = await startGitCore({ name: "upkeep", flow, poolSize, workspaces, ports, isStrict: true });
  const { core, store } = stage;
  return {
    ...stage,
    /** The daemon's answer to a person's request. */
    ask: (route: string, body: object, params: Readonly<Record<string, string>> = {}, query: object = {}) => {
      const asked = { params, query, body, caller: { kind: "human" }, folder: "", lastEvent: "" };
      return createHandlers(core)[route]?.(asked as never, undefined as never) as Promise<never>;
    },
    /** The failures of optional effects in the history. */
    async notes(id: string) {
      const events = await store.listEvents({ task: id }, 0, 1_000);
      return events.flatMap(({ event }) => (event.type === "effect.failed" ? [String(event.data.reason)] : []));
    },
  };
}
