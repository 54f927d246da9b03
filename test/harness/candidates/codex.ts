import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codex } from "../../../src/adapters/harness/codex/codex.ts";
import { spawnCommands } from "../../../src/adapters/system.ts";
import type { Candidate } from "../candidate.ts";

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
  write: (file, content) => ({
    name: "apply_patch",
    input: `*** Begin Patch\n*** Add File: ${file}\n${content.trimEnd().replace(/^/gm, "+")}\n*** End Patch\n`,
  }),
  shell: (cmd) => ({ name: "exec_command", input: { cmd } }),
  mcp: (name, input = {}) => ({ namespace: "mcp__signalbox", name, input }),
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
