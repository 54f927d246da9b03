import { opencode } from "../../../src/adapters/harness/opencode/opencode.ts";
import { spawnCommands } from "../../../src/adapters/system.ts";
import type { Candidate } from "../candidate.ts";
import { openAiEnv, opencodeEnv } from "../opencode-env.ts";
import { tokenUntil } from "./codex.ts";

const newToken = tokenUntil(4_000_000_000);

export const candidate: Candidate = {
  program: "opencode",
  harness: (_, program) => opencode({ commands: spawnCommands, env: { PATH: process.env.PATH ?? "" }, program }),
  env: (_, url) => opencodeEnv(url),
  skills: ["debug", "skill"],
  model: "scripted/model",
  // Without `edit`: one rule allows both it and `write`.
  offers: { Read: "read", Glob: "glob", Grep: "grep", Write: "write", Bash: "bash", WebFetch: "webfetch" },
  read: (filePath) => ({ name: "read", input: { filePath } }),
  write: (filePath, content) => ({ name: "write", input: { filePath, content } }),
  // OpenCode overwrites only files that it has read before.
  writeTaskFile: (filePath, content) => [
    { name: "read", input: { filePath } },
    { name: "write", input: { filePath, content } },
  ],
  login: {
    file: ".local/share/opencode/auth.json",
    text: JSON.stringify({
      openai: { type: "oauth", access: tokenUntil(1), refresh: "old", expires: 1, accountId: "account" },
    }),
    hosts: ["auth.openai.com", "chatgpt.com"],
    refresh: "auth.openai.com/oauth/token",
    refreshed: { id_token: newToken, access_token: newToken, refresh_token: "new", expires_in: 864_000 },
    token: newToken,
    answer: (url, model) =>
      url === "chatgpt.com/backend-api/codex/responses" ? { forward: `${model}/v1/responses` } : undefined,
    env: openAiEnv,
    model: "openai/gpt-5.5",
  },
  mcp: (tool, input = {}) => ({ name: `signalbox_${tool}`, input }),
  shell: (command) => ({ name: "bash", input: { command, description: "Work" } }),
};
