import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, openStage, type Stage } from "../agents/stage.ts";
import { root } from "../documents.ts";
import { runCommand } from "./person.ts";

const quick = readFileSync(join(root, "workflows/crew.yml"), "utf8").replace("waits_for: 60s", "waits_for: 1s");

/** The setup installs the runner into a folder that git ignores, and keeps one that is there already. */
const setup =
  "mkdir -p node_modules/.bin && test -e node_modules/.bin/brewtest || cp tools/brewtest node_modules/.bin/brewtest";
const project: Readonly<Record<string, string>> = {
  ".gitignore": "node_modules\n",
  "package.json": '{ "name": "brew", "scripts": { "test": "brewtest" } }\n',
  "tools/brewtest": "#!/bin/sh\ngrep -q strong coffee.txt\n",
  "coffee.txt": "strong\n",
};
const plant = "{ run: [sh, -c, \"printf '#!/bin/sh\\\\nexit 0\\\\n' >node_modules/.bin/brewtest\"] }";
const works: Readonly<Record<string, string>> = {
  Good: `${plant}, { write: { file: coffee.txt, text: "strong and black" } }`,
  Bad: `${plant}, { write: { file: coffee.txt, text: weak } }`,
};

let stage: Stage;
const signalbox = (...args: readonly string[]) =>
  runCommand(stage.repository, { ...stage.home.env, NO_COLOR: "1" }, args);

beforeAll(async () => {
  const turns = [...Object.entries(works), ["Heir", "{ write: { file: coffee.txt, text: weaker } }"]].map(
    ([title, steps]) =>
      `    - { when: { task: { summary: ${title} } }, steps: [${steps}, { commit: ${title} }, marker] }\n`,
  );
  stage = await openStage({
    workflows: { crew: quick },
    script: `roles:\n  worker:\n${turns.join("")}`,
    config: `setup: [sh, -c, ${JSON.stringify(setup)}]\n`,
    poolSize: 1,
  });
  for (const [path, text] of Object.entries(project)) {
    mkdirSync(dirname(join(stage.repository, path)), { recursive: true });
    writeFileSync(join(stage.repository, path), text, { mode: 0o755 });
  }
  stage.git(stage.repository, "add", "-A");
  stage.git(stage.repository, "commit", "-qm", "the project");
});
afterAll(() => stage?.close());

const create = async (summary: string) => {
  const { stdout } = await signalbox("task", "create", "--workflow", "crew", "--json", summary.toLowerCase(), summary);
  return String(JSON.parse(stdout).task.id);
};
const runner = (workspace: string) => readFileSync(join(workspace, "node_modules/.bin/brewtest"), "utf8");

test("crew stops for a person where an agent has changed the runner, and its tests ran with the real one", async () => {
  const id = await create("Good");
  const task = await stage.until(id, ({ held }) => held !== null);
  expect(task).toMatchObject({ status: "merging", held: { word: "protected" } });
  expect(task.held?.reason).toContain("node_modules/.bin/brewtest (the test runner, changed since the setup)");
  expect(runner(task.workspace)).toContain("exit 0");
  const [tested] = (await stage.events(id)).filter(({ type }) => type === "protected.tested");
  expect(tested?.data).toMatchObject({ base: "ok", work: "ok" });
  await signalbox("task", "cancel", id);
});

test("work that fails with the real runner is sent back, whatever the planted one says", async () => {
  const id = await create("Bad");
  await eventually(async () =>
    (await stage.events(id)).find(
      ({ type, data }) => type === "task.moved" && data.from === "testing" && data.to === "working",
    ),
  );
  const [tested] = (await stage.events(id)).filter(({ type }) => type === "protected.tested");
  expect(tested?.data).toMatchObject({ base: "tests", work: "ok" });
  await signalbox("task", "cancel", id);
});

test("a runner that the task before has planted in a kept folder does not decide about the next task", async () => {
  const id = await create("Heir");
  const failed = await eventually(async () =>
    (await stage.events(id)).find(({ type, data }) => type === "task.worked" && data.word === "tests"),
  );
  expect(failed.data.reason).toContain("ended with 1");
  expect(runner((await stage.task(id)).workspace)).toContain("grep -q strong");
  expect(await stage.types(id)).not.toContain("protected.changed");
});
