import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeFolder } from "../../../../test/remove-folder.ts";
import type { Harness, HarnessOrder } from "../../../ports/harness.ts";
import { spawnCommands } from "../../system.ts";
import { claude } from "./claude.ts";

let root = "";
let harness: Harness;
const program = (text: string) => writeFileSync(join(root, "bin", "claude"), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
const harnessWith = (more: object = {}) =>
  claude({
    commands: spawnCommands,
    clock: { now: () => 0 },
    env: { PATH: join(root, "bin") },
    home: join(root, "home"),
    isRoot: false,
    ...more,
  });

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "signalbox-claude-"));
  for (const name of ["bin", "home", "workspace"]) mkdirSync(join(root, name));
  program("echo '2.1.325 (Claude Code)'");
  harness = harnessWith();
});
afterEach(() => removeFolder(root));

const order = (change: Partial<HarnessOrder> = {}): HarnessOrder => ({
  run: "worker-1",
  mode: "turn",
  prompt: "Go.",
  system: "",
  folder: join(root, "workspace"),
  runFolder: join(root, "run"),
  model: "",
  effort: "",
  permissions: "full",
  tools: undefined,
  taskFile: "/w/TASK.md",
  testCommand: ["npm", "test"],
  cli: "signalbox",
  session: { kind: "new", id: "11111111-1111-4111-8111-111111111111" },
  schema: undefined,
  mcp: undefined,
  hook: ["/opt/a b/hook", "it's"],
  costLimit: undefined,
  env: { PATH: join(root, "bin"), HOME: join(root, "home") },
  ...change,
});
const settings = () => JSON.parse(readFileSync(join(root, "run", "claude-settings.json"), "utf8"));
const after = (argv: readonly string[], flag: string) => argv[argv.indexOf(flag) + 1];

test("detection finds the program with its version, or gives a hint", async () => {
  expect(await harness.detect()).toEqual({
    found: true,
    path: join(root, "bin", "claude"),
    version: "2.1.325",
    hint: "",
  });
  program("exit 3");
  expect(await harness.detect()).toMatchObject({ found: false, hint: expect.stringContaining("Start it yourself") });
  rmSync(join(root, "bin", "claude"));
  expect(await harness.detect()).toMatchObject({
    found: false,
    path: "",
    hint: expect.stringContaining("npm install"),
  });
  await expect(harness.prepare(order())).rejects.toMatchObject({ code: "harness.missing" });
});

test("a turn reads its prompt from standard input, and a session gets it as its last argument", async () => {
  const turn = await harness.prepare(
    order({ prompt: "-x", model: "opus", effort: "high", costLimit: 2, schema: { type: "object" } }),
  );
  expect(turn).toMatchObject({ input: "-x", message: "", session: "11111111-1111-4111-8111-111111111111" });
  expect(
    ["--model", "--effort", "--max-budget-usd", "--json-schema", "--output-format"].map((flag) =>
      after(turn.argv, flag),
    ),
  ).toEqual(["opus", "high", "2", '{"type":"object"}', "stream-json"]);
  const session = await harness.prepare(
    order({ mode: "session", prompt: "-x", session: { kind: "resume", id: "abc" } }),
  );
  expect(session.argv.slice(-2)).toEqual(["--", "-x"]);
  expect(after(session.argv, "--resume")).toBe("abc");
  expect(session.argv).not.toContain("--print");
  const long = await harness.prepare(order({ mode: "session", prompt: "x".repeat(200_000) }));
  expect(long.message).toHaveLength(200_000);
  expect(long.argv).not.toContain("--");
});

test("the environment contains only the order's variables, and as root the sandbox flag", async () => {
  const stray = harnessWith({
    env: { PATH: "", ANTHROPIC_API_KEY: "stray", ANTHROPIC_BASE_URL: "stray" },
    isRoot: true,
  });
  const { env } = await stray.prepare(order());
  expect(JSON.stringify(env)).not.toContain("stray");
  expect(env.IS_SANDBOX).toBe("1");
  expect((await stray.prepare(order({ permissions: "reduced" }))).env.IS_SANDBOX).toBeUndefined();
  expect((await harness.prepare(order())).env.IS_SANDBOX).toBeUndefined();
  expect(
    (await harness.prepare(order({ env: { ...order().env, ANTHROPIC_API_KEY: "mine" } }))).env.ANTHROPIC_API_KEY,
  ).toBe("mine");
});

test("reduced permissions deny instead of asking, and use only the run's settings and the account's", async () => {
  mkdirSync(join(root, "home", ".claude"));
  const own = { apiKeyHelper: "helper", permissions: { allow: ["Bash(git push:*)"] }, hooks: { Stop: [] } };
  writeFileSync(join(root, "home", ".claude", "settings.json"), JSON.stringify(own));
  const { argv } = await harness.prepare(order({ permissions: "reduced", taskFile: "/w/[1]/TASK.md" }));
  expect([after(argv, "--permission-mode"), after(argv, "--setting-sources")]).toEqual(["dontAsk", ""]);
  expect(argv).not.toContain("--dangerously-skip-permissions");
  expect(after(argv, "--tools")).toBe("Read,Grep,Glob,Bash,Edit,Write");
  expect(settings()).toMatchObject({ apiKeyHelper: "helper", permissions: { defaultMode: "dontAsk" } });
  expect(settings().hooks).toBeUndefined();
  const allowed: readonly string[] = settings().permissions.allow;
  expect(allowed).toContain("Edit(//w/\\[1\\]/TASK.md)");
  expect(allowed).toContain("Bash(npm test)");
  const ours = allowed.filter((rule: string) => rule.includes("signalbox"));
  const verbs = ["update", "show", "explain", "diff", "history", "comment"];
  expect(ours).toEqual(verbs.flatMap((verb) => [`Bash(signalbox task ${verb})`, `Bash(signalbox task ${verb}:*)`]));
  expect(allowed.filter((rule) => rule.includes("git"))).toEqual([]);
});

test("tools are withheld by class and by name", async () => {
  const toolsOf = async (change: Partial<HarnessOrder>) => {
    const { argv } = await harness.prepare(order(change));
    return argv.includes("--tools") ? after(argv, "--tools") : undefined;
  };
  expect(await toolsOf({})).toBeUndefined();
  expect(await toolsOf({ tools: ["read", "web"] })).toBe("Read,Glob,Grep,WebSearch,WebFetch");
  expect(await toolsOf({ tools: ["comment", "read_file", "BASH"] })).toBe("Read,Bash");
  expect(await toolsOf({ tools: ["Read", "mcp__signalbox__comment"] })).toBe("Read");
  expect(await toolsOf({ tools: [] })).toBe("");
  expect(await toolsOf({ tools: ["write", "execute", "web"], permissions: "reduced" })).toBe(
    "Write,Edit,Bash,WebSearch,WebFetch",
  );
});

test("only the tools of our MCP server that are listed are allowed", async () => {
  const mcp = { argv: ["sb", "mcp"], env: {} };
  const tools = ["Read", "comment", "stage_message", "mcp__other__look"];
  const { argv } = await harness.prepare(order({ mcp, tools }));
  expect(after(argv, "--disallowedTools")).toBe(
    "EnterWorktree,ExitWorktree,mcp__signalbox__task_update,mcp__signalbox__work_complete",
  );
  const allowed = async (change: Partial<HarnessOrder>): Promise<readonly string[]> => {
    await harness.prepare(order({ mcp, permissions: "reduced", ...change }));
    return settings().permissions.allow;
  };
  const listed = await allowed({ tools });
  expect(listed.filter((rule) => rule.startsWith("mcp__"))).toEqual([
    ...["mcp__signalbox__comment", "mcp__signalbox__stage_message", "mcp__other__look"],
  ]);
  expect(listed).not.toContain("WebSearch");
  expect(await allowed({ tools: ["WebSearch"] })).toContain("WebSearch");
  expect(await allowed({})).toContain("mcp__signalbox");
});

test("hooks are set for sessions, quoted for the shell, and the user's settings are not written", async () => {
  await harness.prepare(order({ mode: "session" }));
  expect(settings().hooks.UserPromptSubmit[0].hooks[0].command).toBe("'/opt/a b/hook' 'it'\\''s'");
  expect(readdirSync(join(root, "home"))).toEqual([".claude.json"]);
});

test("secrets and long texts are in private files, not among the arguments", async () => {
  const mcp = { argv: ["signalbox", "mcp"], env: { SIGNALBOX_TOKEN: "secret" } };
  const { argv } = await harness.prepare(order({ mcp, system: "Be careful." }));
  expect(argv.join(" ")).not.toMatch(/secret|Be careful/);
  const [config = "", system = ""] = [after(argv, "--mcp-config"), after(argv, "--append-system-prompt-file")];
  const server = { command: "signalbox", args: ["mcp"], env: { SIGNALBOX_TOKEN: "secret" } };
  expect(JSON.parse(readFileSync(config, "utf8"))).toEqual({ mcpServers: { signalbox: server } });
  expect(readFileSync(system, "utf8")).toBe("Be careful.");
  expect(statSync(config).mode & 0o777).toBe(0o600);
});

test("a transcript is found under its folder's name, or under any other", async () => {
  const projects = join(root, "home", ".claude", "projects");
  expect(await harness.transcriptOf("s-1", "/home/u/a.b_c d")).toBe("");
  for (const name of ["-home-u-a-b-c-d", "-elsewhere"]) mkdirSync(join(projects, name), { recursive: true });
  writeFileSync(join(projects, "-home-u-a-b-c-d", "s-1.jsonl"), "");
  writeFileSync(join(projects, "-elsewhere", "s-2.jsonl"), "");
  expect(await harness.transcriptOf("s-1", "/home/u/a.b_c d")).toBe(join(projects, "-home-u-a-b-c-d", "s-1.jsonl"));
  expect(await harness.transcriptOf("s-2", "/home/u/a.b_c d")).toBe(join(projects, "-elsewhere", "s-2.jsonl"));
  expect(await harness.transcriptOf("../../x", "/")).toBe("");
});
