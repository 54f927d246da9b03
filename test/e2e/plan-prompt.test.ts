import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { startCommands } from "./agent-stage.ts";
import { atTerminal } from "./at-terminal.ts";

vi.setConfig({ testTimeout: 240_000 });

const long = "Every page gets the switch. ".repeat(40);

/** An architect who plans two parts without a question, and engineers who work until the test has seen them. */
const script = `roles:
  architect:
    - when: { prompt: "Split it into" }
      steps:
        - answer:
            subtasks:
              - { id: theme, title: Theme, description: "Define the dark colours in theme.css." }
              - { id: pages, title: Pages, description: "${long}" }
    - when: { prompt: "Is anything unclear" }
      steps: [{ answer: { status: questions, message: "A switch, or the system?" } }]
    - { steps: [{ answer: { approved: true } }] }
  swe:
    - steps:
        - run: [sh, -c, "until test -e seen; do sleep 0.1; done"]
        - write: { file: theme.css, text: "dark" }
        - commit: Dark
`;

const other = JSON.stringify([{ id: "menu", title: "Menu", description: "Put a switch into the menu." }]);
const prompt = /Carry it out\? \[yes\/edit\/later\/cancel\]$/;

async function start() {
  const commands = await startCommands(script, { poolSize: 3 });
  const { base, env, main, repository, json } = commands;
  const sit = (words: readonly string[], { columns = 80, ...more }: Record<string, unknown> = {}) =>
    atTerminal([process.execPath, main, ...words], {
      ...{ base, env: { ...env, ...more }, folder: repository, columns: Number(columns), rows: 40 },
    });
  return {
    ...commands,
    sit,
    run: (more: Record<string, unknown> = {}) =>
      sit(["run", "Add dark mode", "--set", "skip_clarification=true"], more),
    task: async () =>
      (await json("task", "list", "--open", "--closed")).tasks.find((each: { number: number }) => each.number === 1),
  };
}

test("a yes is for the plan that was shown: a plan that was changed elsewhere is shown, and asked about again", async () => {
  const { run, task, signalbox, json } = await start();
  const person = run();
  await person.shows(prompt);
  // Each item has its description below it; a long one is cut.
  expect(person.screen()).toMatch(/theme +M +– +– +Theme\n {4}Define the dark colours in theme\.css\.\n/);
  expect(person.screen()).toMatch(/pages +M +– +– +Pages\n(?: {4}.{0,76}\n){5} {4}…\n/);
  const { id } = await task();
  expect(person.screen().replaceAll(/\s+/g, " ")).toContain(`To see all of them: signalbox task plan ${id}`);
  const before = await json("task", "plan", id);
  person.press("y", "e");
  expect(await signalbox(["task", "plan", id, "--file", "-"], other)).toMatchObject({ code: 0 });
  await person.shows(
    /The plan has changed\. This is the plan now:\n[\s\S]*menu +M .*Menu\n {4}Put a switch[\s\S]*\[yes\/edit\/later\/cancel\]$/,
  );
  // What was typed for the first plan does not count for the second.
  person.say("s");
  await person.shows(/yes starts the engineers/);
  expect((await task()).status).toBe("PLANNED");

  // Elsewhere: an approval of the first plan, and a change to it, are refused with the plan as it is now.
  const stale = ["--fingerprint", before.fingerprint];
  for (const words of [
    ["--approve", ...stale],
    ["--file", "-", ...stale],
    ["--file", "-", "--json", ...stale],
  ])
    expect(await signalbox(["task", "plan", id, ...words], other.replace("Menu", "Bar"))).toMatchObject({
      ...{ code: 1, stdout: words.includes("--json") ? "" : expect.stringMatching(/^ID[\s\S]*menu/) },
      stderr: expect.stringContaining("The plan has changed since you were shown it."),
    });
  expect(await signalbox(["task", "plan", id, "--file", "-"], JSON.stringify(before))).toMatchObject({ code: 1 });
  expect((await json("task", "plan", id)).items).toMatchObject([{ title: "Menu" }]);
  person.say("yes");
  await person.shows(/^coffee#1 {2}Add dark mode .*SUBTASK_IMPLEMENTING\n[\s\S]*menu/);
  expect((await task()).children.parts).toMatchObject([{ item: "menu" }]);
});

test("a prompt whose plan is approved elsewhere goes on with the screen, and cancel asks first", async () => {
  const { run, task, signalbox } = await start();
  const person = run();
  await person.shows(prompt);
  person.say("cancel");
  await person.shows(/Cancel coffee#1 Add dark mode\? It is in PLANNED\. No agent is at work\. \[y\/N\]$/);
  const { id } = await task();
  expect(await signalbox(["task", "plan", id, "--approve"])).toMatchObject({ code: 0 });
  person.say("y");
  await person.shows(/^coffee#1 {2}Add dark mode .*SUBTASK_IMPLEMENTING\n/);
  person.press("C-c");
  await person.shows(/it ended with 6\n/);
  expect(person.everything()).toMatch(/Nothing was cancelled: coffee#1 has moved to \w+ in the\s+meantime/);
  expect((await task()).outcome).toBeNull();
});

test("an open prompt notices that its plan was approved elsewhere", async () => {
  const { run, task, signalbox } = await start();
  const person = run();
  await person.shows(prompt);
  expect(await signalbox(["task", "plan", (await task()).id, "--approve"])).toMatchObject({ code: 0 });
  await person.shows(/^coffee#1 {2}Add dark mode .*SUBTASK_IMPLEMENTING\n/);
  person.press("C-c");
  await person.shows(/it ended with 6\n/);
  expect(person.everything().replaceAll(/\s+/g, " ")).toContain("it was answered elsewhere");
});

test("later leaves the plan open, and a key asks again; a refused edit is opened again; cancel ends the task", async () => {
  const { run, base, task } = await start();
  const editor = join(base, "editor");
  // The first edit breaks the plan; the second must find the broken text, and mends it.
  const seen = join(base, "edited");
  writeFileSync(
    editor,
    `#!/bin/sh\ncat "$1" >> ${seen}\nif grep -q nothing-like-it "$1"; then sed -i 's/nothing-like-it/theme/' "$1"; else sed -i 's/title: Pages/title: All pages\\n  needs: [nothing-like-it]/; s/^  needs: \\[\\]$//' "$1"; fi\n`,
  );
  chmodSync(editor, 0o755);
  const person = run({ EDITOR: editor });
  await person.shows(prompt);
  person.say("later");
  await person.shows(/The plan waits for you\. To be asked again, press a\n/);
  person.press("a");
  await person.shows(prompt);
  person.say("edit");
  await person.shows(/nothing-like-it[\s\S]*\[yes\/edit\/later\/cancel\]$/);
  person.say("edit");
  await person.shows(/The plan has changed[\s\S]*pages +M +theme .*All pages[\s\S]*\[yes\/edit\/later\/cancel\]$/);
  expect(readFileSync(seen, "utf8")).toContain("nothing-like-it");
  person.say("cancel");
  await person.shows(/\[y\/N\]$/);
  person.press("Enter");
  await person.shows(/Nothing was cancelled\.\nCarry it out\?/);
  expect((await task()).outcome).toBeNull();
  person.say("cancel");
  await person.shows(/\[y\/N\]$/);
  person.say("y");
  await person.shows(/Cancelled: coffee#1 Add dark mode[\s\S]*it ended with 1/);
});

test("task plan shows all descriptions, is readable on a narrow terminal, and names a file without an editor", async () => {
  const { run, sit, task, signalbox } = await start();
  const person = run();
  await person.shows(prompt);
  person.press("C-c");
  // The prompt's line ends before the message.
  await person.shows(/Carry it out\? \[yes\/edit\/later\/cancel\]\nIt waits for you\. To come back/);
  const { id } = await task();
  const { stdout } = await signalbox(["task", "plan", id]);
  expect(stdout.replaceAll(/\s+/g, " ")).toContain(long.trim());
  const narrow = sit(["task", "plan", id], { columns: 44 });
  await narrow.shows(/it ended with 0/);
  expect(narrow.everything().replaceAll(/\s+/g, " ")).toContain(long.trim());
  expect(await signalbox(["task", "plan", id, "--edit"], "", { EDITOR: "", VISUAL: "" })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`Without an editor: signalbox task plan ${id} --file FILE`),
  });
});

test("a question that is answered elsewhere is taken back, and its cancel says what it ends", async () => {
  const { sit, task, signalbox } = await start();
  const person = sit(["run", "Add dark mode"]);
  await person.shows(/A switch, or the system\?\n[\s\S]*>$/);
  person.say("/cancel");
  await person.shows(/Cancel coffee#1 Add dark mode\? It is in CLARIFYING\. .*\[y\/N\]$/);
  person.say("n");
  await person.shows(/Nothing was cancelled\.\n>$/);
  const { id } = await task();
  expect(await signalbox(["task", "reply", id, "The system"])).toMatchObject({ code: 0 });
  await person.shows(/The question is not open any more\.\n[\s\S]*architect asks[\s\S]*>$/);
  person.press("C-c");
  await person.shows(/>\nIt waits for you\. To come back/);
});
