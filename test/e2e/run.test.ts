import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { TaskView } from "../../src/api/tasks.ts";
import { controls, startCommands } from "./agent-stage.ts";
import { atTerminal } from "./at-terminal.ts";

vi.setConfig({ testTimeout: 240_000 });

/** An architect with a question, and a plan of three parts, of which one fails and one needs another. */
const scriptOf = (building: string) => `roles:
  architect:
    - when: { prompt: "Split it into" }
      steps:
        - answer:
            subtasks:
              - { id: theme, title: Theme, description: x }
              - { id: docs, title: Docs, description: x }
              - { id: pages, title: Pages, description: x, needs: [docs] }
    - when: { prompt: "Is anything unclear" }
      steps:
        - choose:
            - when: { prompt: the system }
              steps: [{ answer: { status: ready, message: "It follows the system." } }]
            - steps: [{ answer: { status: questions, message: "A switch, or the system?" } }]
    - { steps: [{ answer: { approved: true } }] }
  swe:
    - when: { prompt: "Subtask Docs" }
      steps: [{ error: { kind: other, message: "There is no docs folder." } }]
    - when: { prompt: "Run the tests" }
      steps: [{ answer: { passed: true } }]
    - steps:
        - ${building}
        - write: { file: theme.css, text: "dark" }
        - run: [sh, -c, "date +%s%N > built.txt"]
        - commit: Dark
        - usage: { input: 900, output: 100, cost: 0.05 }
`;

test("in a pipe the command prints a line for each change, and ends with the branch and an exit code", async () => {
  const script = scriptOf("think: { time: 100ms, about: Editing theme.css }");
  const { signalbox, json, git, repository } = await startCommands(script, { poolSize: 3 });
  const { tasks: before } = await json("task", "list", "--open", "--closed");
  const refused = [
    [["Add", "dark", "mode"], 2, /One request is expected[\s\S]*signalbox run 'Add dark mode'/],
    [[" "], 2, /The request is empty[\s\S]*signalbox run "/],
    [["Dark mode", "--budget", "much"], 2, /"much" is not a budget\. Write US dollars/],
    [["Dark mode", "--agents", "0"], 2, /"0" is not a whole number from 1/],
    [["Dark mode", "--policy", "never"], 2, /no policy "never"\.\nKnown: retry, continue, stop\./],
    [["Dark mode", "--agents", "2", "--workflow", "minimal"], 2, /"minimal" has no setting "agents"/],
    [["--resume"], 3, /coffee has no open task that is built in parts\./],
    [["--resume", "nothing"], 3, /There is no task "nothing"/],
  ] as const;
  for (const [words, code, stderr] of refused)
    expect(await signalbox(["run", ...words])).toMatchObject({
      code,
      stderr: expect.stringMatching(stderr),
      stdout: "",
    });
  expect(await json("task", "list", "--open", "--closed")).toEqual({ tasks: before, next: null });

  const help = (await signalbox(["run", "--help"])).stdout;
  expect(help).toContain("[REQUEST|TASK]");
  expect(help).not.toContain("TASK...");
  const ran = await signalbox(["run", "Add dark mode", "--yes", "--agents", "2", "--policy", "continue"]);
  expect(ran, ran.stderr).toMatchObject({ code: 7, stdout: expect.not.stringMatching(controls) });
  const lines = ran.stdout.split("\n").map((line) => line.replace(/^\d{4}-\S+ \S+ {2}/, ""));
  expect(lines).toEqual(
    expect.arrayContaining(["coffee#1  PLANNING", "docs  SUBTASK_FAILED  There is no docs folder."]),
  );
  const branch = /branch +(\S+)/.exec(ran.stdout)?.[1] ?? "";
  const summary = ran.stdout.slice(ran.stdout.indexOf("Done in part"));
  expect(summary).toMatch(
    /^Done in part, 1 of 3 parts: coffee#1 Add dark mode\n {2}parts +1 of 3 done, 1 failed, 1 skipped\n/,
  );
  expect(summary).toMatch(
    /✓ {2}theme +Theme\n.*✗ {2}docs +Docs\. There is no docs folder\.\n.*– {2}pages +Pages\. Skipped: it needs "docs"/,
  );
  expect(summary).toContain(`git merge ${branch}\n`);
  const [, again = ""] = /missing parts on top of it:\n {2}signalbox (run --from \w+)/.exec(summary) ?? [];
  expect(summary).toMatch(/tests +Nothing was tested: no command to run the tests was found\./);
  git(repository, "merge", "-q", branch);
  expect(git(repository, "show", "HEAD:theme.css")).toBe("dark");

  const [over] = (await json("task", "list", "--closed")).tasks.filter(({ number }: TaskView) => number === 1);
  const finished = `COMPLETED", which is the end. Its work is on the branch "${branch}".`;
  const use = `signalbox task fetch ${over.id} && git merge ${branch}`;
  for (const verb of ["merge", "create-pr"]) {
    const { stderr } = await signalbox(["task", verb, over.id]);
    expect(stderr).toMatch(finished);
    expect(stderr).toContain(use);
  }
  const docs = over.children.parts.find(({ item }: { item: string }) => item === "docs");
  const explained = await json("task", "explain", docs.id);
  expect(explained.where).toContain(`There is no docs folder.\nIt is the part "docs" of ${over.id}:`);
  expect((await json("task", "explain", over.id)).where).toContain(use);
  const near = `${over.id.slice(0, -1)}${over.id.endsWith("x") ? "y" : "x"}`;
  expect(await signalbox(["task", "show", near])).toMatchObject({
    ...{ code: 3, stderr: expect.stringContaining(`Did you mean "${over.id}"?`) },
  });
  expect(await signalbox(["run", over.id])).toMatchObject({ code: 2, stderr: expect.stringContaining("--resume") });
  // The end of a task that is over is shown again, with its exit code.
  expect(await signalbox(["run", "--resume", over.id])).toMatchObject({ code: 7, stdout: summary });
  expect(await signalbox(["run", "--resume", docs.id])).toMatchObject({ code: 1 });
  // Without a person the architect's question stays open.
  const asking = await signalbox(["run", "Add light mode", "--json"]);
  expect(asking).toMatchObject({ code: 5 });
  expect(JSON.parse(asking.stdout)).toMatchObject({
    end: "needs-person",
    questions: [{ text: "A switch, or the system?" }],
  });
  // The agent has ended with its question: a message would be lost, and another run would ask again.
  expect(await signalbox(["task", "send", JSON.parse(asking.stdout).task.id, "The system"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/waits for your answer, not for a message\.\nReply to it: signalbox task reply/),
  });
  // With one open task no name is needed; with two they are listed.
  expect(await signalbox(["run", "--resume"])).toMatchObject({ code: 5 });
  const { task } = await json("task", "create", "Add red mode", "--workflow", "team", "--no-spawn");
  expect(await signalbox(["run", "--resume"])).toMatchObject({
    ...{ code: 2, stdout: "" },
    stderr: expect.stringMatching(`coffee has 2 open tasks[\\s\\S]*--resume ${task.id} {2}# Add red mode`),
  });

  // What is missing of the first task is built on top of its branch, although other tasks of a team are open.
  const continued = await signalbox([...again.split(" "), "--yes", "--policy", "continue"]);
  expect(continued, continued.stderr + continued.stdout).toMatchObject({ code: 7 });
  expect(continued.stdout).toMatch(/Done in part, 1 of 3 parts: coffee#\d+ Add dark mode \(missing: Docs; Pages\)\n/);
  const newBranch = /branch +(\S+)/.exec(continued.stdout)?.[1] ?? "";
  expect(git(repository, "merge-base", branch, newBranch)).toBe(git(repository, "rev-parse", branch));
  const [, newer = ""] = /signalbox run --from (\w+)/.exec(continued.stdout) ?? [];
  const { stdout: document } = await signalbox(["task", "show", newer, "--section", "Context"]);
  expect(document).toMatch(
    /continues coffee#1, [\s\S]*The first request: Add dark mode\n[\s\S]*Done, and on the branch:\n- theme: Theme\n/,
  );
  expect(document).toMatch(/Missing:\n- docs: Docs\n {2}x\n {2}Not done: There is no docs folder\.\n- pages: Pages\n/);
  // The yes of the first run is not for the next one: the architect asks.
  expect(await signalbox(["run", "--from", newer])).toMatchObject({ code: 5 });
  expect(await signalbox(["run", "--from", task.id])).toMatchObject({
    ...{
      code: 1,
      stderr: expect.stringContaining(`is not over: it is in QUEUED.\nCome back to it: signalbox run --resume`),
    },
  });
});

test("on a terminal the command asks the questions, is left with Ctrl-C, and goes on with --resume", async () => {
  // The engineer works until the test has seen it. In a sandbox it sees no folder of the test but its workspace.
  const script = scriptOf('run: [sh, -c, "until test -e seen; do sleep 0.1; done"]');
  const { base, env, main, repository, json } = await startCommands(script, { poolSize: 3 });
  const sit = (...words: readonly string[]) =>
    atTerminal([process.execPath, main, "run", ...words], { base, env, folder: repository, columns: 80 });
  const first = sit("Add dark mode", "--policy", "continue");
  await first.shows(/A switch, or the system\?\n[\s\S]*>$/);
  first.say("the system");
  await first.shows(/It follows the system\.\n {2}yes confirms/);
  first.say("yes");
  await first.shows(/pages +M +docs .*Pages\n[\s\S]*Carry it out\? \[yes\/edit\/later\/cancel\]/);
  first.say("yes");
  await first.shows(
    /^coffee#1 {2}Add dark mode .*SUBTASK_IMPLEMENTING\n[▒×·]+ {2}0 of 3 done[\s\S]*● {2}theme +SUBTASK_IMPLEMENTING +\d+s /,
  );
  first.press("C-c");
  await first.shows(
    /The work goes on\. To come back to it: signalbox run --resume \w+\n(?:.*\n)*it ended with 6\n(?=[\s\S]*^icanon)/m,
  );
  // The conversation is still there, once.
  expect(first.everything().match(/architect asks/g)).toHaveLength(2);

  const { tasks } = await json("task", "list");
  expect(tasks.find(({ number }: TaskView) => number === 1)).toMatchObject({ outcome: null });
  const { workspace } = tasks.find(({ part }: TaskView) => part?.item === "theme");
  writeFileSync(join(workspace, "seen"), "");
  const second = sit("--resume");
  await second.shows(
    /Done in part, 1 of 3 parts: coffee#1 Add dark mode\n {2}parts +1 of 3 done, 1 failed[\s\S]*it ended with 7/,
  );
});

test("a plan that is left for later is not asked again before the command is left", async () => {
  const { base, env, main, repository } = await startCommands(scriptOf("think: { time: 1ms, about: Nothing }"), {
    poolSize: 3,
  });
  const words = ["run", "Add dark mode", "--set", "skip_clarification=true"];
  const person = atTerminal([process.execPath, main, ...words], { base, env, folder: repository, columns: 80 });
  await person.shows(/Carry it out\? \[yes\/edit\/later\/cancel\]/);
  person.say("later");
  await person.shows(/^coffee#1 {2}Add dark mode .*PLANNED\n[\s\S]*signalbox task plan/);
  person.press("C-c");
  await person.shows(/To come back to it: signalbox run --resume \w+\n(?:.*\n)*it ended with 6/);
  expect(person.everything().match(/Carry it out/g)).toHaveLength(1);
});
