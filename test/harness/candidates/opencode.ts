import { opencode } from "../../../src/adapters/harness/opencode/opencode.ts";
import { spawnCommands } from "../../../src/adapters/system.ts";
import type { Candidate } from "../candidate.ts";
import { opencodeEnv } from "../opencode-env.ts";

export const candidate: Candidate = {
  program: "opencode",
  harness: (_, program) => opencode({ commands: spawnCommands, env: { PATH: process.env.PATH ?? "" }, program }),
  env: (_, url) => opencodeEnv(url),
  skills: ["debug", "skill"],
  model: "scripted/model",
  write: (filePath, content) => ({ name: "write", input: { filePath, content } }),
  // OpenCode overwrites only files that it has read before.
  writeTaskFile: (filePath, content) => [
    { name: "read", input: { filePath } },
    { name: "write", input: { filePath, content } },
  ],
  mcp: (tool, input = {}) => ({ name: `signalbox_${tool}`, input }),
  shell: (command) => ({ name: "bash", input: { command, description: "Work" } }),
};
