import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { launcher } from "../programs.ts";
import { removeFolder } from "../remove-folder.ts";

const root = resolve(import.meta.dirname, "../..");
const base = mkdtempSync(join(tmpdir(), "signalbox-cli-"));
afterAll(() => removeFolder(base));

const wedge = `name: wedge
version: 1
roles: { worker: { mode: turn } }
states:
  todo: { waits_for: slot, next: build }
  build:
    agent: { role: worker, prompt: build }
    outcomes: [{ on: failed, then: limbo }]
    next: shipped
  limbo: { waits_for: human, next: limbo2 }
  limbo2: { waits_for: human, next: limbo }
  shipped: { terminal: true, do: [release_workspace] }
prompts: { build: "Build {summary}" }
`;
const circle = `name: circle
version: 1
roles: { worker: { mode: turn } }
states:
  todo: { waits_for: slot, next: build }
  build: { agent: { role: worker, prompt: build }, outcomes: [{ on: failed, then: check }], next: check }
  check: { do: [run_tests], outcomes: [{ on: failed, then: build }], next: shipped }
  shipped: { terminal: true, do: [release_workspace] }
  dropped: { terminal: true, outcome: cancelled }
transitions: [{ from: any, to: dropped, by: human, hooks: [kill_session, release_workspace] }]
prompts: { build: "Build {summary}" }
`;
const trap = `name: trap
version: 1
states: { todo: { terminal: false }, limbo: { terminal: false }, shipped: { terminal: true } }
transitions: [{ from: todo, to: limbo, by: human }, { from: todo, to: shipped, by: human }]
`;
const broken = `name: broken
version: 1
states:
  todo: { waits_for: slot, next: shipped }
  build: { agnt: { role: worker } }
  shipped: { terminal: true }
`;

// The compile cache is shared; without a terminal there must be no colours, whatever the environment says.
const { NO_COLOR: _, ...inherited } = process.env;
const environment = { ...inherited, FORCE_COLOR: "1", NODE_COMPILE_CACHE: join(base, "compiled") };
let homes = 0;

/** A home with these workflows in it, and an empty folder to work in. */
function createHome(workflows: Readonly<Record<string, string>> = {}) {
  const home = join(base, `home-${++homes}`);
  const cwd = join(base, `work-${homes}`);
  mkdirSync(join(home, "workflows"), { recursive: true });
  mkdirSync(cwd);
  for (const [name, text] of Object.entries(workflows)) writeFileSync(join(home, "workflows", name), text);
  return { home, cwd };
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function signalbox(args: readonly string[], { home, cwd } = createHome()): Promise<Ran> {
  const env = { ...environment, SIGNALBOX_HOME: home };
  const options = { cwd, env, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((done) => {
    execFile(launcher, args, options, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const workflow = (...args: string[]) => signalbox(["workflow", ...args]);

/** Runs several command lines, two at a time: there may be no more cores. */
async function each(lines: readonly (readonly string[])[], place = createHome()): Promise<readonly Ran[]> {
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

describe("signalbox", () => {
  test("prints its help and its version", async () => {
    const [help, version, bare] = (await each([["--help"], ["--version"], []])) as [Ran, Ran, Ran];
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toMatch(/^Run coding agents .*[^.]\n\nUsage: signalbox COMMAND\n/);
    expect(bare.stdout).toBe(help.stdout);
    expect(version).toEqual({ code: 0, stdout: `${packageVersion()}\n`, stderr: "" });
  });

  test("begins the help of every command with what it does, and documents the exit codes", async () => {
    const verbs = ["list", "show", "validate", "verify", "graph", "simulate", "eject"];
    const lines = [...verbs.map((verb) => ["workflow", verb, "--help"]), ["rehearse", "-h"], ["completion", "--help"]];
    for (const { code, stdout } of await each(lines)) {
      expect(code).toBe(0);
      expect(stdout).toMatch(/^[A-Z][a-z]+ [^\n]*[^.\n]\n\nUsage: signalbox /);
      expect(widest(stdout)).toBeLessThanOrEqual(100);
      if (!stdout.includes("signalbox completion ")) expect(stdout).toContain("Exit codes: 0 ");
    }
  });

  test("answers a wrong command line with a suggestion and exit code 2", async () => {
    const cases: readonly (readonly [string, string])[] = [
      ["worklow list", 'There is no command "worklow".\nDid you mean "workflow"?'],
      ["workflow verfy default", 'There is no command "verfy".\nDid you mean "verify"?'],
      ["validate", 'There is no command "validate".\nDid you mean "signalbox workflow validate"?'],
      ["task logs 3 --json", "There is no flag --json here.\nTo see its usage: signalbox task logs --help"],
      ["workflow show", "NAME|FILE is missing.\nTo see its usage: signalbox workflow show --help"],
      ["workflow show default minimal", '"minimal" is one argument too many. A text with spaces needs quotes.'],
      ["workflow list --jsn", "There is no flag --jsn here. Did you mean --json?"],
      ["workflow graph default --format svg", '--format cannot be "svg". It can be mermaid, dot or text.'],
      ["workflow simulate default --runs many", '--runs: "many" is not a whole number from 1 to 1000000.'],
      ["workflow simulate default --runs", "--runs needs a value."],
      ["workflow simulate", "NAME|FILE is missing."],
      ["workflow simulate pipeline --preset quik-fix", 'There is no preset "quik-fix".\nDid you mean "quick-fix"?'],
      ["workflow simulate pipeline --set speck=true", 'There is no setting "speck".\nDid you mean "spec"?'],
      ["workflow simulate pipeline --set spec=maybe", 'The setting "spec" must be true or false, but is text.'],
      ["workflow simulate default --set x=1", 'There is no setting "x".\nThe workflow "default" has no settings.'],
      ["workflow eject default a/b", '"a/b" cannot be the name of a workflow.'],
      ["completion tcsh", 'SHELL: The shell "tcsh" is unknown. It can be bash, zsh or fish.'],
    ];
    const results = await each(cases.map(([line]) => line.split(" ")));
    for (const [i, [line, message]] of cases.entries()) {
      expect({ line, ...results[i] }).toMatchObject({ line, code: 2, stdout: "" });
      expect(results[i]?.stderr).toContain(`error: ${message}`);
      expect(results[i]?.stderr).not.toMatch(/\n\s+at /);
    }
  });

  test("explains that the folder is gone, or that its output cannot be written", async () => {
    const inShell = (script: string, ...args: string[]) =>
      new Promise<Ran>((done) => {
        const { home, cwd } = createHome();
        const env = { ...environment, SIGNALBOX_HOME: home };
        execFile("sh", ["-c", script, launcher, ...args], { cwd, env }, (error, stdout, stderr) => {
          done({ code: error === null ? 0 : Number(error.code), stdout, stderr });
        });
      });
    const gone = 'rmdir "$PWD" && exec "$0" "$@"';
    const [asked, updated, full] = await Promise.all([
      inShell(gone, "task", "list"),
      inShell(gone, "task", "update", "--status", "working"),
      inShell('exec "$0" "$@" > /dev/full', "workflow", "list"),
    ]);
    for (const { code, stderr } of [asked, updated]) {
      expect(stderr).toContain(
        "error: The current folder no longer exists.\nGo to another folder, and try again: cd ~\n",
      );
      expect(code).toBe(1);
    }
    expect(full).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("error: The output cannot be written (ENOSPC).\n"),
    });
    expect([asked, updated, full].map(({ stderr }) => stderr).join("")).not.toMatch(/\n\s+at /);
  });

  test("answers an unknown name with exit code 3", async () => {
    const lines = [
      ["workflow", "show", "defalt"],
      ["workflow", "validate", "default", "./minimla.yml"],
      ["workflow", "verify", "nothing-like-it"],
      ["workflow", "eject", "defalt"],
      ["workflow", "simulate", "--follow", "nowhere.json"],
    ];
    const results = await each(lines);
    expect(results.map(({ code, stdout }) => [code, stdout])).toEqual(lines.map(() => [3, ""]));
    const [name, file, unlike] = results.map(({ stderr }) => stderr);
    expect(name).toBe(
      'error: There is no workflow "defalt".\nDid you mean "default"?\nKnown: classic, crew, default, minimal, pipeline, team, team-subtask.\nList them with descriptions: signalbox workflow list\n',
    );
    expect(file).toContain('There is no file ./minimla.yml.\nDid you mean "minimal"?');
    expect(unlike).toContain("Known: classic, crew, default");
  });
});

describe("workflow list", () => {
  test("lists the built-in workflows and says how to add one", async () => {
    const { code, stdout, stderr } = await workflow("list");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^NAME +FROM +STATES {2}DESCRIPTION\n/);
    for (const name of builtIn()) expect(stdout).toMatch(new RegExp(`^${name} +built-in +\\d+ {2}[A-Z].{20}`, "m"));
    expect(stderr).toContain("signalbox workflow eject default my-flow");
  });

  test("no built-in workflow, and so no copy of one, names the texts that it was made from", () => {
    for (const name of builtIn())
      if (name !== "classic" && name !== "minimal")
        expect(readFileSync(join(root, "workflows", `${name}.yml`), "utf8")).not.toMatch(/\bseed\b/i);
  });

  test("lists the user's own workflows, which replace built-in ones, and a broken one with its first problem", async () => {
    const minimal = readFileSync(join(root, "workflows", "minimal.yml"), "utf8");
    const place = createHome({ "broken.yml": broken, "default.yml": minimal, "stray.yaml": minimal });
    const [text, data] = (await each(
      [
        ["workflow", "list"],
        ["workflow", "list", "--json"],
      ],
      place,
    )) as [Ran, Ran];
    expect(text.stdout).toMatch(/^broken +you +broken {2}broken.yml:5:12 error: A state has no key "agnt"\./m);
    expect(text.stdout).toMatch(/^default +you +5/m);
    expect(text.stderr).toContain("signalbox workflow validate broken");
    expect(text.stderr).toContain("stray.yaml is not read; name it stray.yml.");
    const { workflows, folder } = json(data);
    expect(folder).toBe(join(place.home, "workflows"));
    expect(workflows.map((each: { name: string }) => each.name).sort()).toEqual([...builtIn(), "broken"].sort());
    const found = workflows.find((each: { name: string }) => each.name === "broken");
    expect(found).toMatchObject({ from: "user", states: null, hash: null, problems: [{ line: 5, level: "error" }] });
  });

  test("explains that the home is not a folder", async () => {
    const home = join(base, "file");
    writeFileSync(home, "");
    const { code, stderr } = await signalbox(["workflow", "list"], { home, cwd: base });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: The folder .* cannot be read \(ENOTDIR\)\.\nCheck SIGNALBOX_HOME/);
  });
});

describe("workflow show", () => {
  test("reads as a summary no wider than a page", async () => {
    const { code, stdout, stderr } = await workflow("show", "minimal");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(widest(stdout)).toBeLessThanOrEqual(100);
    expect(stdout.replace(/^ {2}(file|hash) .*\n/gm, "")).toMatchInlineSnapshot(`
      "minimal
        starts in  pending; a person may also create a task in working, reviewing
        sections   Handoff (worker)
        prompts    worker

      States
        pending    stays until somebody asks, or the agent ends
        working    stays until somebody asks, or the agent ends; respawn prompt worker
                   1. with ## Handoff: → reviewing
                   2. no artifact: crash
        reviewing  stays until somebody asks, or the agent ends
                   1. mark_dead
        done       the end: done
        cancelled  the end: cancelled

      Ways (→ asked for or by a rule, ⇢ by the engine at a limit)
        pending   → working    anyone
            hooks  acquire_workspace, spawn_agent (role: worker, prompt: worker, harness: task,
                   permissions: full)
            runs   starts worker
        working   → reviewing  anyone, ## Handoff
            hooks  kill_session
        reviewing → done       anyone
            hooks  release_workspace, delete_remote_branch, spawn_next
        pending   → cancelled  anyone
        working   → cancelled  anyone
            hooks  kill_session, release_workspace
        reviewing → cancelled  anyone
            hooks  kill_session, release_workspace
      "
    `);
  });

  test("prints the whole compiled workflow as JSON, with what each way does", async () => {
    const data = json(await workflow("show", "default", "--json"));
    expect(Object.keys(data)).toEqual([
      "name",
      "description",
      "hash",
      "file",
      "initial",
      "unclear",
      "settings",
      "presets",
      "roles",
      "limits",
      "pollInterval",
      "states",
      "ways",
      "prompts",
      "schemas",
      "counters",
      "sections",
      "owners",
      "promises",
    ]);
    expect(data.promises).toContain("{ to: done, after: { merged: true } }");
    expect(data.states.map((state: { name: string }) => state.name).slice(0, 3)).toEqual([
      "pending",
      "planning",
      "clarification",
    ]);
    const ways = (from: string, to: string) =>
      data.ways.filter((way: { from: string; to: string }) => way.from === from && way.to === to);
    expect(ways("pending", "planning")).toMatchObject([
      {
        by: ["human"],
        hooks: [
          { action: "acquire_workspace", params: {} },
          { action: "spawn_agent", params: { role: "worker", prompt: "worker" } },
        ],
        implied: null,
        effects: ["acquire_workspace", "spawn_agent"],
        runs: { ended: [], started: ["worker"], told: [] },
      },
    ]);
    expect(ways("agent-review", "working")).toMatchObject([
      {
        when: ["review_round < 2"],
        gates: [{ section: "Review", verdict: "FAIL", firstLine: true }],
        effects: ["kill_agent", "notify_agent"],
        runs: { ended: ["reviewer"], started: [], told: ["worker"] },
      },
    ]);
    expect(ways("planning", "stuck")).toMatchObject([{ implied: "escalation", runs: { started: ["worker"] } }]);
    expect(ways("reviewing", "done")[0].effects).toEqual([
      "kill_session",
      "release_workspace",
      "delete_remote_branch",
      "spawn_next",
    ]);
  });

  test("shows the problems of a file that does not load", async () => {
    const place = createHome({ "broken.yml": broken });
    const { code, stdout, stderr } = await signalbox(["workflow", "show", "broken"], place);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain('"broken" has 1 error:');
    expect(stderr).toContain("broken.yml:5:12 error:");
    expect(stderr).toContain("signalbox workflow validate broken");
  });

  test("never passes control sequences of a file to the terminal", async () => {
    const place = createHome({
      "evil.yml": wedge.replace("version: 1", 'version: 1\ndescription: "a\\e]0;title\\a\\e[2J\\x9b31m"'),
    });
    const { stdout } = await signalbox(["workflow", "show", "evil"], place);
    expect(stdout).toContain("a]0;title[2J31m");
  });
});

describe("workflow validate", () => {
  test("prints problems with their position and a line for each file, and fails only on errors", async () => {
    const { home, cwd } = createHome();
    writeFileSync(join(cwd, "broken.yml"), broken);
    const lines = [
      ["workflow", "validate", "default", "minimal"],
      ["workflow", "validate", "broken.yml", "default"],
      ["workflow", "validate", "./broken.yml", "minimal", "--json"],
      ["workflow", "validate", "."],
      ["workflow", "validate", "./"],
    ];
    const [good, bad, data, dot, folder] = (await each(lines, { home, cwd })) as [Ran, Ran, Ran, Ran, Ran];
    expect(good.code).toBe(0);
    expect(good.stdout).toMatch(
      /minimal.yml:\d+:\d+ warning: .*\ndefault: no errors, no warnings\nminimal: no errors, 1 warning\n$/,
    );
    expect(bad).toMatchObject({
      code: 1,
      stdout: `broken.yml:5:12 error: A state has no key "agnt". Did you mean "agent"?
broken: 1 error, no warnings
default: no errors, no warnings
`,
    });
    expect(data.code).toBe(1);
    expect(json(data).workflows).toMatchObject([
      { name: "broken", file: join(cwd, "broken.yml"), ok: false, problems: [{ line: 5, column: 12, level: "error" }] },
      { name: "minimal", ok: true, problems: [{ level: "warning" }] },
    ]);
    expect(dot.code).toBe(3);
    expect(folder).toMatchObject({ code: 1, stderr: "error: ./ is a folder.\nName a file in it.\n" });
  });
});

describe("workflow verify", () => {
  test("proves workflows; warnings are not failures", async () => {
    const { code, stdout } = await workflow("verify", "team", "minimal");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^team: proved \(\d+ positions, \d+ steps, 7 variants\); no errors, no warnings, .*$/m);
    expect(stdout).toMatch(/^warning loading: /m);
    expect(stdout).toMatch(/^minimal: proved \(.*, 1 variant\); no errors, 1 warning, .*\n$/m);
  });

  test("shows how a task gets lost", async () => {
    const place = createHome({ "wedge.yml": wedge, "circle.yml": circle });
    const lines = [
      ["workflow", "verify", "wedge"],
      ["workflow", "verify", "circle"],
    ];
    const [lost, round] = (await each(lines, place)) as [Ran, Ran];
    expect(lost.code).toBe(1);
    expect(lost.stdout).toMatch(/^error wedge: From "limbo" no end can be reached by any step\.\n {2}fix {4}/);
    expect(lost.stdout).toContain("\n  route  todo → build → limbo → limbo2\n");
    expect(lost.stdout).toMatch(/\nwedge: not proved \(.*\); 2 errors, no warnings, no notes\n$/);
    expect(round.code).toBe(1);
    expect(round.stdout.replace(/\(\d+ positions, \d+ steps/, "(N positions, N steps")).toMatchInlineSnapshot(`
      "error rule-cycle: Rules alone can move a task in a cycle without end: build → check → build.
        fix    Bound it with a condition such as visits < 3, or add a state that waits for a person.
        route  todo → build
               ↻ build → check → build → …
        steps
               1. the hooks are done
               2. the engine continues (todo → build)
             ↻ 3. worker ends with ok (build → check)
             ↻ 4. the hooks are done
             ↻ 5. the work ends with error (check → build)

      circle: not proved (N positions, N steps, 1 variant); 1 error, no warnings, no notes
      "
    `);
  });

  test("saves counterexamples that simulate follows to their end", async () => {
    const place = createHome({ "wedge.yml": wedge, "circle.yml": circle });
    const saved = await signalbox(["workflow", "verify", "wedge", "circle", "--save", "found"], place);
    expect(saved.stderr).toContain("signalbox workflow simulate --follow found/wedge-wedge-1.json");
    expect(readdirSync(join(place.cwd, "found")).sort()).toEqual([
      "circle-rule-cycle-1.json",
      "wedge-wedge-1.json",
      "wedge-wedge-2.json",
    ]);
    const file = join(place.cwd, "found", "wedge-wedge-1.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
      file: join(place.home, "workflows", "wedge.yml"),
      code: "wedge",
      created: "todo",
      ends: { status: "limbo", held: false },
    });
    const changed = { ...JSON.parse(readFileSync(file, "utf8")), ends: { status: "shipped", held: false } };
    writeFileSync(join(place.cwd, "changed.json"), JSON.stringify(changed));
    writeFileSync(join(place.cwd, "nonsense.json"), '{ "steps": [] }');
    cpSync(join(place.home, "workflows", "circle.yml"), join(place.cwd, "other.yml"));
    writeFileSync(join(place.cwd, "other.yml"), circle.replace("next: check }", "next: shipped }"));
    const follow = (...args: string[]) => ["workflow", "simulate", ...args];
    const lines = [
      follow("--follow", "found/wedge-wedge-1.json"),
      follow("circle", "--follow", "found/circle-rule-cycle-1.json"),
      follow("circle", "--follow", "found/circle-rule-cycle-1.json", "--json"),
      follow("--follow", "changed.json"),
      follow("--follow", "nonsense.json"),
      follow("other.yml", "--follow", "found/circle-rule-cycle-1.json"),
      ["workflow", "verify", "wedge", "--save", "changed.json"],
      ["workflow", "verify", "team", "--save", "none"],
    ];
    const [plain, around, data, wrong, nonsense, other, noFolder, nothing] = await each(lines, place);
    if (!plain || !around || !data || !wrong || !nonsense || !other) throw new Error("not run");
    expect(plain.code).toBe(0);
    expect(plain.stdout).toMatch(/build → limbo \(rule 1\)\nAs verify said: the task is in limbo\.\n$/);
    expect(around.code).toBe(0);
    expect(around.stdout).toContain("\nThe cycle once more\n6. ");
    expect(around.stdout).toMatch(/As verify said: the task is in build, where it was before the cycle\.\n$/);
    expect(json(data)).toMatchObject({
      workflow: "circle",
      code: "rule-cycle",
      circle: 3,
      asSaid: true,
      problem: null,
    });
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toMatch(/Not as verify said: It ended in "limbo", not in "shipped"\.\n$/);
    expect(nonsense).toMatchObject({ code: 1, stdout: "" });
    expect(nonsense.stderr).toContain("nonsense.json is not a counterexample that verify saved.");
    expect(other.code).toBe(1);
    expect(other.stderr).toContain("other.yml has changed since the counterexample was saved.");
    expect(noFolder).toMatchObject({ code: 1, stdout: "" });
    expect(noFolder?.stderr).toContain("The folder changed.json cannot be created (EEXIST).");
    expect(nothing?.stderr).toContain("There is no counterexample to save.");
    expect(existsSync(join(place.cwd, "none"))).toBe(false);
  });

  test("gives everything as JSON, with the route as a drawing", async () => {
    const place = createHome({ "circle.yml": circle, "broken.yml": broken });
    const ran = await signalbox(["workflow", "verify", "circle", "broken", "--json"], place);
    expect(ran.code).toBe(1);
    const [first, second] = json(ran).workflows;
    expect(first).toMatchObject({ name: "circle", proved: false, variants: 1, problems: [] });
    const finding = first.findings[0];
    expect(finding).toMatchObject({ level: "error", code: "rule-cycle", state: "build", saved: null });
    expect(finding.steps).toHaveLength(finding.example.steps.length);
    expect(finding.route).toEqual(["todo → build", "↻ build → check → build → …"]);
    expect(finding.mermaid).toMatch(/^stateDiagram-v2\n/);
    expect(second).toMatchObject({ name: "broken", proved: false, findings: [], problems: [{ line: 5 }] });
  });

  test("counts notes, and shows them when asked", async () => {
    const lines = [
      ["workflow", "verify", "default"],
      ["workflow", "verify", "default", "--notes"],
    ];
    const [counted, shown] = (await each(lines)) as [Ran, Ran];
    expect(counted.stdout).toMatch(
      /^promise proved \{ to: done, after: \{ merged: true \} \}\n(promise proved .*\n)+default: proved .*; no errors, no warnings, \d+ notes\n$/,
    );
    expect(counted.stderr).toBe("Notes are shown with --notes.\n");
    expect(shown.stdout).toMatch(/^note held: /m);
    expect(shown.stderr).toBe("");
  });
});

describe("workflow graph", () => {
  test("draws text, Mermaid and Graphviz; without a terminal Mermaid", async () => {
    const formats = [[], ["--format", "mermaid"], ["--format", "dot"], ["--format", "text"], ["--json"]];
    const lines = formats.map((format) => ["workflow", "graph", "default", ...format]);
    const [plain, mermaid, dot, text, data] = (await each(lines)) as [Ran, Ran, Ran, Ran, Ran];
    expect(plain.stdout).toBe(mermaid.stdout);
    expect(mermaid.stdout).toContain('  state "agent-review" as agent_review\n');
    expect(mermaid.stdout).toContain("  planning --> stuck : ⚠ engine, after 2 failures\n");
    expect(dot.stdout).toContain('"planning" -> "stuck" [label="engine, after 2 failures", style=dashed];');
    expect(dot.stdout).toContain('"done" [peripheries=2];');
    expect(text.stdout).toContain("  ⇢ stuck           engine, after 2 failures\n");
    expect(json(data)).toEqual({ name: "default", format: "mermaid", drawing: mermaid.stdout });
  });
});

describe("workflow simulate", () => {
  test("gives the same lives for the same seed, and others for another", async () => {
    const line = (seed: string) => ["workflow", "simulate", "default", "--runs", "300", "--seed", seed];
    const [one, two, three] = (await each([line("7"), line("7"), line("8")])) as [Ran, Ran, Ran];
    expect(one).toEqual(two);
    expect(one.stdout).not.toBe(three.stdout);
    expect(one.code).toBe(0);
    expect(one.stdout).toMatch(/^default: 300 lives, \d+ steps, seed 7\n\nENDED IN +LIVES +SHARE\n/);
    expect(one.stdout).toMatch(/^\(wedged\) +0 +0\.0 %$/m);
    expect(one.stdout).toMatch(/^coverage +\d+ of \d+ transitions$/m);
    expect(one.stdout).toMatch(/^violations +none$/m);
  });

  test("prints one life step by step, with its effects and prompts", async () => {
    const one = ["workflow", "simulate", "default", "--runs", "1", "--seed", "1"];
    const [short, whole, data] = (await each([one, [...one, "--prompts"], [...one, "--json"]])) as [Ran, Ran, Ran];
    expect(short.stdout).toMatch(/^The first life is created in pending\n/);
    expect(short.stdout).toMatch(
      /pending → planning \(.*\)\n +· acquire_workspace\n +· spawn_agent \(worker#1, session\)\n/,
    );
    expect(short.stdout).toContain("prompt worker: # Task: A task\n");
    expect(short.stdout).toMatch(/^It ended in \S+ after \d+ steps\.$/m);
    expect(whole.stdout).toContain("| Never push. Never ask for --status reviewing; only a reviewer can.\n");
    const { trace, ends, coverage } = json(data);
    expect(trace.length).toBeGreaterThan(3);
    expect(trace.find((step: { to: string; from: string }) => step.to !== step.from)).toHaveProperty("effects");
    expect(Object.values(ends)).toEqual([1]);
    expect(coverage[0]).toMatchObject({ from: "pending", to: "planning" });
  });

  test("keeps to a preset and to settings", async () => {
    const ran = await workflow(
      "simulate",
      "pipeline",
      "--preset",
      "quick-fix",
      "--set",
      "auto_merge=true",
      "--runs",
      "50",
      "--trace",
    );
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(/^The first life is created in BACKLOG \(preset quick-fix, auto_merge: true\)\n/);
    expect(ran.stdout).toMatch(/^ {2}never +SPEC → SPEC_REVIEW$/m);
  });

  test("fails if lives are wedged", async () => {
    const place = createHome({ "trap.yml": trap });
    const { code, stdout } = await signalbox(["workflow", "simulate", "trap", "--runs", "50"], place);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^\(wedged\) +[1-9]\d* /m);
  });
});

describe("workflow eject", () => {
  test("copies a built-in workflow under a new name, once", async () => {
    const place = createHome();
    const file = join(place.home, "workflows", "my-flow.yml");
    const made = await signalbox(["workflow", "eject", "default", "my-flow"], place);
    expect(made).toEqual({
      code: 0,
      stdout: `${file}\n`,
      stderr: "Edit it, then: signalbox workflow verify my-flow\n",
    });
    const original = readFileSync(join(root, "workflows", "default.yml"), "utf8");
    expect(readFileSync(file, "utf8")).toBe(original.replace("name: default", "name: my-flow"));

    writeFileSync(file, "mine");
    const again = await signalbox(["workflow", "eject", "default", "my-flow"], place);
    expect(again).toMatchObject({ code: 1, stdout: "" });
    expect(again.stderr).toContain("signalbox workflow eject default my-flow --force");
    expect(readFileSync(file, "utf8")).toBe("mine");

    const forced = await signalbox(["workflow", "eject", "default", "my-flow", "--force", "--json"], place);
    expect(json(forced)).toEqual({ name: "my-flow", from: "default", file });
    const text = readFileSync(file, "utf8");
    const lines = [
      ["workflow", "diff", "default", "my-flow"],
      ["workflow", "verify", "my-flow"],
    ];
    const [same, proved] = (await Promise.all(lines.map((words) => signalbox(words, place)))) as [Ran, Ran];
    expect(same).toMatchObject({ code: 0, stdout: "They differ in nothing but texts.\n" });
    expect(proved.stdout).toMatch(/^my-flow: proved /m);
    writeFileSync(file, text.replace(/^promises:\n(?: {2}- .*\n)+/m, "").replace("    when: merged == true\n", ""));
    const changed = await signalbox(["workflow", "diff", "default", "my-flow"], place);
    expect(changed.code).toBe(1);
    expect(changed.stdout).toContain("- { to: done, after: { merged: true } }   (it no longer holds)\n");
    expect(changed.stdout).toContain("- { to: done, never_by: [worker, reviewer] }   (it still holds)\n");
    expect(changed.stdout).toMatch(/^\+ reviewing → done by human \(/m);
    writeFileSync(
      file,
      text.replace(/ {2}- \{ within: 2, of: agent-review \}\n/, "").replace("    when: merged == true\n", ""),
    );
    const broken = await signalbox(["workflow", "diff", "default", "my-flow"], place);
    expect(broken.stdout).toContain("- { within: 2, of: agent-review }   (it still holds)\n");
    const both = "{ to: done, after: { merged: true } }";
    expect(broken.stdout).toContain(
      `Broken in my-flow, which states them too:\n  ${both}\nTo see how: signalbox workflow verify `,
    );
    const document = json(await signalbox(["workflow", "diff", "default", "my-flow", "--json"], place));
    expect(Object.keys(document)).toEqual([
      "before",
      "after",
      "same",
      "promises",
      "states",
      "work",
      "ways",
      "rules",
      "settings",
      "unstated",
      "broken",
    ]);
    expect(document).toMatchObject({
      ...{ same: false, broken: [both], promises: { added: [], dropped: ["{ within: 2, of: agent-review }"] } },
      unstated: [{ promise: "{ within: 2, of: agent-review }", result: "proved" }],
    });
    writeFileSync(file, text.replace(/ {2}- \{ within: 2, of: agent-review \}\n/, ""));
    const dropped = await signalbox(["workflow", "diff", "default", "my-flow"], place);
    expect(dropped).toMatchObject({
      code: 1,
      stdout: "promises\n- { within: 2, of: agent-review }   (it still holds)\n",
    });
    writeFileSync(file, text.replace(/^promises:\n(?: {2}- .*\n)+/m, "").replace("    when: merged == true\n", ""));
    const silent = await signalbox(["workflow", "verify", "my-flow"], place);
    expect(silent.stderr).toContain('No promise of the file is about "done". These hold today');
    expect(silent.stdout).toMatch(/^my-flow: proved /m);
    expect(readdirSync(join(place.home, "workflows"))).toEqual(["my-flow.yml"]);

    const own = await signalbox(["workflow", "eject", "my-flow", "third"], place);
    expect(own.code).toBe(3);
    expect(own.stderr).toContain('"my-flow" is already your own');
  });

  test("creates the user's folder if there is none", async () => {
    const place = { home: join(base, "fresh", "home"), cwd: base };
    expect(await signalbox(["workflow", "eject", "minimal"], place)).toMatchObject({ code: 0 });
    expect(existsSync(join(place.home, "workflows", "minimal.yml"))).toBe(true);
  });

  test("warns if the copy has the name of a built-in workflow, which it replaces", async () => {
    const place = createHome();
    const { code, stdout, stderr } = await signalbox(["workflow", "eject", "pipeline", "default"], place);
    expect([code, stdout]).toEqual([0, `${join(place.home, "workflows", "default.yml")}\n`]);
    expect(stderr).toContain('replaces the built-in workflow "default"');
    expect(stderr).toContain(`rm ${join(place.home, "workflows", "default.yml")}`);
  });
});

describe("rehearse", () => {
  test("proves and rehearses every built-in workflow", async () => {
    const lines = [
      ["rehearse", "--runs", "20"],
      ["rehearse", "--runs", "20", "--json"],
    ];
    const [text, data] = (await each(lines)) as [Ran, Ran];
    expect(text.code).toBe(0);
    expect(widest(text.stdout)).toBeLessThanOrEqual(100);
    expect(text.stderr).toContain("Try next:");
    const { workflows } = json(data);
    expect(workflows.map((row: { name: string }) => row.name)).toEqual([...builtIn()].sort());
    for (const row of workflows) {
      const { done, failed, cancelled } = row.ended;
      expect(row).toMatchObject({ proved: true, lives: 20, wedged: 0, violations: [] });
      expect(done + failed + cancelled + row.cut).toBe(20);
      expect(text.stdout).toMatch(new RegExp(`^${row.name} +${row.states} +${row.transitions} {2}yes +20 `, "m"));
    }
  });
});

describe("completion", () => {
  test("completes commands, workflow names, flags and their values in bash", async () => {
    const place = createHome({ "my-flow.yml": wedge });
    const script = `
      eval "$(signalbox completion bash)"
      try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _signalbox; echo "\${COMPREPLY[*]}"; }
      try signalbox work
      try signalbox workflow v
      try signalbox workflow show m
      try signalbox workflow simulate default --pr
      try signalbox workflow graph default --format ""
      try signalbox workflow show ./`;
    const env = { ...environment, SIGNALBOX_HOME: place.home, PATH: `${dirname(launcher)}:${process.env.PATH}` };
    const stdout = await new Promise<string>((done, fail) => {
      execFile("bash", ["-c", script], { env }, (error, out) => (error ? fail(error) : done(out)));
    });
    expect(stdout.split("\n")).toEqual([
      "workspace workflow",
      "validate verify",
      "minimal my-flow",
      "--preset --prompts",
      "mermaid dot text",
      "",
      "",
    ]);
  });

  test("has a script for zsh and for fish", async () => {
    const [zsh, fish] = (await each([
      ["completion", "zsh"],
      ["completion", "fish"],
    ])) as [Ran, Ran];
    expect(zsh.stdout).toContain("compdef _signalbox signalbox");
    expect(fish.stdout).toContain("complete --command signalbox");
  });
});

function builtIn(): readonly string[] {
  return readdirSync(join(root, "workflows")).map((file) => file.replace(/\.yml$/, ""));
}

function packageVersion(): string {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;
}

function widest(text: string): number {
  return Math.max(...text.split("\n").map((line) => [...line].length));
}
