import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { startCommands } from "./agent-stage.ts";

// Each step starts a program, and machines may be slow.
vi.setConfig({ testTimeout: 240_000 });

/** An agent that reads people's texts, and fails if they are not in its task file. */
const script = `roles:
  worker:
    - when: { prompt: "# Task: Brew" }
      steps:
        - section: { heading: "## Questions", text: "Which beans?" }
        - cli: [task, update, --status, clarification]
    - { when: { prompt: "# Task: Spill" }, steps: [{ say: "Please log in" }, { exit: 1 }] }
    - when: { prompt: "has answered" }
      steps:
        - run: [grep, -q, "Arabica, and no", TASK.md]
        - section: { heading: "## Plan", text: "APPROACH: brew.\\nTOUCHING: recipe.md" }
        - cli: [task, update, --status, working]
        - append: { file: recipe.md, text: "water\\n" }
        - commit: Add water
        - section: { heading: "## Handoff", text: "DONE: water" }
        - cli: [task, update, --status, agent-review]
    - when: { prompt: ["asks for changes", "Resuming"] }
      steps:
        - run: [grep, -q, "More water", TASK.md]
        - try: [{ run: [git, merge, main] }]
        - try: [{ run: [git, checkout, --theirs, recipe.md] }]
        - append: { file: recipe.md, text: "more water\\n" }
        - commit: Add more water
        - section: { heading: "## Handoff", text: "DONE: more water in message {turn} of session {run}" }
        - cli: [task, update, --status, agent-review]
    - { steps: [{ say: "Yes?" }] }
  reviewer:
    - steps:
        - section: { heading: "## Review", text: "Verdict: PASS\\n\\nLooked at by reviewer {run}." }
        - cli: [task, update, --status, reviewing]
`;

test("a person answers, asks for changes and approves, and the agent is told about each", async () => {
  const { signalbox, json, until, events, git, repository, task, runs } = await startCommands(script, {});
  const { task: created } = await json("task", "create", "brew", "Brew");
  const { id } = created;
  await until(id, ({ status, phase }) => status === "clarification" && phase === "waiting");
  const explained = (await signalbox(["task", "explain", id])).stdout;
  expect(explained).toMatch(
    new RegExp(`\n  The agent asks:\n  Which beans\\?\n    Answer: signalbox task answer ${id}\n`),
  );

  // An approval would not answer the agent's question.
  expect(explained).not.toContain("task approve");
  const yes = await signalbox(["task", "approve", id]);
  expect(yes).toMatchObject({ code: 1, stdout: "" });
  expect(yes.stderr).toContain(`signalbox task answer ${id} -m "Your answer"`);

  // A refused text is not written.
  const silent = await signalbox(["task", "answer", id, "-m", "  "]);
  expect(silent).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining('Give it: -m "Your text"\n') });
  expect(await signalbox(["task", "answer", id, "One", "-m", "Two"])).toMatchObject({ code: 2, stdout: "" });
  expect((await signalbox(["task", "request-changes", id, "-m", "No"])).stderr).toMatch(
    /From "clarification" a person cannot send the task back/,
  );
  expect((await json("task", "show", id)).document.text).not.toMatch(/^## (Answers|Feedback)/m);

  const answered = await signalbox(["task", "answer", id, "-"], "Arabica, and no sugar.\n\n## Really\n");
  expect(answered).toMatchObject({ code: 0, stdout: "clarification → planning\n" });
  expect(answered.stderr).toContain("worker#1 is told when it is ready for input");
  await until(id, ({ status, phase }) => status === "reviewing" && phase === "waiting", 60_000);
  const message = (await events(id)).find(({ type }) => type === "message.sent");
  expect(message?.data.text).toMatch(/## Answers in TASK\.md/);
  const { text } = (await json("task", "show", id)).document;
  // A person's text cannot open a new section.
  expect(text).toMatch(/^## Answers\n\n### \d{4}-\d\d-\d\d \d\d:\d\d UTC\n\nArabica, and no sugar\.\n\n### Really$/m);
  expect(text).toMatch(/^## Questions\n\nWhich beans\?$/m);

  // An answered question is no longer shown.
  expect((await signalbox(["task", "explain", id])).stdout).not.toContain("Which beans?");
  const looked = (await signalbox(["task", "diff", id, "--stat"])).stderr;
  const [, commit = ""] = /at commit ([0-9a-f]{10})/.exec(looked) ?? [];
  const back = await signalbox(["task", "request-changes", "brew", "-m", "More water."]);
  expect(back).toMatchObject({ code: 0, stdout: "reviewing → working\n" });
  await until(id, ({ status, phase }) => status === "reviewing" && phase === "waiting", 60_000);

  // The branch has moved since the review.
  const stale = await signalbox(["task", "approve", id, "--commit", commit]);
  expect(stale).toMatchObject({ code: 1, stdout: "" });
  expect(stale.stderr).toContain(`not at ${commit}`);
  expect((await task(id)).status).toBe("reviewing");

  // A dead agent is started with the feedback.
  const [worker] = (await runs()).filter(({ role }) => role === "worker");
  await signalbox(["agent", "kill", `coffee#1/${worker?.key}`]);
  const again = await json("task", "request-changes", id, "-m", "More water, still.");
  expect(again).toMatchObject({ section: "Feedback", told: { how: "start" }, change: { kind: "moved" } });
  await until(id, ({ status, phase }) => status === "reviewing" && phase === "waiting", 60_000);
  const feedback = (await json("task", "show", id)).document.text;
  expect(feedback.match(/^More water/gm)).toHaveLength(2);

  // Another commit has changed the same lines: the agent gets the conflict, resolves it and hands over again.
  writeFileSync(join(repository, "recipe.md"), "beans\ncocoa\n");
  git(repository, "commit", "-qam", "Add cocoa");
  expect(await json("task", "merge", id, "--no-give-back")).toMatchObject({
    ...{ state: "conflict", givenBack: null, task: { status: "reviewing" } },
  });
  const clash = await signalbox(["task", "approve", id]);
  expect(clash).toMatchObject({ code: 1, stdout: "" });
  expect(clash.stderr).toMatch(/conflicts with "main" in recipe\.md/);
  expect(clash.stderr).toMatch(/reviewing → working\. worker#\d is told to resolve it/);
  await until(id, ({ status, phase }) => status === "reviewing" && phase === "waiting", 60_000);
  const { document } = await json("task", "show", id);
  expect(document.text).toMatch(/conflicts with "main" in:\n\n- recipe\.md\n\nIn the workspace, run: git merge main/);
  expect(document.authors.Feedback).toMatchObject({ role: "engine" });

  const head = git((await task(id)).workspace, "rev-parse", "HEAD");
  const approved = await signalbox(["task", "approve", id, "--commit", head.slice(0, 12)]);
  expect(approved.stderr).toContain(`Approved at commit ${head.slice(0, 10)}.`);
  expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining("reviewing → done") });
  expect(readFileSync(join(repository, "recipe.md"), "utf8")).toBe("beans\ncocoa\nmore water\n");
  const history = await events(id);
  expect(history.findLast(({ type }) => type === "task.approved")?.data).toEqual({ commit: head, status: "reviewing" });
  expect((await signalbox(["task", "history", id])).stdout).toContain(`at commit ${head.slice(0, 8)}`);
  for (const verb of [["answer", "-m", "Yes"], ["request-changes", "-m", "No"], ["approve"]])
    expect((await signalbox(["task", verb[0] ?? "", id, ...verb.slice(1)])).stderr).toContain("which is the end");

  // The agent's last message explains its end.
  const { id: spilled } = (await json("task", "create", "spill", "Spill")).task;
  await until(spilled, ({ held }) => held !== null, 60_000);
  const { blocked } = await json("task", "explain", spilled);
  expect(blocked.map(({ reason }: { reason: string }) => reason)).toEqual([
    expect.stringMatching(/^It ended with 1\. It said last: .*Please log in$/),
    "worker#1 has ended.",
  ]);
  expect(blocked[1].fix).toBe(`See its last output: signalbox task logs ${spilled}`);
  expect((await signalbox(["task", "logs", spilled])).stdout).toContain("Please log in");
});
