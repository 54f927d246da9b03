import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { startCommands } from "./agent-stage.ts";
import { atTerminal } from "./at-terminal.ts";

vi.setConfig({ testTimeout: 240_000 });

const flow = `name: flow
version: 1
roles:
  teller: { mode: turn, prompt: tell }
states:
  todo: { waits_for: slot, next: telling }
  telling: { agent: { role: teller, prompt: tell }, outcomes: [{ then: told }] }
  told: { waits_for: human, ask: Hear it, next: over }
  over: { terminal: true }
transitions:
  - { from: todo, to: telling, hooks: [acquire_workspace] }
prompts: { tell: "Tell about {summary}." }
`;
const config = "harness: parrot\nworkflow: flow\nharnesses: { parrot: { title: The Parrot, turn: { argv: [cat] } } }\n";

test("signalbox alone guides a person from a repository to its first task, and can be left at any point", async () => {
  const { json, signalbox, until, base, env, main, repository } = await startCommands("", { flow, config });
  const git = (folder: string, ...args: readonly string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], { env });
  const alone = (folder: string) => atTerminal([process.execPath, main], { base, env, folder });
  const projects = async () => (await json("project", "list")).projects;
  const tea = join(base, "drinks", "coffee");
  mkdirSync(tea, { recursive: true });

  // Outside of a repository it says what to do.
  const outside = alone(join(base, "drinks"));
  await outside.shows(
    /not in a git repository[\s\S]*git init[\s\S]*Your projects:\n {2}coffee {2}[\s\S]*it ended with 0/,
  );
  git(tea, "init", "-q", "-b", "main");
  await alone(tea).shows(/It has no commit[\s\S]*git commit[\s\S]*it ended with 1/);
  // The same where it was made a project before its first commit, also without a terminal.
  expect((await signalbox(["init", tea, "--name", "early"])).code).toBe(0);
  await alone(tea).shows(/It has no commit[\s\S]*git commit[\s\S]*it ended with 1/);
  const guided = spawnSync(process.execPath, [main, "guide"], { cwd: tea, env, encoding: "utf8" });
  expect(guided.stderr).toMatch(/Next:\n {2}git commit/);
  expect((await signalbox(["project", "remove", "early", "--yes"])).code).toBe(0);
  git(tea, "commit", "-q", "--allow-empty", "-m", "first");

  // Left before anything was agreed to: nothing has changed.
  const leaving = alone(tea);
  await leaving.shows(/not a project yet\.\nAnother project is called "coffee"\. What should this one be called\?/);
  leaving.say("not a name");
  await leaving.shows(/A name has letters[\s\S]*called\?$/);
  leaving.say("tea");
  await leaving.shows(/1 {2}The Parrot\n[\s\S]*Make it the project "tea"\? \[Y\/n\]$/);
  leaving.press("C-c");
  await leaving.shows(/Nothing has changed[\s\S]*it ended with 1/);
  expect(await projects()).toHaveLength(1);

  // Left at the permissions: only the project was created.
  const pausing = alone(tea);
  await pausing.shows(/called\?$/);
  pausing.say("tea");
  await pausing.shows(/\[Y\/n\]$/);
  pausing.press("Enter");
  await pausing.shows(/Agents of tea work with full permissions in The Parrot[\s\S]*\[y\/N\]$/);
  pausing.press("C-c");
  await pausing.shows(/To continue from here: signalbox\nit ended with 1/);
  expect(await projects()).toMatchObject([{ name: "coffee" }, { name: "tea", fullPermissions: "ask" }]);

  const refusing = alone(tea);
  await refusing.shows(/\[y\/N\]$/);
  refusing.press("Enter");
  await refusing.shows(/no agent is started[\s\S]*it ended with 0/);

  // Run again, it continues there.
  const going = alone(tea);
  await going.shows(/Agents of tea work with full permissions[\s\S]*\[y\/N\]$/);
  going.say("yes");
  await going.shows(/What should be done first, in one line\? \(Enter for nothing yet\)$/);
  going.say("Boil the water");
  const [, id = ""] = await going.shows(/tea#1 is created, with the id (\w+)\. Next steps:/);
  await going.shows(
    new RegExp(`signalbox task attach ${id}[\\s\\S]*signalbox task merge ${id}[\\s\\S]*it ended with 0`),
  );
  await until(id, ({ status }) => status === "told");

  // Then it shows the project's state; without the word, it opens the dashboard.
  const standing = atTerminal([process.execPath, main, "guide"], { base, env, folder: tea });
  await standing.shows(new RegExp(`^tea {2}1 open · 1 needs you[\\s\\S]*! {2}${id} {2}told +Boil the water`));
  await standing.shows(new RegExp(`Hear it → signalbox task \\w+ ${id}\\n\\nNext:\\n[\\s\\S]*it ended with 0`));
  const first = alone(repository);
  await first.shows(/What should be done first/);
  first.press("Enter");
  await first.shows(/When you know: signalbox task create[\s\S]*it ended with 0/);

  // Programs still get the help.
  const plain = await signalbox([]);
  expect(plain).toMatchObject({ code: 0, stderr: "" });
  expect(plain.stdout).toContain("Commands:");
  expect(await signalbox(["guide"])).toMatchObject({ code: 0 });
});

test("if the project's harness is not installed, the guide says what to do", async () => {
  const env = (base: string) => ({ PATH: toolsOnly(base) });
  const { base, env: given, main, repository } = await startCommands("", { flow, harness: "", env });
  const alone = atTerminal([process.execPath, main], { base, env: given, folder: repository });
  await alone.shows(/run in Claude Code, which is not installed\.[\s\S]*signalbox harness list[\s\S]*it ended with 1/);
});

/** A PATH with the needed programs and no harness. */
function toolsOnly(base: string): string {
  const folder = join(base, "tools");
  mkdirSync(folder);
  for (const name of ["git", "tmux", "sh", "stty", "tr", "grep", "sleep", "ps"]) {
    const path = execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    execFileSync("ln", ["-s", path, join(folder, name)]);
  }
  return folder;
}
