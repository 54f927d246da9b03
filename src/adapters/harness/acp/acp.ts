import type { Capabilities, Harness, HarnessOrder, Launch } from "../../../ports/harness.ts";
import { chosenTools } from "../chosen-tools.ts";
import { type DetectPorts, detectProgram } from "../detect-program.ts";
import { findObstacle, type ObstacleForm } from "../find-obstacle.ts";
import { promptText } from "../prompt-text.ts";
import { reducedCommand } from "../reduced-commands.ts";
import type { BridgeOrder } from "./bridge-order.ts";
import { readBridge } from "./read-bridge.ts";

/** What is common to all agents that speak the protocol. */
export const acpCan: Capabilities = {
  session: false,
  turn: true,
  resume: true,
  namesSession: false,
  model: true,
  effort: false,
  // An agent that does not ask is not stopped.
  reduced: "asked",
  withholds: [],
  toolsByName: false,
  schema: false,
  system: false,
  mcp: true,
  acknowledges: "stream",
  // Some tell only what the last step used up, or count what came from a cache as the rest.
  tokens: false,
  cost: false,
};

export interface AcpAgent {
  readonly name: string;
  readonly title: string;
  /** What starts the agent so that it speaks the protocol: `["gemini", "--acp"]`. */
  readonly argv: readonly string[];
}

export interface AcpPorts extends DetectPorts {
  /** The command that runs `bridge.ts`. */
  readonly bridge: readonly string[];
}

/** Any agent that speaks the Agent Client Protocol. The process that is started is a bridge of ours, which starts the agent. */
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
    detect: () => detectProgram(program, ports, `Install ${agent.title}, so that "${program}" is found.`),
    prepare: async (order) => prepare(order, agent, ports.bridge),
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
      classes: [...chosenTools(order).classes],
      reduced:
        order.permissions === "reduced"
          ? { commands: reducedCommand(order).source, folder: order.folder, taskFile: order.taskFile }
          : undefined,
    },
  };
  return { argv: bridge, env: order.env, input: JSON.stringify(bridgeOrder), message: "", session: resume };
}
