import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Capabilities, Harness, HarnessOrder, Launch } from "../../../ports/harness.ts";
import { isJsonObject } from "../../json-at.ts";
import { type DetectPorts, detectProgram } from "../detect-program.ts";
import { findProgram } from "../find-program.ts";
import { parseObject } from "../json-at.ts";
import { fitsArgument, promptText } from "../prompt-text.ts";
import { reducedCommand } from "../reduced-commands.ts";
import { mcpName, permissionsOf } from "./permissions-of.ts";
import { pluginText } from "./plugin-text.ts";
import { readEvent } from "./read-event.ts";
import { readObstacle } from "./read-obstacle.ts";
import { readScreen } from "./read-screen.ts";
import { readTurn } from "./read-turn.ts";

export const opencodeCan: Capabilities = {
  session: true,
  turn: true,
  resume: true,
  namesSession: false,
  model: true,
  effort: true,
  reduced: "enforced",
  withholds: ["read", "write", "execute", "web"],
  toolsByName: true,
  schema: false,
  system: true,
  mcp: true,
  acknowledges: "hook",
  tokens: true,
  cost: true,
};

export interface OpencodePorts extends DetectPorts {
  /** Where it is not to be found by its name alone. */
  readonly program?: string;
}

/** OpenCode. Everything of ours goes in through the environment: the user's own files are left alone. */
export function opencode(ports: OpencodePorts): Harness {
  const { program = "opencode" } = ports;
  return {
    name: "opencode",
    title: "OpenCode",
    can: opencodeCan,
    detect: () => detectProgram(program, ports, 'Install OpenCode with "npm install -g opencode-ai".'),
    prepare: (order) => prepare(order, program),
    readOutput: readTurn,
    readEvidence: readEvent,
    // Conversations are in its database, and the plugin tells what is said there.
    readTranscript: () => [],
    transcriptOf: async () => "",
    readScreen,
    readObstacle,
  };
}

async function prepare(order: HarnessOrder, program: string): Promise<Launch> {
  await mkdir(order.runFolder, { recursive: true });
  // A terminal may look for programs where its own environment says.
  const path = findProgram(program, order.env.PATH ?? "") || program;
  const plugin = join(order.runFolder, "opencode-plugin.js");
  const isReduced = order.permissions === "reduced";
  await writeFile(
    plugin,
    pluginText({
      mode: order.mode,
      hook: order.mode === "session" ? order.hook : [],
      commands: isReduced ? reducedCommand(order).source : undefined,
    }),
  );
  const instructions = join(order.runFolder, "system.md");
  if (order.system !== "") await writeFile(instructions, `${order.system}\n`);
  const agent = `signalbox-${order.run}`;
  const resumed = order.session.kind === "resume" ? order.session.id : "";
  const prompt = promptText(order, { system: false });
  const isTurn = order.mode === "turn";
  const isArgument = !isTurn && fitsArgument(prompt);
  return {
    argv: isTurn
      ? [
          path,
          "run",
          "--format",
          "json",
          "--agent",
          agent,
          ...(resumed === "" ? titled(order) : ["--session", resumed]),
        ]
      : [
          path,
          "--agent",
          agent,
          ...(resumed === "" ? [] : ["--session", resumed]),
          ...(isArgument ? ["--prompt", prompt] : []),
        ],
    env: {
      ...withoutDoors(order.env),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      // A repository's plugins run inside of the program, where no rule reaches them.
      ...(isReduced ? { OPENCODE_DISABLE_PROJECT_CONFIG: "1" } : {}),
      OPENCODE_CONFIG_CONTENT: JSON.stringify(configOf(order, { agent, plugin, instructions })),
    },
    input: isTurn ? prompt : "",
    message: isTurn || isArgument ? "" : prompt,
    session: resumed,
  };
}

/** The one is put over our permissions, the other leaves our plugin out. */
function withoutDoors(env: HarnessOrder["env"]): HarnessOrder["env"] {
  const { OPENCODE_PERMISSION: _permission, OPENCODE_PURE: _pure, ...rest } = env;
  return rest;
}

/** Without a title it would ask the model for one. */
function titled({ run }: HarnessOrder): readonly string[] {
  return ["--title", run];
}

interface Parts {
  readonly agent: string;
  readonly plugin: string;
  readonly instructions: string;
}

/** What was in the variable before stays, where it is not about the same. */
function configOf(order: HarnessOrder, { agent, plugin, instructions }: Parts): Readonly<Record<string, unknown>> {
  const before = parseObject(order.env.OPENCODE_CONFIG_CONTENT ?? "") ?? {};
  const permission = permissionsOf(order);
  const isReduced = order.permissions === "reduced";
  return {
    ...before,
    autoupdate: false,
    plugin: [...listOf(before.plugin), pathToFileURL(plugin).href],
    instructions: [
      ...listOf(before.instructions),
      ...(order.system === "" ? [] : [instructions]),
      // They come with the repository's configuration, and go with it.
      ...(isReduced ? ["AGENTS.md", "CLAUDE.md"].map((name) => join(order.folder, name)) : []),
    ],
    // Where it does not find our agent it takes its own, which must not be allowed more.
    permission,
    agent: {
      ...(isJsonObject(before.agent) ? before.agent : {}),
      [agent]: {
        mode: "primary",
        permission,
        ...(order.model === "" ? {} : { model: order.model }),
        ...(order.effort === "" ? {} : { variant: order.effort }),
      },
    },
    ...(order.mcp === undefined
      ? {}
      : {
          mcp: {
            ...(isJsonObject(before.mcp) ? before.mcp : {}),
            [mcpName]: { type: "local", command: order.mcp.argv, environment: order.mcp.env, enabled: true },
          },
        }),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
