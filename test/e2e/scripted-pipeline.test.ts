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
  const listed = await does("task", "documents", task.id);
  for (const part of ["note-context-pack-of-write-a-note.md", "CONTEXT_PACK → all", "outcome: done", "analyst#1"])
    expect(listed).toContain(part);
  expect(await does("task", "documents", task.id, "note")).toContain("# Write a note");
  expect(await does("task", "documents", task.id, "--pull-request")).toMatch(
    /^# Write a note[\s\S]*\n---\n[\s\S]*found nothing/,
  );
  expect(await json("task", "documents", task.id, "SPEC of Write a note")).toMatchObject({
    state: "SPEC",
    type: "note",
  });
  expect(await signalbox(["task", "documents", task.id, "nothing"])).toMatchObject({ code: 3, stdout: "" });
  expect(await does("task", "show", task.id)).toContain(`signalbox task documents ${task.id} --pull-request`);
  const { settings, preset } = await json("task", "show", task.id);
  expect(preset).toBe("full-pipeline");
  expect(settings).toContainEqual({ name: "auto_merge", value: false, from: "workflow" });
  expect(settings).toContainEqual({ name: "judge", value: "large", from: "preset" });
  const changed = await signalbox(["task", "update", task.id, "--set", "auto_merge=true", "--set", "judge=small"]);
  expect(changed.stderr).toContain("The wait in PR_HUMAN_REVIEW has begun and stays");
  await does("task", "update", task.id, "--unset", "auto_merge");
  expect(await does("task", "show", task.id)).toContain("judge=small (of the task)");
  expect(await does("task", "history", task.id)).toContain("auto_merge taken back");
  const sent = await signalbox(["task", "send", task.id, "Are you there?"]);
  expect(sent).toMatchObject({ code: 1, stderr: expect.stringContaining(`signalbox task actions ${task.id}`) });
  expect(sent.stderr).not.toContain("respawn");
  const named = await signalbox(["task", "approve", task.id, "--commit", "deadbeef"]);
  expect(named.stderr).toContain("not at deadbeef, which you named");
  const model = await signalbox(["task", "update", task.id, "--model", "opus"]);
  expect(model).toMatchObject({ code: 1, stderr: expect.stringContaining("--set models=default:MODEL") });
  expect(
    (await signalbox(["task", "create", "other", "Another", "--model", "opus", "--no-spawn", ...flags.slice(0, 4)]))
      .stderr,
  ).toContain("--model changes nothing. Choose them with a setting: --set models=default:MODEL");
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
  const { stderr } = await signalbox(["task", "diff", task.id, "--since-review"]);
  expect(stderr).toMatch(/^coffee#1 has no commits since [0-9a-f]{10}, which judge has reviewed\.$/m);
  await does("task", "approve", task.id);
  await until(task.id, ({ status }) => status === "DONE");
  expect(stage.git(stage.repository, "log", "--format=%s", "main")).toContain("Note: Write a note");
});
