import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HarnessOrder } from "../../../ports/harness.ts";
import { spawnCommands } from "../../system.ts";
import { codex } from "./codex.ts";

let place = "";
let folder = "";
let order: HarnessOrder;
const now = 1_794_748_649_000;

beforeAll(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-codex-")));
  folder = join(place, "work space");
  for (const each of ["src", "target"]) mkdirSync(join(folder, each), { recursive: true });
  writeFileSync(join(folder, ".gitignore"), "/target\n/TASK.md\n");
  for (const each of ["src/a.ts", "target/out", "TASK.md"]) writeFileSync(join(folder, each), "");
  execFileSync("git", ["init", "-q"], { cwd: folder });
  order = {
    run: "r-1",
    mode: "turn",
    prompt: "Do it.",
    system: "",
    folder,
    runFolder: join(place, "run"),
    model: "",
    effort: "",
    permissions: "full",
    tools: undefined,
    taskFile: join(folder, "TASK.md"),
    testCommand: [],
    cli: "signalbox",
    session: { kind: "new", id: "" },
    schema: undefined,
    mcp: undefined,
    hook: ["/bin/hook"],
    costLimit: undefined,
    env: { PATH: process.env.PATH ?? "", HOME: "/home/u" },
  };
});
afterAll(() => rmSync(place, { recursive: true }));

const harness = () =>
  codex({
    commands: spawnCommands,
    clock: { now: () => now },
    env: order.env,
    hidden: ["/run/tmux.sock"],
  });
const prepare = (more: Partial<HarnessOrder>) => harness().prepare({ ...order, ...more });
const setting = (argv: readonly string[], key: string) =>
  argv.find((each) => each.startsWith(`${key}=`))?.slice(key.length + 1);

test("a turn reads its prompt from standard input, whatever its first character", async () => {
  const { argv, input, message, env } = await prepare({ prompt: "--help", model: "gpt-6-sol", effort: "high" });
  expect(argv.slice(1, 4)).toEqual(["exec", "--json", "--skip-git-repo-check"]);
  expect(argv.at(-1)).toBe("-");
  expect({ input, message }).toEqual({ input: "--help", message: "" });
  expect(argv[argv.indexOf("-m") + 1]).toBe("gpt-6-sol");
  expect(setting(argv, "model_reasoning_effort")).toBe('"high"');
  expect(setting(argv, "projects")).toBe(`{"${folder}"={"trust_level"="trusted"}}`);
  expect(env).toEqual(order.env);
});

test("a session gets its prompt as an argument, or as a message if it is too long for an argument", async () => {
  const short = await prepare({ mode: "session", prompt: "- do it" });
  expect(short.argv.slice(-2)).toEqual(["--", "- do it"]);
  expect(short.argv).toContain("--no-daemon");
  expect(setting(short.argv, "hooks.Stop")).toContain('"/bin/hook"');
  expect(short).toMatchObject({ input: "", message: "", session: "" });
  const long = await prepare({ mode: "session", prompt: "ä".repeat(60_000) });
  expect(long.argv).not.toContain("--");
  expect(long.message).toHaveLength(60_000);
});

test("a session is resumed by its id only", async () => {
  const id = "01a1df5b-1111-7b80-bfb5-5120d9b3de0e";
  const turn = await prepare({ session: { kind: "resume", id } });
  expect(turn.argv.slice(-3)).toEqual(["resume", id, "-"]);
  expect(turn.session).toBe(id);
  const session = await prepare({ mode: "session", session: { kind: "resume", id }, prompt: "" });
  expect(session.argv[1]).toBe("resume");
  expect(session.argv.at(-1)).toBe(id);
  await expect(prepare({ session: { kind: "resume", id: "a name" } })).rejects.toThrow("is not a session of Codex");
});

test("full permissions are a flag, and reduced permissions a profile that opens only the necessary paths", async () => {
  expect((await prepare({})).argv).toContain("--dangerously-bypass-approvals-and-sandbox");
  const { argv } = await prepare({ permissions: "reduced" });
  expect(argv).not.toContain("--dangerously-bypass-approvals-and-sandbox");
  expect(argv).toContain("--ignore-rules");
  expect(setting(argv, "default_permissions")).toBe('"signalbox-reduced"');
  expect(setting(argv, "web_search")).toBe('"disabled"');
  const access = JSON.parse((setting(argv, "permissions.signalbox-reduced.filesystem") ?? "").replaceAll('"="', '":"'));
  expect(access).toMatchObject({
    ":root": "read",
    [join(folder, "TASK.md")]: "write",
    [join(folder, "target")]: "write",
    [join(place, "run/tmp")]: "write",
    "/run/tmux.sock": "deny",
  });
  const open = Object.keys(access).filter((path) => access[path] === "write" && !/\/\.\w+$/.test(path));
  expect(open).toEqual([join(folder, "target"), join(folder, "TASK.md"), join(place, "run/tmp")]);
});

test("a task file whose name Codex takes for a pattern is refused, and other such paths stay closed", async () => {
  const odd = join(place, "[odd]");
  mkdirSync(join(odd, "target"), { recursive: true });
  execFileSync("git", ["init", "-q"], { cwd: odd });
  writeFileSync(join(odd, ".gitignore"), "/target\n");
  for (const each of ["target/out", "TASK.md"]) writeFileSync(join(odd, each), "");
  const { argv } = await prepare({ permissions: "reduced", folder: odd, taskFile: "" });
  expect(setting(argv, "permissions.signalbox-reduced.filesystem")).not.toContain("[odd]");
  const reduced = prepare({ permissions: "reduced", folder: odd, taskFile: join(odd, "TASK.md") });
  await expect(reduced).rejects.toThrow("takes the name for a pattern");
});

test("with reduced permissions the repository's own settings are not obeyed", async () => {
  const own = join(place, "own");
  mkdirSync(join(own, ".git"), { recursive: true });
  mkdirSync(join(own, "inner"));
  const trust = async (more: Partial<HarnessOrder>) =>
    /trust_level"="(\w+)/.exec(
      setting((await prepare({ taskFile: "", folder: own, ...more })).argv, "projects") ?? "",
    )?.[1];
  expect(await trust({ permissions: "reduced" })).toBe("trusted");
  mkdirSync(join(own, ".codex"));
  expect(await trust({ permissions: "reduced" })).toBe("trusted");
  writeFileSync(join(own, ".codex/config.toml"), "");
  expect(await trust({ permissions: "reduced" })).toBe("untrusted");
  expect(await trust({ permissions: "reduced", folder: join(own, "inner") })).toBe("untrusted");
  expect(await trust({ permissions: "full" })).toBe("trusted");
  const home = { env: { ...order.env, CODEX_HOME: join(own, ".codex") } };
  expect(await trust({ permissions: "reduced", ...home })).toBe("trusted");
});

test("a task file that is a link is refused", async () => {
  const [soft, hard] = [join(folder, "target/soft.md"), join(folder, "target/hard.md")];
  symlinkSync(join(folder, "src/a.ts"), soft);
  linkSync(join(folder, "src/a.ts"), hard);
  for (const taskFile of [soft, hard, join(folder, "absent.md")]) {
    await expect(prepare({ permissions: "reduced", taskFile })).rejects.toThrow("or it is a link");
  }
  rmSync(hard);
});

test("tracked folders stay closed, even if .gitignore names them, and no program of the repository is run", async () => {
  const sly = join(place, "sly");
  mkdirSync(join(sly, "src/made"), { recursive: true });
  mkdirSync(join(sly, "made"));
  for (const each of ["src/a.ts", "src/made/out", "made/out"]) writeFileSync(join(sly, each), "");
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: sly });
  git("init", "-q");
  git("add", "src/a.ts");
  writeFileSync(join(sly, ".gitignore"), "/src\nmade\n");
  git("config", "core.fsmonitor", `touch ${join(place, "ran")}; false`);
  const { argv } = await prepare({ permissions: "reduced", folder: sly, taskFile: "" });
  const access = setting(argv, "permissions.signalbox-reduced.filesystem");
  expect(access).not.toContain(`"${join(sly, "src")}"`);
  expect(access).toContain(`"${join(sly, "made")}"="write"`);
  expect(existsSync(join(place, "ran"))).toBe(false);
});

test("a run without commands gets a sandbox, in which it writes only with the tools for it", async () => {
  const accessOf = async (change: Partial<HarnessOrder>) => {
    const { argv } = await prepare(change);
    return setting(argv, "permissions.signalbox-reduced.filesystem");
  };
  const folder = realpathSync(order.folder);
  expect(await accessOf({ tools: ["read", "execute"] })).toBeUndefined();
  expect(await accessOf({ tools: ["Read", "Grep"] })).not.toContain(`"${folder}"="write"`);
  expect(await accessOf({ tools: ["Read", "Write"] })).toContain(`"${folder}"="write"`);
  expect(await accessOf({ tools: ["Read", "Write"] })).toContain(`"${join(folder, ".git")}"="read"`);
  expect(await accessOf({ tools: ["Read", "Write"], permissions: "reduced" })).not.toContain(`"${folder}"="write"`);
});

test("the web is searched where it is listed, or where all tools are allowed", async () => {
  const searches = async (change: Partial<HarnessOrder>) => setting((await prepare(change)).argv, "web_search");
  expect(await searches({ tools: ["read", "write", "execute"] })).toBe('"disabled"');
  expect(await searches({ permissions: "reduced" })).toBe('"disabled"');
  expect(await searches({ tools: ["write", "web"] })).toBeUndefined();
  expect(await searches({ tools: ["Read", "WebSearch"], permissions: "reduced" })).toBeUndefined();
  expect(await searches({})).toBeUndefined();
});

/** What the guard of such a run says to a tool; undefined where there is no guard. */
async function guarded(tools: readonly string[], tool: string, input: unknown): Promise<number | null | undefined> {
  const { argv } = await prepare({ tools });
  if (setting(argv, "hooks.PreToolUse") === undefined) return undefined;
  const call = JSON.stringify({ hook_event_name: "PreToolUse", tool_name: tool, tool_input: input });
  return spawnSync(process.execPath, [join(place, "run/codex-guard.mjs")], { input: call }).status;
}

test.each([
  [["Read", "Write"], "Bash", { command: "cat a.txt | head -3" }, 0],
  [["Read", "Write"], "Bash", { command: "git log --oneline" }, 0],
  [["Read", "Write"], "Bash", { command: "signalbox task show ." }, 0],
  [["Read", "Write"], "Bash", { command: "npm test" }, 2],
  [["Read", "Write"], "Bash", { command: "echo x > a.txt" }, 2],
  [["Read", "Write"], "exec_command", { cmd: "node -e 1" }, 2],
  [["Read", "Write"], "Bash", {}, 2],
  [["Read", "Write"], "apply_patch", { command: "*** Begin Patch" }, 0],
  [["Read", "Write"], "mcp__signalbox__comment", { text: "x" }, 0],
  [["Read", "Bash"], "apply_patch", { command: "*** Begin Patch" }, 2],
  [["Read", "Bash"], "Bash", { command: "npm test" }, 0],
  [["Read", "Write", "Bash"], "Bash", { command: "npm test" }, undefined],
  [["Read"], "Bash", { command: "npm test" }, undefined],
] as const)("with the tools %j, the guard ends %s %j with %j", async (tools, tool, input, code) => {
  expect(await guarded(tools, tool, input)).toBe(code);
});

test("a guard that does not understand what it is asked refuses", async () => {
  await prepare({ tools: ["Read", "Write"] });
  expect(spawnSync(process.execPath, [join(place, "run/codex-guard.mjs")], { input: "{" }).status).toBe(2);
});

test("only the tools of our MCP server that are listed are enabled", async () => {
  const mcp = { argv: ["sb", "mcp"], env: {} };
  const { argv } = await prepare({ mcp, tools: ["Read", "comment", "work_complete"] });
  expect(setting(argv, "mcp_servers.signalbox")).toContain('"enabled_tools"=["comment","work_complete"]');
  expect(setting((await prepare({ mcp, tools: ["Read"] })).argv, "mcp_servers.signalbox")).not.toContain("enabled");
});

test("the token of our MCP server is not among the arguments, which every user can read", async () => {
  const { argv, env } = await prepare({ mcp: { argv: ["sb", "mcp"], env: { SIGNALBOX_TOKEN: "secret" } } });
  expect(argv.join(" ")).not.toContain("secret");
  expect(env.SIGNALBOX_TOKEN).toBe("secret");
  expect(setting(argv, "mcp_servers.signalbox")).toBe(
    '{"command"="sb","args"=["mcp"],"env_vars"=["SIGNALBOX_TOKEN"],"default_tools_approval_mode"="approve"}',
  );
});

test("a schema is passed as a file in strict form; a schema without a strict form is not passed", async () => {
  const schema = { type: "object", properties: { good: { type: "boolean" } } };
  const { argv } = await prepare({ schema });
  const file = argv[argv.indexOf("--output-schema") + 1] ?? "";
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ required: ["good"], additionalProperties: false });
  expect((await prepare({ schema: { type: "object" } })).argv).not.toContain("--output-schema");
});

test("if Codex's home is in the temporary folder, the run gets another temporary folder", async () => {
  const { env } = await prepare({ env: { ...order.env, CODEX_HOME: join(tmpdir(), "codex"), TMPDIR: tmpdir() } });
  expect(env.TMPDIR).toBe(join(place, "run/tmp"));
  const other = await prepare({ env: { ...order.env, CODEX_HOME: `${tmpdir()}-codex`, TMPDIR: tmpdir() } });
  expect(other.env.TMPDIR).toBe(tmpdir());
});
