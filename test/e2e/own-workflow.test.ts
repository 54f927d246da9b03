import { readFileSync, writeFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { startCommands } from "./agent-stage.ts";

vi.setConfig({ testTimeout: 240_000 });

/** A worker that follows feedback, and a reviewer that passes only the third review. */
const script = `roles:
  worker:
    - when: { status: planning }
      steps:
        - section: { heading: "## Plan", text: "APPROACH: a file.\\nTOUCHING: cup.txt" }
        - cli: [task, update, --status, working]
        - write: { file: cup.txt, text: "first\\n" }
        - commit: A cup
        - section: { heading: "## Handoff", text: "DONE: first" }
        - cli: [task, update, --status, agent-review]
    - when: { status: working }
      steps:
        - append: { file: cup.txt, text: "again\\n" }
        - commit: A better cup
        - section: { heading: "## Handoff", text: "DONE: again, message {turn}" }
        - cli: [task, update, --status, agent-review]
  reviewer:
    - when: { task: { review_round: "3" } }
      steps:
        - section: { heading: "## Review", text: "Verdict: PASS" }
        - cli: [task, update, --status, reviewing]
    - steps:
        - section: { heading: "## Review", text: "Verdict: FAIL\\n\\nOnce more, round {review_round}." }
        - cli: [task, update, --status, working]
`;

test("a copy of the default workflow with a third round of review is created, proved, chosen for a project and run", async () => {
  const { signalbox, json, until, events, git, repository } = await startCommands(script);
  const ejected = await signalbox(["workflow", "eject", "default", "my-flow"]);
  expect(ejected.code).toBe(0);
  const file = ejected.stdout.trim();
  const text = readFileSync(file, "utf8");
  const edited = text
    .replace("when: review_round < 2", "when: review_round < 3")
    .replace("when: review_round >= 2", "when: review_round >= 3")
    .replaceAll("of 2", "of 3")
    .replaceAll("in round 2", "in round 3");
  expect(edited).not.toBe(text);
  writeFileSync(file, edited);
  const broken = await signalbox(["workflow", "verify", "my-flow"]);
  expect(broken.code).toBe(1);
  expect(broken.stdout).toContain("promise broken { within: 2, of: agent-review }");
  writeFileSync(file, edited.replace("within: 2", "within: 3"));
  expect(await signalbox(["workflow", "verify", "my-flow"])).toMatchObject({ code: 0 });

  const slips = [
    ["project", "update", "coffee", "--workflow", "my-flwo"],
    ["task", "create", "A cup", "--workflow", "my-flwo"],
  ];
  for (const slip of slips) {
    const { code, stderr } = await signalbox(slip);
    expect(code).toBe(3);
    expect(stderr).toContain(
      'There is no workflow "my-flwo".\nDid you mean "my-flow"?\nKnown: classic, crew, default,',
    );
  }
  expect((await signalbox(["project", "update", "coffee", "--workflow", file])).stderr).toContain("by its name");
  expect((await json("task", "list")).tasks).toEqual([]);

  expect(await signalbox(["project", "update", "coffee", "--workflow", "my-flow"])).toMatchObject({
    code: 0,
    stdout: "workflow: my-flow\n",
  });
  const { task, workflow } = await json("task", "create", "cup", "A cup");
  expect(workflow).toEqual({ from: "user", file });
  const reviewed = await until(task.id, ({ needsPerson, phase }) => needsPerson && phase === "waiting", 120_000);
  expect(reviewed).toMatchObject({ status: "reviewing", workflow: "my-flow", counters: { review_round: 3 } });
  const moves = (await events(task.id)).flatMap(({ type, data }) =>
    type === "task.moved" ? [String((data as { to?: unknown }).to)] : [],
  );
  const rounds = ["agent-review", "working", "agent-review", "working", "agent-review", "reviewing"];
  expect(moves).toEqual(["planning", "working", ...rounds]);

  expect(await signalbox(["task", "merge", task.id])).toMatchObject({ code: 0 });
  expect(await until(task.id, ({ phase }) => phase === "over")).toMatchObject({ status: "done" });
  expect(git(repository, "show", "main:cup.txt")).toBe("first\nagain\nagain");
});
