import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, openStage, type Stage } from "../agents/stage.ts";
import { root } from "../documents.ts";
import { runCommand } from "./person.ts";

/** The built-in workflow, with shorter timeouts. */
const quick = readFileSync(join(root, "workflows/crew.yml"), "utf8")
  .replace("steps: 20", "steps: 3")
  .replace("waits_for: 60s", "waits_for: 1s");

/** The project: its script runs a runner of its own, which runs every file in `checks`. */
const project: Readonly<Record<string, string>> = {
  "package.json": `${JSON.stringify({ name: "brew", scripts: { test: "node tools/run.mjs", dev: "node ." } }, undefined, 2)}\n`,
  "tools/run.mjs": [
    'import { readdirSync } from "node:fs";',
    'for (const name of readdirSync("checks")) await import("../checks/" + name);',
    "",
  ].join("\n"),
  "checks/first.mjs": 'import { beans } from "../beans.mjs";\nif (beans !== 2) throw new Error("weak coffee");\n',
  "held/taste.mjs": "export const taste = 1;\n",
  "beans.mjs": "export const beans = 2;\n",
};

const write = (file: string, text: string) =>
  `{ write: { file: ${JSON.stringify(file)}, text: ${JSON.stringify(text)} } }`;
const without = (text: string) =>
  `${JSON.stringify({ name: "brew", scripts: { test: text, dev: "node ." } }, undefined, 2)}\n`;

/** What each agent does before it says DONE, by the ticket's title. */
const works: Readonly<Record<string, readonly string[]>> = {
  Ordinary: [
    write("checks/second.mjs", "export {};\n"),
    write("beans.mjs", "export const beans = 2;\nexport const water = 1;\n"),
  ],
  Script: [write("package.json", without("exit 0"))],
  Runner: [write("tools/run.mjs", "process.exit(0);\n")],
  Pipeline: [write(".github/workflows/ci.yml", "on: push\n")],
  Named: [write("held/taste.mjs", "export const taste = 0;\n")],
  Law: [write(".signalbox/workflows/mine.yml", "name: mine\n")],
  Liar: [write("package.json", without("exit 0")), write("beans.mjs", "export const beans = 1;\n")],
};

let stage: Stage;
const signalbox = (...args: readonly string[]) =>
  runCommand(stage.repository, { ...stage.home.env, NO_COLOR: "1" }, args);
const ticketOf = (title: string) => `t-${title.toLowerCase()}`;
const tasks = new Map<string, string>();

beforeAll(async () => {
  const turns = Object.entries(works).map(
    ([title, steps]) =>
      `    - { when: { task: { summary: ${title} } }, steps: [${steps.join(", ")}, { commit: ${title} }, marker] }\n`,
  );
  stage = await openStage({
    workflows: { crew: quick },
    script: `roles:\n  worker:\n${turns.join("")}`,
    config: "protect: [held/**]\n",
    poolSize: Object.keys(works).length,
  });
  for (const [path, text] of Object.entries(project)) {
    mkdirSync(dirname(join(stage.repository, path)), { recursive: true });
    writeFileSync(join(stage.repository, path), text);
  }
  mkdirSync(join(stage.repository, ".tickets"));
  for (const title of Object.keys(works))
    writeFileSync(
      join(stage.repository, ".tickets", `${ticketOf(title)}.md`),
      `---\nid: ${ticketOf(title)}\nstatus: open\ndeps: []\npriority: 2\n---\n# ${title}\n`,
    );
  stage.git(stage.repository, "add", "-A");
  stage.git(stage.repository, "commit", "-qm", "the project");
  const many = String(Object.keys(works).length);
  expect((await signalbox("crew", "spawn", many)).code).toBe(0);
  expect((await signalbox("crew", "run", "--most", many)).code).toBe(0);
  for (const title of Object.keys(works)) tasks.set(title, await taskWith(ticketOf(title)));
});
afterAll(() => stage?.close());

async function taskWith(ticket: string): Promise<string> {
  return eventually(async () => {
    const found = JSON.parse((await signalbox("ticket", "show", ticket, "--json")).stdout);
    return found.task === "" ? undefined : String(found.task);
  });
}

/** The task of a ticket once it is held. */
async function held(title: string) {
  return stage.until(tasks.get(title) ?? "", (task) => task.held !== null);
}
const onMain = (path: string) => stage.git(stage.repository, "show", `main:${path}`);

test("ordinary work with new tests is merged without a person, and is not marked", async () => {
  const id = tasks.get("Ordinary") ?? "";
  await stage.until(id, ({ status }) => status === "done");
  expect(onMain("checks/second.mjs")).toBe("export {};");
  expect(await stage.types(id)).not.toContain("protected.changed");
});

test.each([
  ["Script", "package.json (the scripts that run the tests)"],
  ["Runner", "tools/run.mjs (the script that runs the tests)"],
  ["Pipeline", ".github/workflows/ci.yml (CI)"],
  ["Named", 'held/taste.mjs (protected by "protect")'],
  ["Law", ".signalbox/workflows/mine.yml (workflows and settings of Signalbox)"],
])("crew stops for a person before it merges the work of %s, and says what was changed", async (title, change) => {
  const task = await held(title);
  expect(task).toMatchObject({ status: "merging", needsPerson: true, held: { word: "protected" } });
  expect(task.held?.reason).toContain(change);
  const changed = (await stage.events(task.id)).filter(({ type }) => type === "protected.changed");
  expect(changed.map(({ data }) => data.changes)).toEqual([[change]]);
  for (const args of [["explain"], ["show"], ["diff"], ["merge", "--dry-run"]]) {
    const { stdout, stderr } = await signalbox("task", ...args, task.id);
    expect(`${args.join(" ")}: ${stdout}${stderr}`.replace(/\s+/g, " ")).toContain(change);
  }
});

test("work whose own test script always passes is tested with the base's script, and is sent back", async () => {
  const id = tasks.get("Liar") ?? "";
  const failed = await eventually(async () =>
    (await stage.events(id)).find(
      ({ type, data }) => type === "task.moved" && data.to === "working" && data.from === "testing",
    ),
  );
  expect(failed.by).toBe("engine");
  const [tested] = (await stage.events(id)).filter(({ type }) => type === "protected.tested");
  expect(tested?.data).toMatchObject({ base: "tests", work: "ok" });
});

test("a person who merges such work confirms it, and it is merged", async () => {
  const { id } = await held("Pipeline");
  const merged = await signalbox("task", "merge", id);
  expect(merged.stderr).toContain('The task\'s workflow merges it, in "merging".');
  await stage.until(id, ({ status }) => status === "done");
  expect(onMain(".github/workflows/ci.yml")).toBe("on: push");
  const confirmed = (await stage.events(id)).filter(({ type }) => type === "protected.confirmed");
  expect(confirmed).toMatchObject([{ by: "human", data: { changes: [".github/workflows/ci.yml (CI)"] } }]);
});

test("protected work that changes again after it was shown stops again", async () => {
  const task = await held("Named");
  writeFileSync(join(task.workspace, "held/taste.mjs"), "export const taste = -1;\n");
  stage.git(task.workspace, "commit", "-qam", "more");
  const refused = await signalbox("task", "merge", task.id);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("held/taste.mjs");
  expect((await stage.task(task.id)).status).toBe("merging");
  await signalbox("task", "merge", task.id);
  await stage.until(task.id, ({ status }) => status === "done");
  expect(onMain("held/taste.mjs")).toBe("export const taste = -1;");
});
