import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Capabilities, Harness, HarnessOrder, Launch } from "../../../ports/harness.ts";
import { type DetectPorts, detectProgram } from "../detect-program.ts";
import { findProgram } from "../find-program.ts";
import { fitsArgument, promptText } from "../prompt-text.ts";
import { makeHome, userFolder } from "./gemini-home.ts";
import { policyText } from "./policy-text.ts";
import { readEvent } from "./read-event.ts";
import { readObstacle } from "./read-obstacle.ts";
import { readScreen } from "./read-screen.ts";
import { readTurn } from "./read-turn.ts";
import { findTranscript, readTranscriptLine } from "./transcript.ts";

export const geminiCan: Capabilities = {
  session: true,
  turn: true,
  resume: true,
  namesSession: true,
  model: true,
  effort: false,
  reduced: "enforced",
  withholds: ["read", "write", "execute", "web"],
  toolsByName: true,
  schema: false,
  system: false,
  mcp: true,
  acknowledges: "hook",
  tokens: true,
  cost: false,
};

export interface GeminiPorts extends DetectPorts {
  /** The user's home, where the environment names none. */
  readonly home: string;
  /** Where it is not to be found by its name alone. */
  readonly program?: string;
}

/** Gemini CLI. Each run has a home of its own, which shares everything but the settings with the user's. */
export function gemini(ports: GeminiPorts): Harness {
  const { program = "gemini" } = ports;
  return {
    name: "gemini",
    title: "Gemini CLI",
    can: geminiCan,
    detect: () => detectProgram(program, ports, 'Install Gemini CLI with "npm install -g @google/gemini-cli".'),
    prepare: (order) => prepare(order, program, ports.home),
    readOutput: readTurn,
    readEvidence: readEvent,
    readTranscript: readTranscriptLine,
    transcriptOf: (session) => findTranscript(session, userFolder(ports.env, ports.home)),
    readScreen,
    readObstacle,
  };
}

async function prepare(order: HarnessOrder, program: string, home: string): Promise<Launch> {
  await mkdir(order.runFolder, { recursive: true });
  // A terminal may look for programs where its own environment says.
  const path = findProgram(program, order.env.PATH ?? "") || program;
  const ownHome = await makeHome(order, userFolder(order.env, home));
  const policy = policyText(order);
  const policyFile = join(order.runFolder, "gemini-policy.toml");
  if (policy !== "") await writeFile(policyFile, policy);
  const isTurn = order.mode === "turn";
  const prompt = promptText(order, { system: true });
  const isArgument = !isTurn && fitsArgument(prompt);
  return {
    argv: [
      path,
      // A dialog would ask for it, and a turn would end.
      "--skip-trust",
      // Rules that refuse redirections hold in this mode alone.
      ...["--approval-mode", order.permissions === "reduced" ? "default" : "yolo"],
      ...(policy === "" ? [] : ["--admin-policy", policyFile]),
      ...(order.model === "" ? [] : ["--model", order.model]),
      ...(order.session.kind === "resume" ? ["--resume", order.session.id] : ["--session-id", order.session.id]),
      ...(isTurn ? ["--output-format", "stream-json"] : []),
      ...(isArgument ? ["--prompt-interactive", prompt] : []),
    ],
    env: {
      ...order.env,
      GEMINI_CLI_HOME: ownHome,
      // Else the program is the child of another one that does nothing.
      GEMINI_CLI_NO_RELAUNCH: "1",
    },
    input: isTurn ? prompt : "",
    message: isTurn || isArgument ? "" : prompt,
    session: order.session.id,
  };
}
