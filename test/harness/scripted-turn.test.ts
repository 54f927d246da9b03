import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defaultScript } from "../../src/scripted-agent/script.ts";
import { createScriptedStage, runTurn } from "./scripted-stage.ts";
import { until } from "./tmux.ts";

let stage: ReturnType<typeof createScriptedStage>;
beforeEach(() => {
  stage = createScriptedStage();
});
afterEach(() => stage.close());

/** A script for every role, with these steps. */
function steps(...lines: readonly string[]): string {
  return `roles:\n  any:\n    - steps:\n${lines.map((line) => `        - ${line}\n`).join("")}`;
}

test("without a script a worker in turn mode commits a note, and does not move its task", async () => {
  const { error } = await runTurn(stage.harnessFor(""), stage.orderFor({}));
  expect(error).toBeUndefined();
  expect(stage.git("log", "--format=%s")).toBe("Note: Say hello\nBegin");
  expect(stage.git("status", "--porcelain")).toBe("");
  expect(readdirSync(stage.root)).not.toContain("calls");
});

test("without a script a worker in session mode plans, builds, commits and hands over, and a reviewer passes it", async () => {
  const harness = stage.harnessFor(defaultScript.replaceAll("mode: session, ", ""));
  const worker = await runTurn(harness, stage.orderFor({}));
  expect(worker.error).toBeUndefined();
  expect(stage.calls()).toEqual(["task update --status working", "task update --status agent-review"]);
  expect(stage.git("log", "--format=%s")).toBe("Note: Say hello\nBegin");
  expect(stage.git("status", "--porcelain")).toBe("");
  const file = readFileSync(stage.taskFile, "utf8");
  expect(file).toContain("Please.");
  expect(file).toMatch(/## Plan\n\nAPPROACH: .*\nTOUCHING: notes\/t-1\.md\n\n## Handoff\n\nDONE: /);

  const reviewer = { ...stage.env, SIGNALBOX_ROLE: "reviewer", SIGNALBOX_RUN: "reviewer#1" };
  const review = await runTurn(harness, stage.orderFor({ env: reviewer, permissions: "reduced" }));
  expect(review.error).toBeUndefined();
  expect(readFileSync(stage.taskFile, "utf8")).toMatch(/## Review\n\nVerdict: PASS\n/);
  expect(stage.calls().at(-1)).toBe("task update --status reviewing");
});

test("a section that is written again replaces the old one, and the others stay", async () => {
  const harness = stage.harnessFor(
    steps(
      'section: { heading: "## Plan", text: "First." }',
      'section: { heading: "## Notes", text: "Kept." }',
      'section: { heading: "## Plan", text: "Second." }',
    ),
  );
  await runTurn(harness, stage.orderFor({}));
  const file = readFileSync(stage.taskFile, "utf8");
  expect(file).toMatch(/^---\nid: t-1\n/);
  expect(file).toMatch(/Please\.\n\n## Plan\n\nSecond\.\n\n## Notes\n\nKept\.\n$/);
});

test("a session that is resumed in another process continues where it was", async () => {
  const harness = stage.harnessFor(`
roles:
  worker:
    - { times: 1, steps: [{ say: "First of {session}" }] }
    - { times: 1, steps: [{ say: "Second, told {prompt}" }] }
    - steps: [{ say: "Message {turn}" }]
`);
  const first = await runTurn(harness, stage.orderFor({ session: { kind: "new", id: "a" } }));
  const resumed = () => stage.orderFor({ prompt: "go on", session: { kind: "resume", id: "a" } });
  const second = await runTurn(harness, resumed());
  const third = await runTurn(harness, resumed());
  expect([first.text, second.text, third.text]).toEqual(["First of a", "Second, told go on", "Message 3"]);
  const transcript = await harness.transcriptOf("a", stage.repository);
  expect(first.all).toContainEqual({ kind: "session", id: "a", transcript });
  const read = readFileSync(transcript, "utf8")
    .split("\n")
    .flatMap((line) => [...harness.readTranscript(line)]);
  expect(read.map((event) => event.kind)).toEqual(["said", "said", "said"]);
});

test("an unknown session is distinguished from a session that is open elsewhere", async () => {
  const harness = stage.harnessFor(steps("sleep: 1h"));
  const unknown = await runTurn(harness, stage.orderFor({ session: { kind: "resume", id: "nobody" } }));
  expect(unknown).toMatchObject({ error: { kind: "session-unknown" }, ended: { code: 1 } });

  const order = stage.orderFor({ session: { kind: "new", id: "held" } });
  const { argv, env } = await harness.prepare(order);
  const [file = "", ...args] = argv;
  const holder = spawn(file, args, { cwd: order.folder, env: { ...env }, stdio: ["pipe", "pipe", "ignore"] });
  holder.stdin.end("Wait.");
  try {
    await new Promise((resolve) => holder.stdout.once("data", resolve));
    const second = await runTurn(harness, stage.orderFor({ session: { kind: "resume", id: "held" } }));
    expect(second.error?.kind).toBe("session-in-use");
  } finally {
    holder.kill("SIGKILL");
  }
});

test("one script fails the first review and passes the second, by counter, run or the task's fields", async () => {
  const harness = stage.harnessFor(`
roles:
  reviewer:
    - when: { run: 1 }
      steps: [{ count: reviews }, { say: "FAIL in round {review_round}" }]
    - when: { counter: { reviews: 1 }, task: { review_round: "2" } }
      steps: [{ say: "PASS in round {review_round}" }]
`);
  const env = { ...stage.env, SIGNALBOX_ROLE: "reviewer" };
  stage.writeTask("agent-review", "review_round: 1\n");
  const first = await runTurn(harness, stage.orderFor({ env }));
  stage.writeTask("agent-review", "review_round: 2\n");
  const second = await runTurn(harness, stage.orderFor({ env }));
  expect([first.text, second.text]).toEqual(["FAIL in round 1", "PASS in round 2"]);
});

test("a turn's answer arrives as data; without one in the script, the answer fits the schema", async () => {
  const answered = await runTurn(
    stage.harnessFor(steps("answer: { good: false, points: [1, 2] }")),
    stage.orderFor({}),
  );
  expect(answered.answer).toEqual({ good: false, points: [1, 2] });
  const schema = {
    type: "object",
    required: ["good", "why", "next"],
    properties: { good: { type: "boolean" }, why: { type: "string" }, next: { enum: ["questions", "ready"] } },
  };
  const fitting = await runTurn(stage.harnessFor(steps("say: Here it is.")), stage.orderFor({ schema }));
  expect(fitting.answer).toEqual({ good: true, why: expect.any(String), next: "ready" });
});

test("the marker is on a separate line", async () => {
  const { text } = await runTurn(stage.harnessFor(steps("say: All of it.", "marker")), stage.orderFor({}));
  expect(text.split("\n")).toEqual(["All of it.", "DONE"]);
});

test("usage is reported with its cost, or without a cost if the script names none", async () => {
  const script = steps("usage: { input: 10, output: 5, cached: 2, cost: 0.5 }", "usage: { input: 1 }");
  const { all } = await runTurn(stage.harnessFor(script), stage.orderFor({ model: "small" }));
  expect(all.filter((event) => event.kind === "usage").map(({ usage }) => usage)).toEqual([
    { model: "small", inputTokens: 10, outputTokens: 5, cachedTokens: 2, cost: 0.5 },
    { model: "small", inputTokens: 1, outputTokens: 0, cachedTokens: 0, cost: undefined },
  ]);
});

test("an error ends the turn with its kind, its message and its reset time", async () => {
  const before = Date.now();
  const script = steps("error: { kind: rate-limit, message: Come back later., reset: 1h }", "say: Never said.");
  const { error, text, ended } = await runTurn(stage.harnessFor(script), stage.orderFor({}));
  expect(error).toMatchObject({ kind: "rate-limit", message: "Come back later." });
  expect(error?.resetAt).toBeGreaterThanOrEqual(before + 3_600_000);
  expect({ text, code: ended.code }).toEqual({ text: "", code: 1 });
});

test("a refused command ends the turn, except inside try", async () => {
  const refused = "cli: [task, update, --status, refused]";
  const stopped = await runTurn(stage.harnessFor(steps(refused, "say: After.")), stage.orderFor({}));
  expect(stopped.error?.message).toContain("No way leads there.");
  const tried = await runTurn(stage.harnessFor(steps(`try: [{ ${refused} }]`, "say: After.")), stage.orderFor({}));
  expect(tried.error).toBeUndefined();
  expect(tried.text).toMatch(/No way leads there\.\nAfter\.$/);
});

test("with reduced permissions the agent writes nothing, but reads git and runs the tests", async () => {
  const reduced = { permissions: "reduced", testCommand: ["true"] } as const;
  const written = await runTurn(
    stage.harnessFor(steps("run: [git, log]", 'run: ["true"]', "write: { file: x, text: y }")),
    stage.orderFor(reduced),
  );
  expect(written.error).toMatchObject({ kind: "denied", message: expect.stringContaining('"write"') });
  expect(existsSync(join(stage.repository, "x"))).toBe(false);
  const ran = await runTurn(stage.harnessFor(steps("run: [touch, x]")), stage.orderFor(reduced));
  expect(ran.error?.kind).toBe("denied");
  expect(existsSync(join(stage.repository, "x"))).toBe(false);
});

test("a withheld tool is not used, whether withheld by class or by name", async () => {
  const script = steps("write: { file: a, text: b }", 'run: ["true"]');
  const harness = stage.harnessFor(script);
  const kinds = async (tools: readonly string[]) =>
    (await runTurn(harness, stage.orderFor({ tools }))).error?.message ?? "";
  expect(await kinds(["read"])).toContain('"write"');
  expect(await kinds(["write"])).toContain('"run"');
  expect(await kinds(["write", "run"])).toBe("");
});

test("other output between the lines, of any kind and size, does not hide the result", async () => {
  const script = steps("flood: 1 MB", "binary: 100 KB", "say: Still here.");
  const { text, error } = await runTurn(stage.harnessFor(script), stage.orderFor({}));
  expect({ text, error }).toEqual({ text: "Still here.", error: undefined });
});

test("the agent ends with the exit code or the signal of its script, without a result", async () => {
  const exited = await runTurn(stage.harnessFor(steps("exit: 7")), stage.orderFor({}));
  expect(exited).toMatchObject({ ended: { code: 7 }, error: { kind: "other" } });
  const silent = await runTurn(stage.harnessFor(steps("exit: 0")), stage.orderFor({}));
  expect(silent).toMatchObject({ ended: { code: 0 }, error: { message: expect.stringContaining("without a result") } });
  for (const signal of ["SIGKILL", "SIGTERM", "SIGSEGV"]) {
    const crashed = await runTurn(stage.harnessFor(steps("say: Last words.", `crash: ${signal}`)), stage.orderFor({}));
    expect(crashed).toMatchObject({ ended: { signal }, text: "Last words.", error: { kind: "other" } });
  }
});

test("a deaf agent survives SIGTERM", async () => {
  const harness = stage.harnessFor(steps("hang: deaf"));
  const order = stage.orderFor({});
  const { argv, env, input } = await harness.prepare(order);
  const [file = "", ...args] = argv;
  const child = spawn(file, args, { cwd: order.folder, env: { ...env }, stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.end(input);
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString("utf8");
  });
  await until("it is deaf", () => printed.includes("from now on"));
  child.kill("SIGTERM");
  await until("it ignores that", () => printed.includes("SIGTERM is ignored."));
  child.kill("SIGKILL");
  await until("it is dead", () => child.signalCode === "SIGKILL");
});

test("the agent can leave a process behind outside its group", async () => {
  const { text } = await runTurn(stage.harnessFor(steps("fork: 10m")), stage.orderFor({}));
  const pid = Number(/\d+/.exec(text)?.[0]);
  expect(process.kill(pid, 0)).toBe(true);
  process.kill(pid, "SIGKILL");
});

test("the agent can delete its task file, switch its branch, fill a file and delete its workspace", async () => {
  const script = steps("delete_task_file", "switch_branch: other", "fill: { file: big, bytes: 3 MB }", "commit: Big");
  await runTurn(stage.harnessFor(script), stage.orderFor({}));
  expect(existsSync(stage.taskFile)).toBe(false);
  expect(stage.git("branch", "--show-current")).toBe("other");
  expect(stage.git("cat-file", "-s", "HEAD:big")).toBe(String(3 * 1024 * 1024));
  const gone = await runTurn(stage.harnessFor(steps("delete_workspace", "say: Gone.")), stage.orderFor({}));
  expect(gone.text).toBe("Gone.");
  expect(existsSync(stage.repository)).toBe(false);
});

test("the script is checked before the first step, and a mistake is reported with its position", async () => {
  const { error } = await runTurn(stage.harnessFor(steps("say: Hello", "comit: x")), stage.orderFor({}));
  expect(error?.message).toMatch(/script\.yml:5:\d+ error: A step has no key "comit"\. Did you mean "?commit"?/);
});

test("the agent writes only into its state, the run's folder and the workspace", async () => {
  await runTurn(stage.harnessFor(""), stage.orderFor({ system: "Be kind.", schema: { type: "object" } }));
  expect(readdirSync(stage.root).sort()).toEqual(["bin", "repository", "run-1", "state"]);
});

test("a missing script is reported before the program is started", async () => {
  const order = stage.orderFor({ env: { ...stage.env, SCRIPTED_AGENT_SCRIPT: join(stage.root, "none.yml") } });
  await expect(stage.harnessFor("").prepare(order)).rejects.toThrow("There is no script");
});
