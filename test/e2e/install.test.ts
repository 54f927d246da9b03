import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "@stricli/core";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { createContext } from "../../src/cli/context.ts";
import { exitCodeOf } from "../../src/cli/fast/tell.ts";
import { skillText, stamped } from "../../src/cli/skill.ts";
import { createApp } from "../../src/cli/start.ts";
import { findRepository } from "../../src/home/places.ts";
import { cliFile } from "../programs.ts";
import { removeFolder } from "../remove-folder.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-install-")));
afterAll(() => removeFolder(base));

let home = "";
let homes = 0;

beforeEach(() => {
  home = join(base, `home-${++homes}`);
  mkdirSync(home);
  vi.stubEnv("HOME", home);
});
afterEach(() => vi.unstubAllEnvs());

/** A folder with programs that have these names. */
function programs(...names: readonly string[]): string {
  const folder = mkdtempSync(join(base, "bin-"));
  for (const name of names) writeFileSync(join(folder, name), "#!/bin/sh\n", { mode: 0o755 });
  return folder;
}

/** Runs the command line in this process, which is a hundred times faster than a new one. */
async function signalbox(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd = home) {
  const said = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof said) => ({
    write: (text: string) => {
      said[name] += text;
    },
  });
  const all = { PATH: process.env.PATH, ...env };
  const own = { stdout: stream("stdout"), stderr: stream("stderr"), env: all, exitCode: undefined };
  const created = createContext(own as unknown as NodeJS.Process);
  const context = { ...created, home: join(home, ".signalbox"), repository: findRepository(cwd) };
  await run(createApp(context), args, context);
  return { code: exitCodeOf(own.exitCode), ...said };
}

/** What `install --json` did, as pairs of a path below the home and the change. */
async function install(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd = home) {
  const { code, stdout, stderr } = await signalbox(["install", "--json", ...args], env, cwd);
  expect(stderr).toBe("");
  const { places } = JSON.parse(stdout) as { places: readonly { path: string; change: string; note: string | null }[] };
  return { code, changes: places.map(({ path, change }) => `${change} ${path.replace(`${home}/`, "")}`), places };
}

const claude = ".claude/skills/signalbox/SKILL.md";
const shared = ".agents/skills/signalbox/SKILL.md";
const at = (place: string) => join(home, place);

test("the skill is installed once for each place where installed agents look, and a second install changes nothing", async () => {
  const path = programs("claude", "gemini", "opencode");
  const tried = await signalbox(["install", "--dry-run"], { PATH: path });
  expect(tried.stdout).toContain(`would be installed  ${at(claude)}  (Claude Code)\n`);
  expect(tried.stderr).toContain("Nothing has changed.");
  expect(existsSync(at(".claude"))).toBe(false);

  const first = await signalbox(["install"], { PATH: path });
  expect(first.code).toBe(0);
  expect(first.stdout).toBe(
    `installed  ${at(claude)}  (Claude Code)\ninstalled  ${at(shared)}  (Gemini CLI and OpenCode)\n`,
  );
  expect(first.stderr).toContain("Start Claude Code, Gemini CLI or OpenCode in a repository");
  expect([claude, shared].map((place) => readFileSync(at(place), "utf8"))).toEqual([skillText(), skillText()]);
  // Agents expect the front matter at the very beginning.
  expect(readFileSync(at(claude), "utf8").startsWith("---\nname: signalbox\n")).toBe(true);

  const again = execFileSync(process.execPath, [cliFile, "install"], {
    env: { HOME: home, PATH: path },
    encoding: "utf8",
    stdio: "pipe",
  });
  expect(again).toBe(first.stdout.replaceAll("installed", "unchanged"));
});

test("the skill follows an agent's own configuration folder, and named agents need not be installed", async () => {
  const env = { PATH: programs(), CLAUDE_CONFIG_DIR: at("config"), GEMINI_CLI_HOME: at("gemini") };
  const { changes } = await install(["--harness", "claude", "--harness", "gemini", "--harness", "codex"], env);
  expect(changes).toEqual([
    "installed config/skills/signalbox/SKILL.md",
    `installed gemini/${shared}`,
    `installed ${shared}`,
  ]);
});

test("without an agent, or with an unknown name, install says what to do and writes nothing", async () => {
  const none = await signalbox(["install"], { PATH: programs() });
  expect(none).toMatchObject({ code: 3, stdout: "" });
  expect(none.stderr).toContain("None of claude, codex, gemini, opencode is on your PATH.");
  expect(none.stderr).toContain("signalbox install --harness claude");
  expect((await signalbox(["install", "--harness", "emacs"])).code).toBe(2);
  expect(existsSync(at(".claude"))).toBe(false);
});

test("a skill of an older version is updated, and doctor reports it before", async () => {
  mkdirSync(join(at(claude), ".."), { recursive: true });
  writeFileSync(at(claude), stamped("---\nname: signalbox\n---\nOld.\n", "0.0.1"));
  const check = async (...flags: readonly string[]) => {
    const { checks } = JSON.parse((await signalbox(["doctor", "--json", ...flags])).stdout) as {
      checks: readonly { name: string; level: string; found: string; fix: string; mended: string | null }[];
    };
    return checks.find(({ name }) => name === "skill");
  };
  expect(await check()).toMatchObject({
    level: "warning",
    found: `${at(claude)} has an older version`,
    fix: "signalbox install --harness claude",
  });
  expect((await install(["--harness", "claude"])).changes).toEqual([`updated ${claude}`]);
  expect(await check()).toMatchObject({ level: "ok", found: "installed for Claude Code" });

  writeFileSync(at(claude), stamped("Old.\n", "0.0.1"));
  expect(await check("--fix")).toMatchObject({ level: "ok", mended: "updated it" });
  expect(readFileSync(at(claude), "utf8")).toBe(skillText());
});

test("a skill of a newer version is kept, unless --force is given", async () => {
  await install(["--harness", "claude"]);
  writeFileSync(at(claude), stamped("New.\n", "99.0.0"));
  const kept = await install(["--harness", "claude"]);
  expect(kept).toMatchObject({ code: 1, places: [{ change: "kept", note: "a newer Signalbox wrote it" }] });
  expect((await install(["--harness", "claude", "--force"])).changes).toEqual([`updated ${claude}`]);
});

test("a changed skill is neither replaced nor removed without --force, and then a copy is kept", async () => {
  await install(["--harness", "claude", "--harness", "codex"]);
  appendFileSync(at(claude), "Ask me in Italian.\n");
  const mine = readFileSync(at(claude), "utf8");

  const again = await signalbox(["install", "--harness", "claude"]);
  expect(again.code).toBe(1);
  expect(again.stdout).toBe(`kept       ${at(claude)}  (Claude Code): it was changed since Signalbox wrote it\n`);
  expect(again.stderr).toContain("--force");
  expect((await signalbox(["doctor", "--json"])).stdout).toContain(`changed by you: ${at(claude)}`);

  expect(await install(["--remove"])).toMatchObject({ code: 1, changes: [`kept ${claude}`, `removed ${shared}`] });
  expect(readFileSync(at(claude), "utf8")).toBe(mine);
  expect(existsSync(join(at(shared), ".."))).toBe(false);

  const forced = await install(["--harness", "claude", "--force"]);
  expect(forced).toMatchObject({ code: 0, changes: [`replaced ${claude}`] });
  expect(readFileSync(`${at(claude)}.before`, "utf8")).toBe(mine);
  expect(readFileSync(at(claude), "utf8")).toBe(skillText());

  expect((await install(["--remove"])).changes).toEqual([`removed ${claude}`, `absent ${shared}`]);
  // The copy belongs to the user.
  expect(existsSync(`${at(claude)}.before`)).toBe(true);
});

test("with --project the skill goes to the root of the repository, from any folder in it", async () => {
  const inside = join(home, "coffee", "src");
  mkdirSync(inside, { recursive: true });
  mkdirSync(join(home, "coffee", ".git"));
  const all = ["claude", "codex", "gemini", "opencode"].flatMap((name) => ["--harness", name]);
  expect((await install(["--project", ...all], {}, inside)).changes).toEqual([
    `installed coffee/${claude}`,
    `installed coffee/${shared}`,
  ]);
  const outside = await signalbox(["install", "--project", "--harness", "claude"]);
  expect(outside.code).toBe(3);
  expect(outside.stderr).toContain("This folder is not in a git repository.");
});

const hindrances: readonly (readonly [code: string, hinder: (path: string) => void])[] = [
  ["EEXIST", (path) => writeFileSync(path, "")],
  // Root can write everywhere.
  ...(process.getuid?.() === 0 ? [] : [["EACCES", (path: string) => mkdirSync(path, { mode: 0o500 })] as const]),
];

test.each(hindrances)("a folder that cannot be created is named (%s)", async (code, hinder) => {
  hinder(at(".claude"));
  const refused = await signalbox(["install", "--harness", "claude"]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(`The folder ${at(".claude/skills/signalbox")} cannot be created (${code}).`);
});
