import type { Harness } from "../../../ports/harness.ts";
import { capabilities } from "./capabilities.ts";
import { codexHome } from "./codex-home.ts";
import type { CodexPorts } from "./codex-ports.ts";
import { detect } from "./detect.ts";
import { readHook } from "./hooks.ts";
import { prepare } from "./prepare.ts";
import { readObstacle } from "./read-obstacle.ts";
import { readOutput } from "./read-output.ts";
import { createRolloutReader } from "./read-rollout.ts";
import { readScreen } from "./read-screen.ts";
import { rolloutOf } from "./rollout-of.ts";

/** Codex CLI, as of version 0.166. */
export function codex(ports: CodexPorts): Harness {
  const now = () => ports.clock.now();
  return {
    name: "codex",
    title: "Codex",
    can: capabilities,
    detect: () => detect(ports),
    prepare: (order) => prepare(order, ports),
    readOutput: (at) => readOutput(at, now),
    readEvidence: readHook,
    readTranscript: createRolloutReader(now),
    transcriptOf: async (session) => rolloutOf(session, codexHome(ports.env)),
    readScreen,
    readObstacle,
  };
}
