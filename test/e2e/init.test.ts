import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { builtIn } from "../language/workflow-texts.ts";
import { cliFile } from "../programs.ts";
import { atTerminal } from "./at-terminal.ts";
import { git, startBrew } from "./brew-stage.ts";

vi.setConfig({ testTimeout: 120_000 });

function fillRepository(folder: string): void {
  const files = {
    "package.json": '{ "scripts": { "test": "vitest" } }\n',
    "package-lock.json": "{}\n",
    ".gitignore": "node_modules/\n.env*\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  git(folder, "add", "-A");
  git(folder, "commit", "--quiet", "-m", "package");
  writeFileSync(join(folder, ".env"), "SECRET=1\n");
  mkdirSync(join(folder, "node_modules/x"), { recursive: true });
  writeFileSync(join(folder, "node_modules/x/index.js"), "");
}

test("init proposes setup, tests and .env from the repository's files, and its printed commands can be run", async () => {
  const { base, env, signalbox, in: at } = await startBrew(["coffee", "tea"], []);
  for (const name of ["coffee", "tea"]) fillRepository(at(name));
  const coffee = at("coffee");
  const { stderr } = await signalbox(["init"], coffee);
  expect(stderr).toContain("They lack what git ignores here: .env, node_modules/.");
  const commands = [...stderr.matchAll(/^ {2}signalbox (.+)$/gm)].map(([, line = ""]) => line);
  expect(commands).toEqual([
    "config set setup '[npm, ci]' --repository",
    "config set test_command '[npm, run, test]' --repository",
    "config set copy '[.env]' --repository",
    "trust --config",
  ]);
  for (const line of commands) {
    const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");
    expect({ line, ...(await signalbox(words, coffee)) }).toMatchObject({ line, code: 0 });
  }
  expect((await signalbox(["config", "get", "setup"], coffee)).stdout).toBe("[npm, ci]\n");
  // Configured settings are not proposed again.
  expect((await signalbox(["init"], coffee)).stderr).not.toContain("config set");

  const asked = atTerminal([process.execPath, cliFile, "init"], { base, env, folder: at("tea") });
  await asked.shows(
    /setup +npm ci {2}\(package-lock\.json\)\n +test_command +npm run test .*\n +copy +\.env {2}\(not in git\)/,
  );
  asked.say("y");
  await asked.shows(/it ended with 0/);
  const written = readFileSync(join(at("tea"), ".signalbox/config.yml"), "utf8");
  expect(written).toMatch(/^setup:\n {2}- npm\n {2}- ci\n/m);
  expect((await signalbox(["config", "get"], at("tea"))).stderr).not.toContain("until you trust it");
});

test("a wrong value is refused with the right form, and a command may be written as typed in a shell", async () => {
  const { signalbox, home, in: at } = await startBrew(["coffee"]);
  const set = (...args: readonly string[]) => signalbox(["config", "set", ...args], at("coffee"));
  expect((await set("test_command", "python3 -m unittest")).code).toBe(0);
  expect((await signalbox(["config", "get", "test_command"], at("coffee"))).stdout).toBe('[python3, "-m", unittest]\n');
  const shell = await set("test_command", "make && make test");
  expect(shell).toMatchObject({ code: 2, stdout: "" });
  const [, advice = ""] = /signalbox config set test_command '(.+)'\n/.exec(shell.stderr) ?? [];
  expect((await set("test_command", advice)).code).toBe(0);
  expect(await set("harness", "nonsense")).toMatchObject({
    code: 2,
    stderr:
      'error: There is no harness "nonsense".\nKnown harnesses: claude, codex, gemini, opencode, scripted. To see what is installed: signalbox harness list\n',
  });
  expect(await set("workflow", "nosuch")).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/^error: There is no workflow "nosuch"\.\nKnown: classic, crew, default,/),
  });
  expect((await set("workflow", "nosuch", "--repository")).code).toBe(3);
  expect((await signalbox(["config", "get", "workflow"], at("coffee"))).stdout).not.toContain("nosuch");
  const help = (await set("--help")).stdout;
  const { values } = JSON.parse((await signalbox(["config", "get", "--json"], at("coffee"))).stdout);
  for (const { key } of values) expect(help).toMatch(new RegExp(`^ +${key}: \\S`, "m"));
  expect((await set("harness", "claud")).stderr).toContain('Did you mean "claude"?');
  expect(existsSync(join(home, "config.yml"))).toBe(true);
  expect((await set("harness", "scripted")).code).toBe(0);
});

test("a configured workflow that does not exist is named with the place where it stands, by doctor and at the creation of a task", async () => {
  const { signalbox, home, in: at } = await startBrew(["coffee"]);
  const run = (...words: readonly string[]) => signalbox(words, at("coffee"));
  expect((await run("config", "set", "harness", "scripted")).code).toBe(0);
  expect((await run("init")).code).toBe(0);
  writeFileSync(join(home, "config.yml"), "harness: scripted\nworkflow: nosuch\n");
  const created = await run("task", "create", "Brew it");
  expect(created.code).toBe(3);
  expect(created.stderr).toContain(`There is no workflow "nosuch". It stands in ${join(home, "config.yml")}.`);
  const found = async () => {
    const { checks } = JSON.parse((await run("doctor", "--json")).stdout);
    return checks.find(({ name }: { name: string }) => name === "workflows");
  };
  expect(await found()).toMatchObject({
    level: "error",
    found: `workflow in ${join(home, "config.yml")}: there is no workflow "nosuch"`,
    fix: "signalbox config set workflow default",
  });
  expect((await run("config", "set", "workflow", "default")).code).toBe(0);
  const own = join(home, "workflows", "mine.yml");
  mkdirSync(join(home, "workflows"), { recursive: true });
  writeFileSync(own, builtIn("minimal").replace("name: minimal", "name: mine"));
  expect((await run("project", "update", "coffee", "--workflow", "mine")).code).toBe(0);
  rmSync(own);
  expect((await run("task", "create", "Brew it")).stderr).toContain(
    'There is no workflow "mine". It is the workflow of the project coffee.',
  );
  expect(await found()).toMatchObject({
    found: 'the project coffee: there is no workflow "mine"',
    fix: "signalbox project update coffee --workflow default",
  });
});

test("init and project add name the branch that work is merged into, and warn about a branch that was checked out by chance", async () => {
  const { base, signalbox, in: at } = await startBrew(["coffee", "tea"], []);
  const coffee = at("coffee");
  git(coffee, "branch", "-M", "main");
  git(coffee, "switch", "--quiet", "-c", "feature");
  const { stderr } = await signalbox(["init"], coffee);
  expect(stderr).toMatch(/^Work starts from feature, and is merged into it\.\nwarning: .* main is also there\./m);
  const [, advice = ""] = /signalbox (project update .*)$/m.exec(stderr) ?? [];
  expect((await signalbox(advice.split(" "), coffee)).code).toBe(0);
  const again = (await signalbox(["init"], coffee)).stderr;
  expect(again).toContain("Work starts from main, and is merged into it.");
  expect(again).not.toContain("warning");
  git(coffee, "remote", "add", "origin", at("tea"));
  expect((await signalbox(["init"], coffee)).stderr).toContain(
    "Each merge is also pushed to origin; to prevent that: ",
  );
  git(coffee, "branch", "-m", "main", "renamed");
  const [renamed, create] = [await signalbox(["init"], coffee), await signalbox(["task", "create", "Brew it"], coffee)];
  expect(renamed.stderr).toMatch(/^warning: Work would start from main, but there is no such branch\..* feature$/m);
  expect(create).toMatchObject({ code: 1, stderr: expect.stringMatching(/has no branch "main".*\n.* feature$/m) });
  git(coffee, "checkout", "-q", "--detach");
  expect((await signalbox(["init"], coffee)).stderr).toMatch(/No branch is checked out\. .* switch -c main$/m);

  // In a clone the remote's default branch counts, and the suggested command creates it if it is missing.
  const milk = join(base, "milk");
  git(at("tea"), "branch", "-M", "harvest");
  git(base, "clone", "--quiet", at("tea"), milk);
  git(milk, "switch", "--quiet", "-c", "feature");
  git(milk, "branch", "--quiet", "-D", "harvest");
  const added = await signalbox(["project", "add", milk]);
  expect(added.stderr).toContain("harvest is the remote's default");
  const [, branch = "", update = ""] = /instead: git (.*) && signalbox (.*)$/m.exec(added.stderr) ?? [];
  git(base, ...branch.split(" "));
  expect((await signalbox(update.split(" "))).code).toBe(0);
});

test("doctor, init and the guide report that git has no author, and their suggested commands work", async () => {
  const { base, env, signalbox } = await startBrew([]);
  const folder = join(base, "empty");
  mkdirSync(folder);
  git(folder, "init", "--quiet", "-b", "main");
  const nobody = Object.fromEntries(Object.entries(env).filter(([name]) => !/^(GIT_|EMAIL$|XDG_)/.test(name)));
  const as = { ...nobody, HOME: base, GIT_CONFIG_NOSYSTEM: "1" };
  const run = (line: string) => spawnSync("sh", ["-c", line], { cwd: folder, env: as, encoding: "utf8" });
  const own = (...words: readonly string[]) => run([process.execPath, cliFile, ...words].join(" "));
  expect(own("doctor").stdout).toMatch(/git does not know your name and email[\s\S]*git config --global user\.name/);
  const { stderr } = own("init");
  const lines = [...stderr.matchAll(/^ {2}(git config .+)$/gm)].map(([, line = ""]) => line);
  expect(lines).toHaveLength(2);
  const [, commit = ""] = /start from: (git commit .*)$/m.exec(stderr) ?? [];
  await signalbox(["project", "remove", "empty", "--yes"]);
  const guide = atTerminal([process.execPath, cliFile], { base, env: as, folder });
  const [, advised = ""] = await guide.shows(/run signalbox again:\n((?: {2}git .*\n)+)it ended/);
  expect(advised.match(/git .*/g)).toEqual([...lines, "git add -A", commit]);
  expect(run(`set -e\n${advised}`)).toMatchObject({ status: 0 });
  expect(own("doctor").stdout).not.toContain("name and email");
});

test("a file is not offered to become a repository", async () => {
  const { signalbox, base, in: at } = await startBrew(["coffee"], []);
  const file = join(base, "env.sh");
  writeFileSync(file, "");
  for (const args of [
    ["init", file],
    ["project", "add", file],
  ]) {
    const { code, stderr } = await signalbox(args);
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining("is a file")]);
    expect(stderr).not.toContain("git -C");
  }
  // A file in a repository stands for the repository.
  expect((await signalbox(["init", join(at("coffee"), "recipe.md"), "--json"])).code).toBe(0);
});
