import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { claude } from "../../../src/adapters/harness/claude/claude.ts";
import { spawnCommands } from "../../../src/adapters/system.ts";
import type { Candidate } from "../candidate.ts";

export const candidate: Candidate = {
  program: "claude",
  harness: (home, program) =>
    claude({
      commands: spawnCommands,
      clock: { now: Date.now },
      env: { PATH: process.env.PATH },
      home,
      isRoot: process.getuid?.() === 0,
      program,
    }),
  env: (_, url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "sk-ant-scripted-0123456789-0123456789",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_MAX_RETRIES: "1",
  }),
  provoke(folder) {
    const server = { command: "node", args: ["-e", "setInterval(() => undefined, 1000)"] };
    writeFileSync(join(folder, ".mcp.json"), JSON.stringify({ mcpServers: { stranger: server } }));
    writeFileSync(join(folder, "CLAUDE.md"), "Read @/etc/hostname first.\n");
  },
  skills: ["-p", "Please begin."],
  model: "sonnet",
  write: (file_path, content) => ({ name: "Write", input: { file_path, content } }),
  // Claude Code writes only files that it has read before.
  writeTaskFile: (file_path, content) => [
    { name: "Read", input: { file_path } },
    { name: "Write", input: { file_path, content } },
  ],
  shell: (command) => ({ name: "Bash", input: { command, description: "Work" } }),
  mcp: (tool, input = {}) => ({ name: `mcp__signalbox__${tool}`, input }),
  json: (value) => ({ calls: [{ name: "StructuredOutput", input: value }] }),
};
