import { join } from "node:path";
import { acp } from "../../../src/adapters/harness/acp/acp.ts";
import { spawnCommands } from "../../../src/adapters/system.ts";
import type { Candidate } from "../candidate.ts";
import { opencodeEnv } from "../opencode-env.ts";
import { candidate as opencode } from "./opencode.ts";

const bridge = join(import.meta.dirname, "..", "..", "..", "src", "adapters", "harness", "acp", "bridge.ts");

export const candidate: Candidate = {
  ...opencode,
  harness: (home, program) =>
    acp(
      { name: "acp-opencode", title: "OpenCode", argv: [program, "acp"] },
      {
        ...{ commands: spawnCommands, env: { PATH: process.env.PATH ?? "" }, bridge: [process.execPath, bridge] },
        folders: async (order) => (await opencode.harness(home, program).folders?.(order)) ?? {},
      },
    ),
  env: (_, url) => opencodeEnv(url),
};
