import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { removeFolder } from "../../../../test/remove-folder.ts";
import type { HarnessOrder } from "../../../ports/harness.ts";
import { spawnCommands } from "../../system.ts";
import { opencode } from "./opencode.ts";
import { readEvent } from "./reading.ts";

const root = mkdtempSync(join(tmpdir(), "signalbox-opencode-"));
afterEach(() => removeFolder(root));

const harness = opencode({ commands: spawnCommands, env: {} });
const order: HarnessOrder = {
  run: "worker-1",
  mode: "turn",
  prompt: "Work.",
  system: "",
  folder: "/workspace",
  runFolder: root,
  model: "",
  effort: "",
  permissions: "full",
  tools: undefined,
  taskFile: "/workspace/TASK.md",
  testCommand: ["npm", "test"],
  cli: "signalbox",
  session: { kind: "new", id: "" },
  schema: undefined,
  mcp: undefined,
  hook: [],
  costLimit: undefined,
  env: { PATH: "" },
};

async function configOf(change: Partial<HarnessOrder>) {
  const { env } = await harness.prepare({ ...order, ...change });
  return JSON.parse(env.OPENCODE_CONFIG_CONTENT ?? "");
}

test("a turn reads its prompt from standard input, and has a title, so that no model is asked for one", async () => {
  const launch = await harness.prepare({ ...order, schema: { type: "object" } });
  expect(launch.argv).toEqual([
    "opencode",
    "run",
    "--format",
    "json",
    "--agent",
    "signalbox-worker-1",
    "--title",
    "worker-1",
  ]);
  expect(launch.input).toContain("Work.\n\nEnd your answer with one JSON value that fits this JSON schema");
});

test("a session is resumed by its id, and gets its prompt as an argument unless the prompt is too long", async () => {
  const session = { kind: "resume", id: "ses_1" } as const;
  const launch = await harness.prepare({ ...order, mode: "session", session });
  expect(launch.argv.slice(3)).toEqual(["--session", "ses_1", "--prompt", "Work."]);
  const long = await harness.prepare({ ...order, mode: "session", prompt: "x".repeat(100_000) });
  expect(long.argv).not.toContain("--prompt");
  expect(long.message.length).toBe(100_000);
});

test("the configuration from the environment variable is kept", async () => {
  const before = { provider: { mine: {} }, plugin: ["a"], agent: { other: {} }, permission: { bash: "ask" } };
  const config = await configOf({ env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(before) } });
  expect(config.provider).toEqual({ mine: {} });
  expect(config.plugin[0]).toBe("a");
  expect(Object.keys(config.agent)).toEqual(["other", "signalbox-worker-1"]);
  expect(config.permission).toEqual({ "*": "allow" });
});

test("reduced permissions apply to our agent and to OpenCode's default agent", async () => {
  const config = await configOf({ permissions: "reduced" });
  expect(config.agent["signalbox-worker-1"].permission).toEqual(config.permission);
  expect(config.permission).toMatchObject({
    "*": "deny",
    edit: { "*": "deny", "TASK.md": "allow" },
    bash: { "*": "deny", "git log *": "allow", "npm test": "allow" },
  });
  const ours = Object.keys(config.permission.bash).filter((pattern) => pattern.startsWith("signalbox"));
  expect(ours).toEqual(
    ["update", "show", "explain", "diff", "history", "comment"].flatMap((verb) => [
      `signalbox task ${verb}`,
      `signalbox task ${verb} *`,
    ]),
  );
  expect(config.permission.task).toBeUndefined();
  expect(config.permission.webfetch).toBeUndefined();
});

test("inherited variables cannot lift reduced permissions", async () => {
  const { env } = await harness.prepare({
    ...order,
    env: { OPENCODE_PERMISSION: '{"*":"allow"}', OPENCODE_PURE: "1" },
  });
  expect(Object.keys(env)).not.toContain("OPENCODE_PERMISSION");
  expect(Object.keys(env)).not.toContain("OPENCODE_PURE");
});

test("only the classes and the tools of the order are allowed", async () => {
  const { permission } = await configOf({ tools: ["Read", "WRITE_FILE", "comment"] });
  expect(permission).toMatchObject({ "*": "deny", read: "allow", edit: "allow", signalbox_comment: "allow" });
  const names = Object.keys(permission);
  for (const name of ["grep", "bash", "webfetch", "signalbox_*", "signalbox_task_update"])
    expect(names).not.toContain(name);
});

test("a tool that is listed by name does not bypass reduced permissions; only the web is opened by it", async () => {
  const { permission } = await configOf({
    permissions: "reduced",
    tools: ["read", "write", "edit", "task", "webfetch"],
  });
  expect([permission.edit, permission.task, permission.webfetch, permission.bash]).toEqual([
    { "*": "deny", "TASK.md": "allow" },
    undefined,
    "allow",
    undefined,
  ]);
  expect((await configOf({ permissions: "reduced" })).permission.webfetch).toBeUndefined();
});

interface Plugin {
  readonly Signalbox: () => Promise<{
    readonly "tool.execute.before": (input: unknown, output: unknown) => Promise<void>;
    readonly "chat.message": (input: unknown, output: unknown) => Promise<void>;
    readonly event: (input: unknown) => Promise<void>;
  }>;
}

async function loadPlugin(change: Partial<HarnessOrder>) {
  await harness.prepare({ ...order, ...change });
  const text = readFileSync(join(root, "opencode-plugin.js"), "utf8");
  const plugin = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as Plugin;
  return plugin.Signalbox();
}

test("the plugin refuses commands that OpenCode's own rules would allow", async () => {
  const plugin = await loadPlugin({ permissions: "reduced" });
  const run = (command: string) => plugin["tool.execute.before"]({ tool: "bash" }, { args: { command } });
  await expect(run("(git log) > made.txt")).rejects.toThrow("not allowed");
  await expect(run("git log -1")).resolves.toBeUndefined();
  const free = await loadPlugin({});
  await expect(free["tool.execute.before"]({ tool: "bash" }, { args: { command: "rm x" } })).resolves.toBeUndefined();
});

test("the plugin reports events to the hook in order, and only those of the main conversation", async () => {
  const file = join(root, "events");
  const script =
    'let t="";process.stdin.on("data",d=>t+=d).on("end",()=>require("fs").appendFileSync(process.argv[1],t+"\\n"))';
  const plugin = await loadPlugin({ mode: "session", hook: [process.execPath, "-e", script, file] });
  const event = (type: string, properties: unknown) => plugin.event({ event: { type, properties } });
  await event("session.created", { sessionID: "child", info: { parentID: "ses_1" } });
  await plugin["chat.message"]({ sessionID: "child" }, { parts: [{ type: "text", text: "below" }] });
  await plugin["chat.message"]({ sessionID: "ses_1" }, { parts: [{ type: "text", text: "Begin." }] });
  await event("session.status", { sessionID: "ses_1", status: { type: "busy" } });
  await event("session.status", { sessionID: "ses_1", status: { type: "busy" } });
  await event("permission.asked", { sessionID: "ses_1", permission: "bash", patterns: ["rm *"] });
  await event("session.idle", { sessionID: "ses_1" });
  const lines = await waitFor(() => {
    const found = readLines(file);
    return found.length >= 5 ? found : undefined;
  });
  expect(lines.flatMap(readEvent)).toEqual([
    { kind: "session", id: "ses_1", transcript: "" },
    { kind: "prompted", text: "Begin." },
    { kind: "busy", what: "" },
    { kind: "asks", about: "bash rm *" },
    { kind: "idle", said: "" },
  ]);
});

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").trim().split("\n");
  } catch {
    return [];
  }
}

async function waitFor<Value>(look: () => Value | undefined): Promise<Value> {
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
