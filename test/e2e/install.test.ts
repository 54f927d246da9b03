import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "@stricli/core";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { createApp } from "../../src/cli/app.ts";
import { createContext } from "../../src/cli/context.ts";
import { exitCodeOf } from "../../src/cli/exit-code.ts";
import { skillText, stamped } from "../../src/cli/skill/skill-text.ts";
import { findRepository } from "../../src/home/find-repository.ts";
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

/** A folder with programs of these names. */
function programs(...names: readonly string[]): string {
  const folder = mkdtempSync(join(base, "bin-"));
  for (const name of names) writeFileSync(join(folder, name), "#!/bin/sh\n", { mode: 0o755 });
  return folder;
}

/** The command line in this process: a hundred times as fast as in one of its own. */
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

test("the skill goes where the agents look that are there, once for each place, and again changes nothing", async () => {
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
  // Their readers want the head at the very beginning.
  expect(readFileSync(at(claude), "utf8").startsWith("---\nname: signalbox\n")).toBe(true);

  const again = execFileSync(process.execPath, [cliFile, "install"], {
    env: { HOME: home, PATH: path },
    encoding: "utf8",
    stdio: "pipe",
  });
  expect(again).toBe(first.stdout.replaceAll("installed", "unchanged"));
});

test("agents that keep their files elsewhere find it there, and those that are named need not be installed", async () => {
  const env = { PATH: programs(), CLAUDE_CONFIG_DIR: at("config"), GEMINI_CLI_HOME: at("gemini") };
  const { changes } = await install(["--harness", "claude", "--harness", "gemini", "--harness", "codex"], env);
  expect(changes).toEqual([
    "installed config/skills/signalbox/SKILL.md",
    `installed gemini/${shared}`,
    `installed ${shared}`,
  ]);
});

test("where no agent is there, or none of that name, it says what to do and writes nothing", async () => {
  const none = await signalbox(["install"], { PATH: programs() });
  expect(none).toMatchObject({ code: 3, stdout: "" });
  expect(none.stderr).toContain("None of claude, codex, gemini, opencode is on your PATH.");
  expect(none.stderr).toContain("signalbox install --harness claude");
  expect((await signalbox(["install", "--harness", "emacs"])).code).toBe(2);
  expect(existsSync(at(".claude"))).toBe(false);
});

test("what an older version wrote is brought up to date, and doctor says so before", async () => {
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
    found: `${at(claude)} is of an older version`,
    fix: "signalbox install --harness claude",
  });
  expect((await install(["--harness", "claude"])).changes).toEqual([`updated ${claude}`]);
  expect(await check()).toMatchObject({ level: "ok", found: "installed for Claude Code" });

  writeFileSync(at(claude), stamped("Old.\n", "0.0.1"));
  expect(await check("--fix")).toMatchObject({ level: "ok", mended: "updated it" });
  expect(readFileSync(at(claude), "utf8")).toBe(skillText());
});

test("what a newer version wrote stays, unless it is forced", async () => {
  await install(["--harness", "claude"]);
  writeFileSync(at(claude), stamped("New.\n", "99.0.0"));
  const kept = await install(["--harness", "claude"]);
  expect(kept).toMatchObject({ code: 1, places: [{ change: "kept", note: "a newer Signalbox wrote it" }] });
  expect((await install(["--harness", "claude", "--force"])).changes).toEqual([`updated ${claude}`]);
});

test("what the user has changed is neither replaced nor removed, unless it is forced, and then kept beside it", async () => {
  await install(["--harness", "claude", "--harness", "codex"]);
  appendFileSync(at(claude), "Ask me in Italian.\n");
  const mine = readFileSync(at(claude), "utf8");

  const again = await signalbox(["install", "--harness", "claude"]);
  expect(again.code).toBe(1);
  expect(again.stdout).toBe(`kept       ${at(claude)}  (Claude Code): it is not as Signalbox wrote it\n`);
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
  // The copy is the user's.
  expect(existsSync(`${at(claude)}.before`)).toBe(true);
});

test("for a project it goes to the root of the repository, from wherever one is in it", async () => {
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
  expect(outside.stderr).toContain("This folder is in no git repository.");
});

const hindrances: readonly (readonly [code: string, hinder: (path: string) => void])[] = [
  ["EEXIST", (path) => writeFileSync(path, "")],
  // Root may write everywhere.
  ...(process.getuid?.() === 0 ? [] : [["EACCES", (path: string) => mkdirSync(path, { mode: 0o500 })] as const]),
];

test.each(hindrances)("a folder that cannot be made is named (%s)", async (code, hinder) => {
  hinder(at(".claude"));
  const refused = await signalbox(["install", "--harness", "claude"]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(`The folder ${at(".claude/skills/signalbox")} cannot be made (${code}).`);
});
