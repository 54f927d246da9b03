import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { socketRequest } from "../../src/api/socket-request.ts";
import { homePlaces } from "../../src/home/places.ts";
import { cliFile } from "../programs.ts";
import { removeFolder } from "../remove-folder.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-task-")));
const home = join(base, "home");
const coffee = join(base, "coffee");
const tea = join(base, "tea");

/** Only people move these tasks, so no agent is needed. */
const brew = `name: brew
version: 1
unclear: asking
settings:
  cups: { default: 1, min: 1 }
presets: { party: { cups: 20 } }
states:
  todo: { waits_for: human, next: brewing }
  asking: { waits_for: human, ask: What do you want?, next: todo }
  brewing: { terminal: false }
  tasting: { waits_for: human, next: served }
  served: { terminal: true }
  spilled: { terminal: true, outcome: cancelled }
transitions:
  - { from: brewing, to: tasting, by: human, gate: [{ section: "## Recipe", fields: [BEANS, WATER] }, { section: "## Cup" }] }
  - { from: any, to: spilled, by: human }
`;

/** With a role whose run the test registers itself. */
const roast = `name: roast
version: 1
roles: { roaster: { mode: session, prompt: roast } }
states:
  todo: { waits_for: human, next: roasting }
  roasting: { agent: { role: roaster } }
  roasted: { terminal: true }
transitions:
  - { from: todo, to: roasting, by: human }
  - { from: roasting, to: roasted, by: roaster, gate: { section: "## Roast" } }
prompts: { roast: "Roast {summary}" }
`;

const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(SIGNALBOX_|NO_COLOR)/.test(name)),
);
const environment = {
  ...inherited,
  FORCE_COLOR: "1",
  SIGNALBOX_HOME: home,
  NODE_COMPILE_CACHE: join(base, "compiled"),
  TMPDIR: join(base, "tmp"),
  // Without an author, init would print a warning.
  ...{ GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.org" },
  ...{ GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.org" },
};

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Place {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

function signalbox(args: readonly string[], { cwd = coffee, env = {}, input = "" }: Place = {}): Promise<Ran> {
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      [cliFile, ...args],
      { cwd, env: { ...environment, ...env } },
      (error, stdout, stderr) => done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}

const task = (...args: string[]) => signalbox(["task", ...args]);

/** Runs command lines that have nothing to do with each other, two at a time: there may be only two cores. */
async function each(lines: readonly (readonly string[])[], place: Place = {}): Promise<readonly Ran[]> {
  const results: Ran[] = [];
  const queue = [...lines.entries()];
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      results[next[0]] = await signalbox(next[1], place);
    }
  };
  await Promise.all([work(), work()]);
  return results;
}
const json = ({ stdout }: Ran) => JSON.parse(stdout);

/** Creates a task and returns its id. */
async function create(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await task("create", ...args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: expect.stringMatching(/^To see /) });
  return stdout.split(" ")[0] ?? "";
}

beforeAll(async () => {
  for (const folder of [join(home, "workflows"), join(base, "tmp"), join(coffee, "src"), tea]) {
    mkdirSync(folder, { recursive: true });
  }
  writeFileSync(join(home, "workflows", "brew.yml"), brew);
  writeFileSync(join(home, "workflows", "roast.yml"), roast);
  await git("init", "--quiet", "--initial-branch", "main");
}, 60_000);

afterAll(async () => {
  const { pid } = json(await signalbox(["status", "--json"]));
  const { code } = await signalbox(["down"]);
  if (code !== 0 && pid !== null) process.kill(pid, "SIGKILL");
  removeFolder(base);
}, 60_000);

function git(...args: string[]): Promise<void> {
  return new Promise((done, fail) => {
    execFile("git", args, { cwd: coffee }, (error) => (error ? fail(error) : done()));
  });
}

describe("a new user", () => {
  test("is told at each step what to do next", async () => {
    const nothing = await task("list");
    expect(nothing).toEqual({
      code: 0,
      stdout: "",
      stderr: "There are no tasks, and no project yet. To register a repository, run in it: signalbox init\n",
    });
    expect(await signalbox(["init"], { cwd: tea })).toEqual({
      code: 3,
      stdout: "",
      stderr: `error: ${tea} is not in a git repository.\nTo make it one: git -C ${tea} init\n`,
    });
    const made = await signalbox(["init", "--workflow", "brew", "--pool-size", "50"], { cwd: join(coffee, "src") });
    expect(made).toEqual({
      code: 0,
      stdout: `coffee  ${coffee}\n`,
      stderr:
        "Work starts from main, and is merged into it.\n" +
        "Each task works in a clone, which shares nothing with your repository.\n" +
        'It has no commit yet, and agents need one to start from: git commit --allow-empty -m "The beginning"\n' +
        "There is no channel to call you when a task needs you: there is no desktop here. Set notify.webhook, notify.command " +
        "or chat.telegram (signalbox config set), or keep signalbox events --follow --bell open.\n" +
        'To create a task: signalbox task create "What is to be done"\n',
    });
    const again = await signalbox(["init", "--name", "other"]);
    expect(again).toMatchObject({ code: 0, stdout: `coffee  ${coffee}\n` });
    expect(again.stderr).toContain("It is already a project.\nNothing about it has changed.");
    expect((await task("list")).stderr).toBe(
      'There are no open tasks in coffee. To create one: signalbox task create "What is to be done"\n',
    );
    // An empty shell variable is not a task, and an unknown state is not a filter.
    for (const words of [[""], ["stronger", ""]]) {
      const empty = await task("create", ...words);
      expect(empty).toMatchObject({ code: 2, stdout: "" });
      expect(empty.stderr).toContain("The summary is missing");
    }
    const misspelt = await task("list", "--status", "revewing");
    expect(misspelt).toMatchObject({ code: 2, stdout: "" });
    expect(misspelt.stderr).toBe(
      'error: None of the available workflows has a state "revewing".\nDid you mean "reviewing"?\n',
    );
    const created = await task("create", "Make it stronger");
    expect(created.stdout).toMatch(/^(\w{5}) {2}coffee#1 {2}signalbox\/\1 {2}todo\n$/);
    expect(created.stderr).toMatch(/^To see what happens next: signalbox task explain \w{5}\n$/);
    const listed = await task("list");
    expect(listed.stdout).toMatch(
      /^ +ID +TASK +STATUS +SUMMARY +BRANCH +AGE\n! +\w{5} +coffee#1 +todo +Make it stronger +signalbox\/\w{5} +\d+s\n$/,
    );
    expect(listed.stderr).toBe("\n! it needs a person; signalbox task explain ID says what to do\n");
  });
});

describe("project", () => {
  test("is added, listed, changed and removed", async () => {
    const beside = join(base, "My Café");
    mkdirSync(join(beside, ".git", "refs"), { recursive: true });
    mkdirSync(join(beside, ".git", "objects"));
    writeFileSync(join(beside, ".git", "HEAD"), "ref: refs/heads/trunk\n");
    const added = await signalbox(["project", "add", beside, "--pool-size", "2", "--json"]);
    expect(json(added)).toMatchObject({
      name: "My-Cafe",
      path: beside,
      poolSize: 2,
      defaultBranch: "trunk",
      workflow: "",
    });
    expect(await signalbox(["project", "add", beside])).toMatchObject({ code: 1, stdout: "" });
    expect((await signalbox(["project", "list"])).stdout).toMatch(/^My-Cafe +– +– +2 +clone +trunk +.*My Café$/m);
    const changed = await signalbox(["project", "update", "My-Cafe", "--pool-size", "3", "--harness", "codex"]);
    expect(changed).toMatchObject({ code: 0, stdout: "harness: codex\npool-size: 3\n" });
    const wrong = await each([
      ["project", "update", "My-Cafe"],
      ["project", "update", "nowhere", "--pool-size", "3"],
      ["project", "remove", "My-Cafe"],
    ]);
    expect(wrong.map(({ code, stdout }) => [code, stdout])).toEqual([
      [2, ""],
      [3, ""],
      [2, ""],
    ]);
    expect(wrong[2]?.stderr).toContain("add --yes");
    expect(await signalbox(["project", "remove", "My-Cafe", "--yes"])).toMatchObject({ code: 0 });
    expect(await signalbox(["project", "remove", "My-Cafe", "--yes"])).toMatchObject({ code: 3 });
    expect(existsSync(beside)).toBe(true);
  });
});

describe("task create", () => {
  test("takes a branch, a summary, context from stdin, and settings", async () => {
    const args = [
      "task",
      "create",
      "two-cups",
      "Two cups",
      "--context",
      "-",
      "--label",
      "a",
      "--label",
      "b",
      "--priority",
      "-3",
    ];
    const made = await signalbox([...args, "--set", "cups=2", "--no-spawn", "--json"], {
      input: "For two.\n\n## Sneaky\n",
      env: { SIGNALBOX_HARNESS: "codex" },
    });
    const { task: view } = json(made);
    expect(view).toMatchObject({ branch: "two-cups", summary: "Two cups", labels: ["a", "b"], priority: -3 });
    expect(view).toMatchObject({ harness: "codex", autostart: false, workflow: "brew", project: "coffee" });
    const { document } = json(await task("show", "two-cups", "--json"));
    expect(document.text).toContain("## Context\n\nFor two.\n\n### Sneaky\n");
  });

  test("creates an unclear task in the state in which the workflow asks", async () => {
    const [, name, , status] = (await task("create", "--summary", "")).stdout.trim().split("  ");
    expect(status).toBe("asking");
    expect((await task("show", name ?? "")).stdout).toContain("(no summary)");
  });

  test("refuses invalid values, and says why", async () => {
    const cases: readonly (readonly [readonly string[], number, string])[] = [
      [["--project", "cofee", "x y"], 3, 'There is no project "cofee".\nDid you mean "coffee"?'],
      [["main", "x"], 1, '"main" is the branch that work is merged into. A task needs its own branch.'],
      [["bad..name", "x"], 1, 'The branch name "bad..name" contains two dots in a row.'],
      [["x y", "--set", "cups=0"], 2, 'The setting "cups" must be at least 1, but is 0.'],
      [["x y", "--context", "a", "--context-file", "b"], 2, "--context and --context-file cannot both be given."],
      [["x y", "--context-file", "nowhere"], 3, "There is no file nowhere."],
      [["x y", "--workflow", "brwe"], 3, 'There is no workflow "brwe".'],
      [["x y", "--depends-on", "99"], 3, 'There is no task "#99" in coffee.'],
    ];
    const results = await each(cases.map(([args]) => ["task", "create", ...args]));
    for (const [i, [args, code, message]] of cases.entries()) {
      expect({ args, ...results[i] }).toMatchObject({ args, code, stdout: "" });
      expect(results[i]?.stderr).toContain(`error: ${message}`);
    }
    // A task that is over is not found by its branch, and the message says how to find it.
    expect(results.map(({ stderr }) => stderr).join("")).toContain(": signalbox task list --all --open --closed\n");
  });
});

describe("task update", () => {
  test("moves a task when all evidence is there, and lists every missing reason before", async () => {
    const id = await create("Strong coffee");
    expect(await task("continue", id)).toEqual({ code: 0, stdout: "todo → brewing\n", stderr: "" });
    const refused = await task("update", id, "--status", "tasting");
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(
      /^error: It was refused for 2 reasons\.\n- .*## Recipe.*\n {2}.+\n- .*## Cup.*\n {2}.+\nNothing has changed\.\n$/,
    );
    const recipe = "## Recipe\n\nBEANS: many\nWATER: little\n\n## Cup\n\nThe blue one.\n";
    writeFileSync(join(base, "recipe.md"), recipe);
    const moved = await task("update", id, "--status", "tasting", "--file", join(base, "recipe.md"));
    expect(moved).toEqual({ code: 0, stdout: "brewing → tasting\n", stderr: "" });
    const { stdout: past } = await task("history", id);
    expect(past).toMatch(/request\.rejected +human +move to tasting: /);
    expect(past).toMatch(
      /task\.moved +human +brewing → tasting \(asked; ## Recipe [0-9a-f]{8} by human; ## Cup [0-9a-f]{8} by human\)\n/,
    );
    const { stdout: card } = await task("show", id);
    expect(card).toContain("\n  ## Recipe by human\n");
    expect((await task("show", id, "--json")).stdout).toContain('"previousStatus": "brewing"');
  });

  test("changes fields first, and nothing at all if that is refused", async () => {
    const id = await create("weak-coffee", "Weak coffee");
    const bad = await task("update", id, "--branch", "no good", "--status", "brewing");
    expect(bad).toMatchObject({ code: 1, stdout: "" });
    expect(bad.stderr).toMatch(/contains a space\.\n.*\nNothing has changed\.\n$/);
    const half = await task("update", id, "--summary", "Better", "--status", "served");
    expect(half).toMatchObject({ code: 1, stdout: "" });
    expect(half.stderr).toMatch(/^Changed: summary\.\nerror: .*\n.*\nNothing else has changed\.\n$/);
    await git("symbolic-ref", "HEAD", "refs/heads/begun");
    await task("update", id, "--label", "x", "--depends-on", "1", "--branch");
    await git("symbolic-ref", "HEAD", "refs/heads/main");
    const { task: after } = json(await task("show", id, "--json"));
    const { task: first } = json(await task("show", "1", "--json"));
    expect(after).toMatchObject({
      summary: "Better",
      status: "todo",
      branch: "begun",
      labels: ["x"],
      dependsOn: [first.id],
    });
    const wrong = await each([
      ["task", "update", id],
      ["task", "update", id, "--autostart", "--no-autostart"],
    ]);
    expect(wrong.map(({ code }) => code)).toEqual([2, 2]);
  });

  test("uses the task of this folder if none is named", async () => {
    const ran = await task("update", "--status", "brewing");
    expect(ran).toMatchObject({ code: 3, stdout: "" });
    expect(ran.stderr).toContain("This folder belongs to no task.");
  });

  test("lets a run move only its own task, with its own task file", async () => {
    const id = await create("Roast beans", "--workflow", "roast");
    await task("update", id, "--status", "roasting");
    const cwd = join(base, "bench");
    mkdirSync(cwd);
    const env = { SIGNALBOX_TOKEN: await register(id, "roaster", cwd) };
    writeFileSync(join(cwd, "TASK.md"), "## Roast\n\nDark.\n\n## Context\n\nPoisoned.\n");
    const lines = [
      ["task", "update", "--status", "roasted"],
      ["task", "update", "--priority", "9"],
      ["task", "create", "More work"],
    ];
    const refused = await each(lines, { cwd, env });
    expect(refused.map(({ code, stdout }) => [code, stdout])).toEqual([
      [1, ""],
      [1, ""],
      [1, ""],
    ]);
    expect(refused[0]?.stderr).toContain("## Roast is missing");
    expect((await signalbox(["task", "update", "--file", "TASK.md"], { cwd, env })).stderr).toBe(
      'Changed in the task file: "## Roast".\nNot stored, because other roles own it: "## Context".\n',
    );
    const moved = await signalbox(["task", "update", "--status", "roasted", "--json"], { cwd, env });
    expect(json(moved)).toMatchObject({ edit: null, document: null, move: { kind: "moved", from: "roasting" } });
    expect((await task("history", id)).stdout).toMatch(
      /task\.moved +roaster#1 +roasting → roasted \(asked; ## Roast [0-9a-f]{8} by roaster#1\)/,
    );
  });
});

describe("task edit", () => {
  const editor = join(base, "editor.sh");
  const edit = (id: string, script: string) => {
    writeFileSync(editor, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return signalbox(["task", "edit", id], { env: { EDITOR: `${editor} --wait` } });
  };

  test("stores the edited task file, and loses nothing", async () => {
    const id = await create("Edited coffee");
    expect(await edit(id, "true")).toMatchObject({
      code: 0,
      stderr: `The task file of ${await nameOf(id)} is unchanged.\n`,
    });
    expect((await edit(id, 'echo "## Notes" >> "$2"; echo hot >> "$2"')).stderr).toBe(
      'Changed in the task file: "## Notes".\n',
    );
    const failed = await edit(id, 'echo lost >> "$2"; exit 3');
    expect(failed.code).toBe(1);
    const [, kept = ""] = /Your text is kept in (.*)\n$/.exec(failed.stderr) ?? [];
    expect(readFileSync(kept, "utf8")).toMatch(/hot\nlost\n$/);
    const never = await edit(id, "exit 3");
    expect(never).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/ended with 3\. Nothing has changed\.\nName another/),
    });
    const { document } = json(await task("show", id, "--json"));
    expect(document.text).toMatch(/## Notes\nhot\n$/);
    const given = await signalbox(["task", "edit", id, "--file", "-"], { input: "## Notes\n\ncold\n" });
    expect(given).toMatchObject({ code: 0, stderr: 'Changed in the task file: "## Notes".\n' });
  });
});

describe("a task's end", () => {
  test("is cancelled, listed as over, and deleted with its history kept", async () => {
    const id = await create("Cold coffee");
    expect(await task("delete", id, "--yes")).toMatchObject({ code: 1, stdout: "" });
    expect(await task("cancel", id)).toMatchObject({ code: 0, stdout: "todo → spilled\n" });
    expect(await task("cancel", id)).toMatchObject({ code: 1, stdout: "" });
    await until(async () => (await task("list", "--closed")).stdout.includes(id));
    expect((await task("list")).stdout).not.toContain(id);
    expect((await task("list", "--status", "spilled")).stdout).toContain(id);
    const { stdout } = await task("export", id);
    const kinds = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).kind);
    expect(kinds).toEqual(expect.arrayContaining(["task", "document", "event"]));
    // Its last effects may still be carried out.
    let deleted = await task("delete", id, "--yes");
    await until(async () => {
      if (deleted.code !== 0) deleted = await task("delete", id, "--yes");
      return deleted.code === 0;
    });
    expect(readFileSync(deleted.stdout.trim(), "utf8")).toContain("Cold coffee");
    expect(await task("show", id)).toMatchObject({ code: 3, stdout: "" });
  });
});

describe("task list", () => {
  test("continues where it ended, and lists only the folder's project", async () => {
    for (const n of [1, 2, 3]) await create(`Page ${n}`);
    const first = await task("list", "--limit", "2");
    expect(first.stdout.match(/Page \d/g)).toEqual(["Page 3", "Page 2"]);
    const [, next = ""] = /There are more: signalbox task list --limit 2 --before (\d+)\n/.exec(first.stderr) ?? [];
    expect((await task("list", "--limit", "1", "--before", next)).stdout).toContain("Page 1");
    const { tasks } = json(await signalbox(["task", "list", "--json"], { cwd: tea }));
    expect(tasks[0]).toMatchObject({ summary: "Page 3", session: "none", needsPerson: true, held: null });
    expect((await task("list", "--status", "served")).stderr).toContain("No task in coffee matches.");
  });
});

describe("task explain", () => {
  test("says where a task is and what can be asked for", async () => {
    const id = await create("Explained coffee");
    const { code, stdout } = await task("explain", id);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^coffee#\d+ todo {2}Explained coffee\nThe task is in "todo" and waits for a person\.\n/);
    expect(stdout).toContain(`signalbox task update ${id} --status spilled`);
    const view = json(await task("explain", id, "--json"));
    expect(Object.keys(view)).toEqual(["task", "where", "blocked", "moves", "next", "owed", "promises", "warnings"]);
  });
});

describe("task actions", () => {
  test("lists allowed actions with the exact commands, and with --all the others and why not", async () => {
    const id = await create("Possible coffee");
    const { code, stdout, stderr } = await task("actions", id);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Cancel the task → spilled +signalbox task cancel ${id}$`, "m"));
    expect(stdout).not.toContain("Not now");
    expect(stderr).toContain(`signalbox task actions ${id} --all`);
    const all = await task("actions", id, "--all");
    expect(all.stdout).toMatch(/^Not now\n(.*\n)*.*None of the task's agents has a terminal\./m);
    expect(Object.keys(json(await task("actions", id, "--json")).actions[0])).toEqual([
      ...["name", "label", "key", "command", "to", "consequence", "allowed", "why"],
    ]);
    expect(await task("actions", "nowhere")).toMatchObject({ code: 3, stdout: "" });
  });
});

describe("task migrate", () => {
  test("shows the difference, and changes nothing without --apply", async () => {
    const id = await create("Migrated coffee");
    writeFileSync(
      join(home, "workflows", "brew.yml"),
      brew.replace("brewing: {", "grinding: { waits_for: human, next: brewing }\n  brewing: {"),
    );
    const shown = await task("migrate", id, "--to", "grinding");
    expect(shown.stdout).toMatch(/^states added +grinding\n/);
    expect(shown.stdout).toMatch(/^can be put in +todo, /m);
    expect(shown.stderr).toContain(`Nothing has changed. To do it: signalbox task migrate ${id} --to grinding --apply`);
    expect((await task("migrate", id, "--to", "grinding", "--apply")).stdout).toMatch(/\ntodo → grinding\n$/);
    expect(await task("migrate", id)).toMatchObject({ code: 0, stderr: "" });
    expect(await task("migrate", id, "--to", "served", "--apply")).toMatchObject({ code: 1 });
  });
});

describe("events", () => {
  test("are listed, and followed until the person interrupts", async () => {
    const child = spawn(process.execPath, [cliFile, "events", "--follow", "--json"], { cwd: coffee, env: environment });
    // Left running, it would start the daemon again after the tests have stopped it.
    onTestFinished(() => void child.kill("SIGKILL"));
    const lines = linesOf(child);
    const id = await untilSeen(lines, () => create("Followed coffee"));
    child.kill("SIGINT");
    expect(await new Promise((done) => child.on("exit", (code) => done(code)))).toBe(0);
    expect(JSON.parse(lines.find((line) => line.includes(id)) ?? "")).toMatchObject({ type: "task.created", task: id });
    const { events, last } = json(await signalbox(["events", "--task", id, "--json"]));
    expect(events[0]).toMatchObject({ type: "task.created", by: "human", project: "coffee" });
    expect(last).toBe(events.at(-1).position);
    expect((await signalbox(["events", "--task", id])).stdout).toMatch(
      new RegExp(`  ${id}  task.created +human +in todo`),
    );
    expect((await task("history", id, "--limit", "1")).stdout.split("\n")).toHaveLength(2);
  });
});

describe("configuration", () => {
  test("is shown with its sources, and changed in two files", async () => {
    expect(await signalbox(["config", "set", "model", "large"])).toMatchObject({ code: 0 });
    expect((await signalbox(["config", "set", "model", "small", "--repository"])).stdout).toBe(
      ".signalbox/config.yml\n",
    );
    const untrusted = await signalbox(["config", "get"]);
    expect(untrusted.stderr).toContain("The repository's model has no effect until you trust its file");
    expect((await signalbox(["config", "get", "model"])).stdout).toBe("large\n");
    expect((await signalbox(["trust", "--config"])).stderr).toContain("Its settings that now apply: model.");
    const { values, files } = json(await signalbox(["config", "get", "--json"]));
    expect(values).toContainEqual({ key: "model", value: "small", source: "repository" });
    expect(values).toContainEqual({ key: "workflow", value: "brew", source: "project" });
    expect(files).toEqual({ user: join(home, "config.yml"), repository: join(coffee, ".signalbox", "config.yml") });
    const env = { SIGNALBOX_MODEL: "tiny" };
    const model = ["config", "get", "model"];
    const [tiny, large] = await Promise.all([signalbox(model, { env }), signalbox(model, { cwd: tea })]);
    expect([tiny.stdout, large.stdout]).toEqual(["tiny\n", "large\n"]);
    const wrong = [
      ["config", "set", "port", "1", "--repository"],
      ["config", "get", "modle"],
    ];
    expect((await each(wrong)).map(({ code }) => code)).toEqual([2, 2]);
    // The limits of a project, to which the setting does not apply any more.
    expect(await signalbox(["config", "set", "pool_size", "1001"])).toMatchObject({ code: 2, stdout: "" });
    expect((await signalbox(["config", "set", "pool_size", "1000"])).stderr).toContain(
      "To change one: signalbox project update NAME --pool-size 1000\n",
    );
    expect((await signalbox(["init", "--config"])).stderr).toContain(".signalbox/config.yml already exists");
    const { task: view } = json(await task("create", "Of a model", "--json"));
    expect(view.model).toBe("small");
  });
});

describe("trust and backup", () => {
  test("a repository's own workflow is used only after it is trusted", async () => {
    mkdirSync(join(coffee, ".signalbox", "workflows"), { recursive: true });
    const file = join(coffee, ".signalbox", "workflows", "ours.yml");
    writeFileSync(file, brew.replace("name: brew", "name: ours"));
    const refused = await task("create", "Ours first", "--workflow", "ours");
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("signalbox trust ours --project coffee");
    expect(await signalbox(["trust", "ours"])).toMatchObject({ code: 0, stdout: `${file}\n` });
    expect(await task("create", "Ours first", "--workflow", "ours")).toMatchObject({ code: 0 });
    const bad = join(coffee, "bad.yml");
    writeFileSync(bad, "name: bad\nversion: 1\n");
    const wrong = await each([
      ["trust", "brew"],
      ["trust", "nothing"],
      ["trust", bad],
    ]);
    expect(wrong.map(({ code, stdout }) => [code, stdout])).toEqual([
      [2, ""],
      [3, ""],
      [1, ""],
    ]);
  });

  test("a backup is a new file, and never overwrites another one", async () => {
    const { stdout } = await signalbox(["backup"]);
    expect(stdout).toMatch(/\/backups\/.*\.db\n$/);
    expect(existsSync(stdout.trim())).toBe(true);
    expect((await signalbox(["backup", "copy.db"])).stdout).toBe(`${join(coffee, "copy.db")}\n`);
    expect(await signalbox(["backup", "copy.db"])).toMatchObject({ code: 1 });
  });
});

describe("completion", () => {
  test("offers tasks, projects, workflows and states", async () => {
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ["task show", ["coffee#1"]],
      ["task update --status", ["todo", "spilled"]],
      ["task create --workflow", ["brew", "default"]],
      ["project update", ["coffee"]],
      ["config set", ["notify.webhook"]],
    ];
    const results = await each(cases.map(([words]) => ["complete", "--", ...words.split(" "), ""]));
    for (const [i, [, offers]] of cases.entries()) {
      expect(results[i]?.stdout.split("\n")).toEqual(expect.arrayContaining([...offers]));
    }
  });

  test("starts no daemon", async () => {
    const other = join(base, "other-home");
    const { stdout } = await signalbox(["complete", "--", "task", "show", ""], { env: { SIGNALBOX_HOME: other } });
    expect(stdout).toBe("");
    expect(existsSync(other)).toBe(false);
  });
});

/** Registers a run, as the daemon does when it starts an agent. */
async function register(id: string, role: string, folder: string): Promise<string> {
  const { socket, humanToken } = homePlaces(home);
  const { body } = await socketRequest({
    socket,
    method: "POST",
    path: `/v1/tasks/${id}/runs`,
    headers: { authorization: `Bearer ${readFileSync(humanToken, "utf8").trim()}` },
    body: JSON.stringify({ role, folder }),
  });
  return JSON.parse(body).token;
}

async function nameOf(id: string): Promise<string> {
  const { task: view } = json(await task("show", id, "--json"));
  return `${view.project}#${view.number}`;
}

/** Polls until the condition holds, because the daemon works in the background. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 50; tries++) {
    if (await isSo()) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error("It never was so.");
}

function linesOf(child: ChildProcess): string[] {
  const lines: string[] = [];
  child.stdout?.on("data", (chunk) => lines.push(...String(chunk).trim().split("\n")));
  return lines;
}

/** Repeats an action until a follower has seen it, because nothing reports when it has begun to follow. */
async function untilSeen(lines: readonly string[], act: () => Promise<string>): Promise<string> {
  let seen = "";
  await until(async () => {
    const id = await act();
    await new Promise((done) => setTimeout(done, 200));
    if (lines.some((line) => line.includes(id))) seen = id;
    return seen !== "";
  });
  return seen;
}
