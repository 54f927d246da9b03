import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeFolder } from "../../../../test/remove-folder.ts";
import type { HarnessOrder } from "../../../ports/harness.ts";
import { spawnCommands } from "../../system.ts";
import { gemini } from "./gemini.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "signalbox-gemini-"));
  mkdirSync(join(root, ".gemini"));
});
afterEach(() => removeFolder(root));

const harness = () => gemini({ commands: spawnCommands, env: { HOME: root }, home: "/nowhere" });
const order = (change: Partial<HarnessOrder> = {}): HarnessOrder => ({
  run: "worker-1",
  mode: "turn",
  prompt: "Work.",
  system: "Be careful.",
  folder: "/workspace",
  runFolder: join(root, "run"),
  model: "",
  effort: "",
  permissions: "full",
  tools: undefined,
  taskFile: "/workspace/TASK.md",
  testCommand: ["npm", "test"],
  cli: "signalbox",
  session: { kind: "new", id: "11111111-2222-3333-4444-555555555555" },
  schema: undefined,
  mcp: undefined,
  hook: ["/bin/it's", "append"],
  costLimit: undefined,
  env: { HOME: root, PATH: "", GEMINI_API_KEY: "k" },
  ...change,
});

async function settingsOf(change: Partial<HarnessOrder> = {}) {
  const { env } = await harness().prepare(order(change));
  return JSON.parse(readFileSync(join(env.GEMINI_CLI_HOME ?? "", ".gemini", "settings.json"), "utf8"));
}

test("a turn gets its instructions and its prompt on standard input, under the session id of the order", async () => {
  const launch = await harness().prepare(order());
  expect(launch.argv).toEqual([
    ...["gemini", "--skip-trust", "--approval-mode", "yolo"],
    ...["--session-id", "11111111-2222-3333-4444-555555555555", "--output-format", "stream-json"],
  ]);
  expect(launch.input).toBe("Be careful.\n\nWork.");
  expect(launch.session).toBe("11111111-2222-3333-4444-555555555555");
});

test("the user's settings are kept, even with comments, and ours are added on top", async () => {
  const user = '{ // mine\n "ui": {"theme": "a // b"}, "general": {"vimMode": true, "maxAttempts": 10} /* end */ }';
  writeFileSync(join(root, ".gemini", "settings.json"), user);
  const settings = await settingsOf();
  expect(settings.ui.theme).toBe("a // b");
  expect(settings.general).toMatchObject({ vimMode: true, maxAttempts: 3, sessionRetention: { enabled: false } });
  expect(settings.security.auth.selectedType).toBe("gemini-api-key");
  expect(readFileSync(join(root, ".gemini", "settings.json"), "utf8")).toBe(user);
});

test("the user's login method is never changed", async () => {
  writeFileSync(join(root, ".gemini", "settings.json"), '{"security":{"auth":{"selectedType":"oauth-personal"}}}');
  expect((await settingsOf()).security.auth.selectedType).toBe("oauth-personal");
});

test("unreadable settings stop the run, and are not overwritten", async () => {
  writeFileSync(join(root, ".gemini", "settings.json"), "{ broken");
  await expect(harness().prepare(order())).rejects.toThrow("cannot be read");
});

test("a run shares the user's conversations and logins, also when it is prepared twice", async () => {
  writeFileSync(join(root, ".gemini", "oauth_creds.json"), "{}");
  await harness().prepare(order());
  const { env } = await harness().prepare(order());
  const own = join(env.GEMINI_CLI_HOME ?? "", ".gemini");
  for (const name of ["oauth_creds.json", "tmp", "history"])
    expect(readlinkSync(join(own, name))).toBe(join(root, ".gemini", name));
});

test("a session adds hooks to the user's, quoted for the shell", async () => {
  writeFileSync(join(root, ".gemini", "settings.json"), '{"hooks":{"AfterAgent":[{"hooks":["mine"]}]}}');
  const { hooks } = await settingsOf({ mode: "session" });
  expect(hooks.AfterAgent).toHaveLength(2);
  expect(hooks.BeforeAgent[0].hooks[0].command).toBe("'/bin/it'\\''s' append");
  expect((await settingsOf()).hooks.BeforeAgent).toBeUndefined();
});

test("reduced permissions become a policy that denies every tool it does not name", async () => {
  const launch = await harness().prepare(order({ permissions: "reduced" }));
  expect(launch.argv.slice(2, 6)).toEqual([
    "--approval-mode",
    "default",
    "--admin-policy",
    join(root, "run", "gemini-policy.toml"),
  ]);
  const policy = readFileSync(join(root, "run", "gemini-policy.toml"), "utf8");
  expect(policy).toContain('toolName = "*"\ndenyMessage = "You may not use this tool."\ndecision = "deny"');
  const patterns = [...policy.matchAll(/argsPattern = (".*")/g)].map(([, text]) => new RegExp(JSON.parse(text ?? "")));
  const judge = (args: Readonly<Record<string, string>>) => {
    const pairs = Object.entries(args).map(([key, value]) => `\0${JSON.stringify(key)}:${JSON.stringify(value)}\0`);
    return patterns.map((pattern) => pattern.test(`{${pairs.join(",")}}`));
  };
  const [exact, redirect, expansion, hidden, file] = [0, 1, 2, 3, 4];
  expect(judge({ command: "git branch" })[exact]).toBe(true);
  expect(judge({ command: "git branch new" })[exact]).toBe(false);
  expect(judge({ command: "git log > x" })[redirect]).toBe(true);
  expect(judge({ command: "git log", description: "a > b" })[redirect]).toBe(false);
  for (const command of [
    "git diff --output=x",
    "git diff '--output=x'",
    'git diff -"-output"=x',
    "git diff --{output,stat}",
  ])
    expect(judge({ command })[hidden]).toBe(true);
  expect(judge({ command: 'git log -1 --format="%h"' })[hidden]).toBe(false);
  for (const command of ["signalbox task update --status $(touch x)", "ls && signalbox task comment . `touch x`"])
    expect(judge({ command })[expansion]).toBe(true);
  expect(judge({ command: 'signalbox task comment . "done; see a.ts"' })[expansion]).toBe(false);
  const prefixes: readonly string[] = JSON.parse(/commandPrefix = (\[.*\])/.exec(policy)?.[1] ?? "[]");
  expect(prefixes.filter((prefix) => prefix.startsWith("signalbox"))).toEqual(
    ["update", "show", "explain", "diff", "history", "comment"].map((verb) => `signalbox task ${verb}`),
  );
  expect(judge({ file_path: "TASK.md" })[file]).toBe(true);
  expect(judge({ file_path: "/workspace/TASK.md" })[file]).toBe(true);
  expect(judge({ file_path: "/workspace/TASKxmd" })[file]).toBe(false);
  expect(judge({ file_path: "a/TASK.md" })[file]).toBe(false);
});

test("a transcript is found by its session's id, in the first file of the session", async () => {
  const chats = join(root, ".gemini", "tmp", "ws", "chats");
  mkdirSync(chats, { recursive: true });
  const write = (minute: number, id: string) =>
    writeFileSync(join(chats, `session-2026-11-15T13-${minute}-${id.slice(0, 8)}.jsonl`), `{"sessionId":"${id}"}\n`);
  write(34, "11111111-2222-3333-4444-555555555555");
  write(35, "11111111-2222-3333-4444-555555555555");
  write(33, "11111111-9999-9999-9999-555555555555");
  expect(await harness().transcriptOf("11111111-2222-3333-4444-555555555555", "/workspace")).toBe(
    join(chats, "session-2026-11-15T13-34-11111111.jsonl"),
  );
  expect(await harness().transcriptOf("22222222-2222-3333-4444-555555555555", "/workspace")).toBe("");
});

test("a message that Gemini writes again after its tools have run counts once", () => {
  const message = {
    id: "m",
    type: "gemini",
    content: "Step.",
    tokens: { input: 100, output: 10, cached: 40, thoughts: 5 },
  };
  const read = (value: unknown) => harness().readTranscript(JSON.stringify(value));
  const usage = { model: "", inputTokens: 60, outputTokens: 15, cachedTokens: 40, cost: undefined };
  expect(read(message)).toEqual([
    { kind: "said", text: "Step." },
    { kind: "usage", usage },
  ]);
  expect(read({ ...message, toolCalls: [] })).toEqual([]);
  expect(harness().readTranscript('{"$set":{"lastUpdated":"x"}}')).toEqual([]);
});

test.each([
  ["", "", "starting"],
  ["", "◇  Ready (ws)", "starting"],
  ["  * hello\n workspace (/directory)   /model", "◇  Ready (ws)", "ready"],
  [" >   Type your message or @path/to/file", "", "ready"],
  ["something", "✦  Working… (ws)", "busy"],
  ["something", "✋  Action Required (ws)", "asks"],
  ["Do you trust the files in this folder?", "", "asks"],
  ["something", "", "unknown"],
])("the screen %j with the title %j is %s", (screen, title, state) =>
  expect(harness().readScreen(screen, title)).toBe(state),
);

test("hooks report the session, its messages, its tools and its dialogs", () => {
  const read = (event: Readonly<Record<string, string>>) => harness().readEvidence(JSON.stringify(event));
  expect(read({ hook_event_name: "SessionStart", session_id: "s", transcript_path: "/t" })).toEqual([
    { kind: "session", id: "s", transcript: "/t" },
  ]);
  expect(read({ hook_event_name: "BeforeAgent", prompt: "Go." })[0]).toEqual({ kind: "prompted", text: "Go." });
  expect(read({ hook_event_name: "Notification", message: "Allow?" })).toEqual([{ kind: "asks", about: "Allow?" }]);
  expect(read({ hook_event_name: "SessionEnd", reason: "clear" })).toEqual([]);
  expect(harness().readEvidence("not json")).toEqual([]);
});
