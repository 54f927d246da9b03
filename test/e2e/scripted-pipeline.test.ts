import { expect, test } from "vitest";
import { startCommands } from "./agent-stage.ts";

test("without a script, scripted agents bring a task through the whole pipeline, and answer a finding that a person adds", async () => {
  const stage = await startCommands(undefined, { remote: true });
  const { signalbox, json, until } = stage;
  const flags = ["--workflow", "pipeline", "--preset", "full-pipeline", "--status", "TODO"];
  const { task } = await json("task", "create", "note", "Write a note", ...flags);
  const at = (status: string) =>
    until(task.id, (now) => (now.status === status && now.needsPerson) || now.held !== null);
  const does = async (...args: readonly string[]) => {
    const ran = await signalbox(args);
    expect(`${ran.code} ${ran.stderr}`).toMatch(/^0 /);
    return ran.stdout;
  };
  expect(await at("PR_HUMAN_REVIEW")).toMatchObject({ status: "PR_HUMAN_REVIEW", held: null });
  expect(await json("task", "findings", task.id)).toMatchObject({ findings: [] });
  await does("task", "findings", task.id, "add", "-m", "The note is short", "--file", `notes/${task.id}.md`);
  await does("task", "findings", task.id, "approve", "F1");
  await does("task", "continue", task.id);
  await until(task.id, ({ status }) => status !== "PR_HUMAN_REVIEW");
  expect(await at("PR_HUMAN_REVIEW")).toMatchObject({ status: "PR_HUMAN_REVIEW", held: null });
  expect((await json("task", "findings", task.id)).findings).toMatchObject([{ id: "F1", state: "fixed" }]);
  await does("task", "continue", task.id);
  const ready = await at("MERGE_READY");
  expect(ready).toMatchObject({ status: "MERGE_READY", held: null });
  // Nothing came after the verdict: no commit is left that only the tests have seen.
  await does("task", "diff", task.id, "--since-review");
  await does("task", "approve", task.id);
  await until(task.id, ({ status }) => status === "DONE");
  expect(stage.git(stage.repository, "log", "--format=%s", "main")).toContain("Note: Write a note");
});
