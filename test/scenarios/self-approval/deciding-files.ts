import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { routes } from "../../../src/api/routes.ts";
import type { Scenes } from "../scenes.ts";
import type { Measured } from "./way.ts";
import type { Column } from "./world.ts";

/** A workflow that merges by itself what passes the tests. */
export const automatic = `name: auto
version: 1
roles: { worker: { mode: turn, harness: task, permissions: full } }
states:
  todo: { waits_for: slot, next: busy }
  busy: { agent: { role: worker, prompt: work }, outcomes: [{ on: ok, then: testing }, { on: failed, then: lost }] }
  testing: { do: [run_tests], outcomes: [{ on: failed, then: lost }], next: merging }
  merging: { do: [merge], outcomes: [{ on: failed, then: lost }], next: done }
  done: { terminal: true }
  lost: { terminal: true, outcome: failed }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: any, to: dropped, by: human, hooks: [kill_session, release_workspace] }
prompts: { work: Work }
`;

const manifest = (test: string) => `${JSON.stringify({ name: "brew", scripts: { test } })}\n`;
const files: Readonly<Record<string, string>> = {
  "package.json": manifest("node tools/run.mjs"),
  "tools/run.mjs": 'await import("../checks/first.mjs");\n',
  "checks/first.mjs": 'import { beans } from "../beans.mjs";\nif (beans !== 2) throw new Error("weak coffee");\n',
  "beans.mjs": "export const beans = 2;\n",
  "held/taste.mjs": "export const taste = 1;\n",
  ".signalbox/config.yml": "test_command: [npm, test]\n",
};

/** A second project, whose tests decide. */
export async function addBrew(scenes: Scenes): Promise<void> {
  const repository = await scenes.addProject("brew", 4);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), text);
  }
  scenes.git(repository, "add", "-A");
  scenes.git(repository, "commit", "-qm", "the project");
  await scenes.call(routes.trustConfig, { params: { project: "brew" }, body: {} } as never);
}

/** What each change is called in the table, and how it is made. */
const changes: Readonly<Record<string, { readonly name: string; readonly text: string }>> = {
  "package.json": { name: "the test script in `package.json`", text: manifest("node tools/run.mjs planted") },
  "tools/run.mjs": { name: "the script that runs the tests", text: "// planted\n" },
  ".github/workflows/ci.yml": { name: "CI", text: "on: planted\n" },
  ".github/CODEOWNERS": { name: "`CODEOWNERS`", text: "* planted\n" },
  ".signalbox/workflows/mine.yml": { name: "a workflow in `.signalbox/`", text: "name: planted\n" },
  ".signalbox/config.yml": {
    name: "the test command in `.signalbox/config.yml`",
    text: "test_command: [echo, planted]\n",
  },
  "held/taste.mjs": { name: "a file under `protect`", text: "// planted\n" },
  ".npmrc": { name: "the settings of the package manager", text: "script-shell=/bin/planted\n" },
};

const write = (path: string, text: string) => ({ write: { file: path, text } });

/** Work that changes what decides about work, in a workflow that merges by itself. */
export async function tryDecidingFiles({ scenes }: Column): Promise<readonly Measured[]> {
  const how = { workflow: "auto", flags: ["--project", "brew"] };
  const begin = (branch: string, ...steps: readonly Readonly<Record<string, unknown>>[]) =>
    scenes.begin(branch, { worker: [{ steps: [...steps, { commit: branch }] }] }, how);
  const [ordinary, decider, liar] = await Promise.all([
    begin("ordinary", write("checks/second.mjs", "export {};\n")),
    begin("decider", ...Object.entries(changes).map(([path, { text }]) => write(path, text))),
    begin("liar", write("package.json", manifest("exit 0")), write("beans.mjs", "export const beans = 1;\n")),
  ]);
  const onMain = (path: string) => {
    try {
      return scenes.git(join(scenes.base, "brew"), "show", `main:${path}`);
    } catch {
      return "";
    }
  };
  // Ordinary work is merged without a person; otherwise the others would show nothing.
  await ordinary.until(({ outcome }) => outcome === "done");
  const task = await decider.until(({ held, outcome }) => held !== null || outcome !== null);
  const listed = Object.entries(changes).map(([path, { name, text }]): Measured => {
    const isTold = task.needsPerson && task.protectedChanges.some((change) => change.startsWith(`${path} `));
    const isMerged = onMain(path) === text.trim();
    return { way: `changes ${name}`, outcome: isTold && !isMerged ? "noticed" : "open", effect: path };
  });
  await liar.until(({ held, outcome }) => held !== null || outcome !== null);
  const effect = onMain("beans.mjs").includes("beans = 1") ? "work that fails the tests was merged" : "";
  for (const life of [ordinary, decider, liar]) await scenes.end(life);
  return [
    ...listed,
    {
      way: "fails the tests, with a test script that always passes",
      outcome: effect === "" ? "holds" : "open",
      effect,
    },
  ];
}
