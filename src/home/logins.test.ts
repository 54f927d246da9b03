import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeFolder } from "../../test/remove-folder.ts";
import { loginOf } from "./logins.ts";

/** A home, and programs that say this when they are asked. */
function person(programs: Readonly<Record<string, string>> = {}, files: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-logins-"));
  onTestFinished(() => removeFolder(folder));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  for (const [name, script] of Object.entries(programs))
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { HOME: folder, PATH: `${folder}:/usr/bin:/bin` };
}

test("the login of Claude Code is read from its status command", async () => {
  const out = person({
    claude: `[ "$*" = "auth status" ] && echo '{ "loggedIn": false, "authMethod": "none" }'; exit 1`,
  });
  expect(await loginOf("claude", out, [])).toEqual({ state: "out", hint: "Log in: claude auth login" });
  const someone = person({ claude: `echo '{"loggedIn": true}'` });
  expect(await loginOf("claude", someone, [])).toEqual({ state: "in", hint: "" });
  expect((await loginOf("claude", person({ claude: "echo 2.1.325" }), [])).state).toBe("unknown");
  expect((await loginOf("claude", person(), [])).state).toBe("unknown");
});

test("a key that agents do not get is no login", async () => {
  const env = person({
    claude: `[ -n "$ANTHROPIC_API_KEY" ] && echo '{"loggedIn": true}' || echo '{"loggedIn": false}'`,
  });
  const withKey = { ...env, ANTHROPIC_API_KEY: "key" };
  expect((await loginOf("claude", withKey, [])).state).toBe("out");
  expect((await loginOf("claude", withKey, ["ANTHROPIC_API_KEY"])).state).toBe("in");
});

test("the login of Codex is read from its status command, unless a custom provider needs none", async () => {
  const out = `echo "WARNING: something" >&2; echo "Not logged in" >&2; exit 1`;
  expect(await loginOf("codex", person({ codex: out }), [])).toEqual({ state: "out", hint: "Log in: codex login" });
  expect((await loginOf("codex", person({ codex: `echo "Logged in using ChatGPT"` }), [])).state).toBe("in");
  expect((await loginOf("codex", person({ codex: `echo "API key configured - ***" >&2` }), [])).state).toBe("in");
  const own = person({ codex: out }, { ".codex/config.toml": 'model_provider = "mine"\n' });
  expect((await loginOf("codex", own, [])).state).toBe("unknown");
});

test("the logins of Gemini CLI and OpenCode are read from their files", async () => {
  expect(await loginOf("gemini", person(), [])).toEqual({ state: "out", hint: "Log in: gemini" });
  const settings = { ".gemini/settings.json": '{"security":{"auth":{"selectedType":"oauth-personal"}}}' };
  expect((await loginOf("gemini", person({}, settings), [])).state).toBe("unknown");
  const signedIn = person({}, { ...settings, ".gemini/oauth_creds.json": "{}" });
  expect((await loginOf("gemini", signedIn, [])).state).toBe("in");
  expect((await loginOf("opencode", person(), [])).state).toBe("unknown");
  const opened = person({}, { ".local/share/opencode/auth.json": '{"openai":{"type":"api"}}' });
  expect((await loginOf("opencode", opened, [])).state).toBe("in");
  expect((await loginOf("scripted", person(), [])).state).toBe("unknown");
});
