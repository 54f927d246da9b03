import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codex } from "../../../src/adapters/harness/codex/codex.ts";
import { spawnCommands } from "../../../src/adapters/system.ts";
import type { Candidate } from "../candidate.ts";

/** A token of a ChatGPT account that is valid until then, in seconds. */
export function tokenUntil(exp: number): string {
  const account = { chatgpt_account_id: "account", chatgpt_plan_type: "pro", chatgpt_user_id: "user" };
  const parts = [{ alg: "none" }, { exp, email: "ada@example.org", "https://api.openai.com/auth": account }];
  return [...parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")), "c2ln"].join(".");
}
const newToken = tokenUntil(4_000_000_000);

export const candidate: Candidate = {
  program: "codex",
  harness: (home, program) =>
    codex({
      commands: spawnCommands,
      clock: { now: Date.now },
      env: { PATH: process.env.PATH ?? "", HOME: home },
      hidden: [],
      program,
    }),
  env: () => ({ SCRIPTED_KEY: "scripted" }),
  seed(home, url) {
    mkdirSync(join(home, ".codex"));
    writeFileSync(join(home, ".codex", "config.toml"), configuration(url));
  },
  skills: ["debug", "prompt-input", "Please begin."],
  model: "gpt-5.5",
  offers: { Bash: "exec_command", Edit: "apply_patch", WebSearch: "web_search" },
  read: (file) => ({ name: "exec_command", input: { cmd: `cat ${file}` } }),
  write: (file, content) => ({
    name: "apply_patch",
    input: `*** Begin Patch\n*** Add File: ${file}\n${content.trimEnd().replace(/^/gm, "+")}\n*** End Patch\n`,
  }),
  shell: (cmd) => ({ name: "exec_command", input: { cmd } }),
  mcp: (name, input = {}) => ({ namespace: "mcp__signalbox", name, input }),
  login: {
    file: ".codex/auth.json",
    text: JSON.stringify({
      ...{ auth_mode: "chatgpt", OPENAI_API_KEY: null, last_refresh: "2026-01-01T00:00:00Z" },
      tokens: {
        ...{ id_token: tokenUntil(1), access_token: tokenUntil(1), refresh_token: "old", account_id: "account" },
      },
    }),
    hosts: ["auth.openai.com", "chatgpt.com"],
    refresh: "auth.openai.com/oauth/token",
    refreshed: { id_token: newToken, access_token: newToken, refresh_token: "new" },
    token: newToken,
    answer: () => undefined,
    seed(home, url) {
      mkdirSync(join(home, ".codex"));
      const settings = configuration(url).replace(/env_key.*/, "requires_openai_auth = true");
      writeFileSync(join(home, ".codex", "config.toml"), settings);
    },
  },
  // The request for a title has exactly one tool, which returns the title.
  isSide: ({ tools }) => tools.length <= 1,
};

const configuration = (url: string) => `
model_provider = "scripted"
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
`;
