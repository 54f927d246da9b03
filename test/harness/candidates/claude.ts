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
  offers: {
    ...{ Read: "Read", Glob: "Glob", Grep: "Grep", Write: "Write", Edit: "Edit", Bash: "Bash" },
    ...{ WebSearch: "WebSearch", WebFetch: "WebFetch" },
  },
  read: (file_path) => ({ name: "Read", input: { file_path } }),
  write: (file_path, content) => ({ name: "Write", input: { file_path, content } }),
  // Claude Code writes only files that it has read before.
  writeTaskFile: (file_path, content) => [
    { name: "Read", input: { file_path } },
    { name: "Write", input: { file_path, content } },
  ],
  shell: (command) => ({ name: "Bash", input: { command, description: "Work" } }),
  mcp: (tool, input = {}) => ({ name: `mcp__signalbox__${tool}`, input }),
  login: {
    file: ".claude/.credentials.json",
    text: JSON.stringify({
      claudeAiOauth: {
        ...{ accessToken: "sk-ant-oat01-old", refreshToken: "sk-ant-ort01-old", expiresAt: 1 },
        ...{ scopes: ["user:inference", "user:profile"], subscriptionType: "max" },
      },
    }),
    hosts: ["api.anthropic.com", "platform.claude.com"],
    refresh: "platform.claude.com/v1/oauth/token",
    refreshed: {
      ...{ token_type: "Bearer", access_token: "sk-ant-oat01-new", refresh_token: "sk-ant-ort01-new" },
      ...{ expires_in: 28_800, scope: "user:inference user:profile" },
    },
    token: "sk-ant-oat01-new",
    answer: (url, model) =>
      url === "api.anthropic.com/v1/messages" ? { forward: `${model}/v1/messages?beta=true` } : undefined,
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", CLAUDE_CODE_MAX_RETRIES: "1" },
  },
  json: (value) => ({ calls: [{ name: "StructuredOutput", input: value }] }),
};
