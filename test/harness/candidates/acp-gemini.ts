import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { acp } from "../../../src/adapters/harness/acp/acp.ts";
import { spawnCommands } from "../../../src/adapters/system.ts";
import type { Candidate } from "../candidate.ts";
import { candidate as gemini } from "./gemini.ts";

const bridge = join(import.meta.dirname, "..", "..", "..", "src", "adapters", "harness", "acp", "bridge.ts");

export const candidate: Candidate = {
  ...gemini,
  harness: (home, program) =>
    acp(
      { name: "acp-gemini", title: "Gemini CLI", argv: [program, "--acp", "--skip-trust"] },
      {
        ...{ commands: spawnCommands, env: { PATH: process.env.PATH ?? "" }, bridge: [process.execPath, bridge] },
        folders: async (order) => (await gemini.harness(home, program).folders?.(order)) ?? {},
      },
    ),
  seed: (home) => writeSettings(home, "gemini-api-key"),
  ...(gemini.login && { login: { ...gemini.login, seed: (home) => writeSettings(home, "oauth-personal") } }),
};

/** With ACP our adapter does not prepare the program's settings. */
function writeSettings(home: string, selectedType: string): void {
  mkdirSync(join(home, ".gemini"));
  const settings = {
    general: { sessionRetention: { enabled: false }, maxAttempts: 3 },
    security: { auth: { selectedType } },
  };
  writeFileSync(join(home, ".gemini", "settings.json"), JSON.stringify(settings));
}
