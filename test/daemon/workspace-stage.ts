import { join } from "node:path";
import { spawnCommands } from "../../src/adapters/system.ts";
import type { CorePorts } from "../../src/daemon/core-ports.ts";
import { portVariable, runCommand } from "../../src/daemon/effects/commands.ts";
import { createHandlers } from "../../src/daemon/handlers.ts";
import type { PartialConfig } from "../../src/home/config-fields.ts";
import { trust } from "../../src/home/trust.ts";
import { startGitCore } from "./git-core.ts";

const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: checked }
  checked:
    do: [run_tests]
    outcomes:
      - { on: ok, then: good }
      - { on: [tests, untested], then: busy }
  good: { waits_for: human, next: over }
  over: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: good, to: busy, by: human, hooks: [acquire_workspace, sync_repo] }
  - { from: good, to: over, hooks: [release_workspace] }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`;

/** With real commands, and a configuration that can be changed. */
export async function startWorkspaceStage(
  poolSize = 1,
  more: Partial<CorePorts> = {},
  kind: "worktree" | "clone" = "clone",
) {
  const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" };
  let values: PartialConfig = {};
  const stage = await startGitCore({
    ...{ name: "settings", flow, poolSize, workspaces: kind },
    files: { ".gitignore": ".env\nnode_modules/\nvendor/\n.signalbox/\n" },
    ports: {
      commands: spawnCommands,
      performers: (folderOf, _, portOf, commands) => ({
        run_command: runCommand({
          commands,
          folderOf,
          env,
          variablesOf: async (task) => portVariable(await portOf(task)),
        }),
      }),
      commandEnvironment: env,
      signal: new AbortController().signal,
      ...more,
      config: () => ({ values, problems: [] }),
    },
  });
  const { core, places, repository, put, workspaces } = stage;
  const handlers = createHandlers(core);
  return {
    ...stage,
    /** Sets the user's own configuration. */
    say: (config: PartialConfig) => {
      values = config;
    },
    /** The repository's own file. */
    sayInRepository: (text: string) => put(join(repository, ".signalbox", "config.yml"), text),
    trust: (hash: string) => trust(places, hash, ""),
    /** Asks a route as a person would. */
    ask: (route: keyof typeof handlers, body: object = {}, task = "") =>
      handlers[route]?.(
        { params: { project: "coffee", task }, query: {}, body, caller: { kind: "human" }, folder: "" } as never,
        {} as never,
      ),
    control: async () => (await workspaces()).control.folder,
    next: stage.goOn,
    async begin(id: string) {
      await stage.create(id);
      return stage.goOn(id);
    },
  };
}
