import type { CorePorts } from "../../src/daemon/core-ports.ts";
import { startGitCore } from "./git-core.ts";

export { human } from "./git-core.ts";

/** A workflow that acquires and releases workspaces; people decide everything else. */
const plainFlow = `
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

export interface GitStageOptions {
  readonly poolSize?: number;
  /** The kind of the project's workspaces. */
  readonly workspaces?: "worktree" | "clone";
  readonly flow?: string;
  /** Replaces the defaults. */
  readonly ports?: Partial<CorePorts>;
}

export type GitStage = Awaited<ReturnType<typeof startGitStage>>;

export async function startGitStage({ flow = plainFlow, ...options }: GitStageOptions = {}) {
  const stage = await startGitCore({ name: "pool", flow, ...options });
  return {
    ...stage,
    control: async () => (await stage.workspaces()).control,
    /** A task at work. */
    async begin(id: string) {
      await stage.create(id, { context: "Strong, please." });
      return stage.goOn(id);
    },
  };
}
