import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnCommands } from "../../../src/adapters/commands/spawn-commands.ts";
import { acp } from "../../../src/adapters/harness/acp/acp.ts";
import type { Candidate } from "../candidate.ts";
import { candidate as gemini } from "./gemini.ts";

const bridge = join(import.meta.dirname, "..", "..", "..", "src", "adapters", "harness", "acp", "bridge.ts");

export const candidate: Candidate = {
  ...gemini,
  harness: (_, program) =>
    acp(
      { name: "acp-gemini", title: "Gemini CLI", argv: [program, "--acp", "--skip-trust"] },
      { commands: spawnCommands, env: { PATH: process.env.PATH ?? "" }, bridge: [process.execPath, bridge] },
    ),
  // Here nothing of ours stands between the program and its settings.
  seed(home) {
    mkdirSync(join(home, ".gemini"));
    const settings = {
      general: { sessionRetention: { enabled: false }, maxAttempts: 3 },
      security: { auth: { selectedType: "gemini-api-key" } },
    };
    writeFileSync(join(home, ".gemini", "settings.json"), JSON.stringify(settings));
  },
};
