import { gemini } from "../../../src/adapters/harness/gemini/gemini.ts";
import { spawnCommands } from "../../../src/adapters/system.ts";
import type { Candidate } from "../candidate.ts";

const scope = "https://www.googleapis.com/auth/cloud-platform";

export const candidate: Candidate = {
  program: "gemini",
  harness: (home, program) =>
    gemini({ commands: spawnCommands, env: { HOME: home, PATH: process.env.PATH ?? "" }, home, program }),
  env: (_, url) => ({ GEMINI_API_KEY: "scripted", GOOGLE_GEMINI_BASE_URL: url }),
  skills: ["skills", "list"],
  model: "gemini-2.5-flash",
  needsEnterAgain: true,
  offers: {
    ...{ Read: "read_file", Glob: "glob", Grep: "grep_search", Write: "write_file", Edit: "replace" },
    ...{ Bash: "run_shell_command", WebSearch: "google_web_search", WebFetch: "web_fetch" },
  },
  read: (file_path) => ({ name: "read_file", input: { file_path } }),
  write: (file_path, content) => ({ name: "write_file", input: { file_path, content } }),
  writeTaskFile: (file_path, content) => [{ name: "write_file", input: { file_path, content } }],
  mcp: (tool, input = {}) => ({ name: `mcp_signalbox_${tool}`, input }),
  login: {
    file: ".gemini/oauth_creds.json",
    text: JSON.stringify({
      ...{ access_token: "old-access", refresh_token: "old-refresh", token_type: "Bearer", expiry_date: 1 },
      scope,
    }),
    hosts: ["oauth2.googleapis.com", "www.googleapis.com", "cloudcode-pa.googleapis.com", "play.googleapis.com"],
    refresh: "oauth2.googleapis.com/token",
    refreshed: { access_token: "new-access", expires_in: 3600, token_type: "Bearer" },
    token: "new-access",
    answer(url) {
      const name = url.split(/[/:]/).at(-1) ?? "";
      if (name === "tokeninfo") return { json: { expires_in: 3600, scope } };
      if (name === "userinfo") return { json: { email: "ada@example.org" } };
      if (name === "loadCodeAssist")
        return { json: { currentTier: { id: "standard-tier" }, cloudaicompanionProject: "project" } };
      if (name !== "streamGenerateContent") return undefined;
      const content = { role: "model", parts: [{ text: "Hello." }] };
      return { events: [{ response: { candidates: [{ content, finishReason: "STOP", index: 0 }] } }] };
    },
    env: { GOOGLE_GENAI_USE_GCA: "true" },
  },
  shell: (command) => ({ name: "run_shell_command", input: { command, description: "Work" } }),
};
