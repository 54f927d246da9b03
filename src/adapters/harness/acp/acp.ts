import { isAbsolute } from "node:path";
import { chooseTools, type ToolClass } from "../../../engine/tools.ts";
import { findProgram } from "../../../find-program.ts";
import { countAt, isJsonObject, jsonAt, textAt } from "../../../json.ts";
import type {
  Capabilities,
  Harness,
  HarnessError,
  HarnessEvent,
  HarnessFolders,
  HarnessOrder,
  Launch,
  OutputReader,
  TokenUsage,
} from "../../../ports/harness.ts";
import { jsonLines } from "../../lines.ts";
import { endedBadly, endedByUs, failureOf } from "../failure.ts";
import {
  type DetectPorts,
  detectProgram,
  findObstacle,
  type ObstacleForm,
  promptText,
  reducedCommand,
} from "../launch.ts";

/** The capabilities that all agents with this protocol share. */
const acpCan: Capabilities = {
  session: false,
  turn: true,
  resume: true,
  namesSession: false,
  model: true,
  effort: false,
  // The rules reach only agents that ask for permission; the others are not stopped.
  reduced: "asked",
  withholds: [],
  toolsByName: false,
  schema: false,
  system: false,
  mcp: true,
  acknowledges: "stream",
  // Some agents report only the last step's tokens, or count cached tokens like all others.
  tokens: false,
  cost: false,
};

interface AcpAgent {
  readonly name: string;
  readonly title: string;
  /** The command that starts the agent with this protocol: `["gemini", "--acp"]`. */
  readonly argv: readonly string[];
  /** What it needs in a sandbox, besides its program. */
  readonly read?: readonly string[];
  readonly write?: readonly string[];
}

interface AcpPorts extends DetectPorts {
  /** Where the same program keeps its files when it is used without the protocol. */
  folders?(order: HarnessOrder): Promise<HarnessFolders>;
  /** The command that runs `bridge.ts`. */
  readonly bridge: readonly string[];
}

/** Any agent that speaks the Agent Client Protocol. The daemon starts our bridge, and the bridge starts the agent. */
export function acp(agent: AcpAgent, ports: AcpPorts): Harness {
  const [program = ""] = agent.argv;
  const told = `${agent.title} is not logged in. Log in with the program itself.`;
  const obstacles: readonly ObstacleForm[] = [
    [/authentication required|auth_required|not logged in|please (log|sign) in|\/login/i, { kind: "login", told }],
  ];
  return {
    name: agent.name,
    title: agent.title,
    can: acpCan,
    detect: () => detectProgram(program, ports, `Install ${agent.title}, and put "${program}" on your PATH.`),
    prepare: async (order) => prepare(order, agent, ports.bridge),
    async folders(order) {
      const known = (await ports.folders?.(order)) ?? {};
      const found = findProgram(program, order.env.PATH ?? "");
      const named = [found, ...agent.argv.filter(isAbsolute)].filter((path) => path !== "");
      return {
        ...known,
        read: [...named, ...(known.read ?? []), ...(agent.read ?? [])],
        write: [...(known.write ?? []), ...(agent.write ?? [])],
      };
    },
    readOutput: () => readBridge(agent.title),
    readEvidence: () => [],
    readTranscript: () => [],
    transcriptOf: async () => "",
    readScreen: () => "unknown",
    readObstacle: (text) => findObstacle(text, obstacles),
  };
}

function prepare(order: HarnessOrder, agent: AcpAgent, bridge: readonly string[]): Launch {
  const resume = order.session.kind === "resume" ? order.session.id : "";
  const bridgeOrder: BridgeOrder = {
    argv: agent.argv,
    folder: order.folder,
    prompt: promptText(order, { system: true }),
    model: order.model,
    resume,
    mcp: order.mcp,
    rules: {
      classes: classesOf(order),
      own: chooseTools(order.tools).own,
      reduced:
        order.permissions === "reduced"
          ? { commands: reducedCommand(order).source, folder: order.folder, taskFile: order.taskFile }
          : undefined,
    },
  };
  return { argv: bridge, env: order.env, input: JSON.stringify(bridgeOrder), message: "", session: resume };
}

/** Reduced permissions allow the web only where it is listed. */
function classesOf({ permissions, tools }: HarnessOrder): readonly ToolClass[] {
  const { classes } = chooseTools(tools);
  return [...classes].filter((each) => each !== "web" || permissions === "full" || tools !== undefined);
}

/** The bridge's standard input: one turn with an agent. */
export interface BridgeOrder {
  /** The agent's command. */
  readonly argv: readonly string[];
  readonly folder: string;
  readonly prompt: string;
  /** Empty for the agent's default. */
  readonly model: string;
  /** Empty for a new session. */
  readonly resume: string;
  readonly mcp: { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> } | undefined;
  readonly rules: PermissionRules;
}

/** The rules by which the bridge answers the agent's permission requests. */
export interface PermissionRules {
  readonly classes: readonly ToolClass[];
  /** The tools of our MCP server; undefined for all. */
  readonly own: readonly string[] | undefined;
  /** Undefined if every tool of the classes is allowed. */
  readonly reduced: { readonly commands: string; readonly folder: string; readonly taskFile: string } | undefined;
}

/** Reads the bridge's output. */
function readBridge(title: string): OutputReader {
  const lines = jsonLines();
  let text = "";
  let isOver = false;
  let error: HarnessError | undefined;

  function read(line: Readonly<Record<string, unknown>>): readonly HarnessEvent[] {
    if ("end" in line) {
      isOver = true;
      if (isJsonObject(line.end)) error = line.end as unknown as HarnessError;
    }
    if (!isJsonObject(line.event)) return [];
    const event = line.event as unknown as HarnessEvent;
    if (event.kind === "said") text = event.text;
    return [event];
  }

  return {
    push: (chunk) => lines.push(chunk).flatMap(read),
    end(end, errors) {
      const events = lines.rest().flatMap(read);
      return { text, answer: undefined, events, error: endedByUs(end, title) ?? told() };

      function told(): HarnessError | undefined {
        if (!isOver) return endedBadly(end, title, errors);
        if (error === undefined || error.kind !== "other" || !/has ended/.test(error.message)) return error;
        // The agent ended in the middle of the turn. Its reason, if it gave one, is on standard error.
        const said = errors.trim().split("\n").at(-1) ?? "";
        return said === "" ? error : failureOf(said);
      }
    },
  };
}

/** A turn's usage as the agent reported it at the end. Agents count differently, and some not at all. */
export function usageIn(result: unknown, model: string, cost: number | undefined): readonly TokenUsage[] {
  const usage = jsonAt(result, "usage");
  if (usage !== undefined)
    return [
      {
        model,
        inputTokens: countAt(usage, "inputTokens") + countAt(usage, "cachedWriteTokens"),
        outputTokens: countAt(usage, "outputTokens") + countAt(usage, "thoughtTokens"),
        cachedTokens: countAt(usage, "cachedReadTokens"),
        cost,
      },
    ];
  const quota = jsonAt(result, "_meta", "quota");
  const models = jsonAt(quota, "model_usage");
  const each = Array.isArray(models) ? models : quota === undefined ? [] : [quota];
  const counted = each.map((entry: unknown) => ({
    model: textAt(entry, "model") || model,
    inputTokens: countAt(entry, "token_count", "input_tokens"),
    outputTokens: countAt(entry, "token_count", "output_tokens"),
    cachedTokens: 0,
    cost: undefined,
  }));
  if (cost === undefined) return counted;
  return [...counted, { model, inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost }];
}
