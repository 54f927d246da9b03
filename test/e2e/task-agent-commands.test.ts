import { expect, test, vi } from "vitest";
import { eventually } from "../agents/stage.ts";
import { controls, startCommands, withoutColours } from "./agent-stage.ts";

// Each step starts a program, and machines may be slow.
vi.setConfig({ testTimeout: 240_000 });

const polite = `roles:
  worker:
    - { when: { prompt: ["Work on", "Go on"] }, steps: [{ say: "At your service." }] }
    - { when: { prompt: slowly }, steps: [{ think: 4s }, { say: "That took a while." }] }
    - { steps: [{ say: "You said: {prompt}" }] }
`;

test("a task that waits for a person is spawned, and its dead agent is restarted in its session", async () => {
  const { signalbox, json, untilRun } = await startCommands(polite);
  const { task } = await json("task", "create", "stronger", "Make it stronger", "--workflow", "flow", "--no-spawn");
  const spawned = await signalbox(["task", "spawn", task.id]);
  expect(spawned).toMatchObject({ code: 0, stdout: "todo → desk\n" });
  expect(spawned.stderr).toContain(`signalbox task attach ${task.id}`);
  const first = await untilRun(({ activity }) => activity === "idle");
  expect(await signalbox(["task", "spawn", "stronger"])).toMatchObject({ code: 1, stdout: "" });
  expect((await signalbox(["task", "respawn", "stronger"])).stderr).toContain("still alive");
  expect(await json("task", "show", "1")).toMatchObject({ task: { session: "alive" } });

  expect(await signalbox(["agent", "kill", "coffee#1/worker#1"])).toMatchObject({ code: 0 });
  expect(await json("task", "show", "1")).toMatchObject({ task: { session: "dead" } });
  expect((await signalbox(["task", "list"])).stdout).toMatch(/^! +\w+ +coffee#1 +desk/m);
  expect((await signalbox(["task", "send", "1", "Hello"])).stderr).toContain("task respawn");
  expect(await signalbox(["task", "respawn", "1"])).toMatchObject({ code: 0, stdout: "desk\n" });
  const second = await untilRun(({ activity, key }) => activity === "idle" && key !== first.key);
  expect(second.session).toBe(first.session);
});

test("messages are delivered when the agent is ready for input, in order, each once", async () => {
  const { atDesk, signalbox, json, untilRun } = await startCommands(polite);
  const id = await atDesk("stronger");
  expect(await signalbox(["task", "send", id, "Hello", "--wait"])).toMatchObject({ code: 0, stdout: "delivered\n" });
  await signalbox(["task", "send", id, "Do it slowly", "--wait"]);
  await untilRun(({ activity }) => activity === "busy");
  const second = await signalbox(["task", "send", "stronger", "-"], "One more\nin two lines");
  expect(second).toMatchObject({ code: 0, stdout: "waiting\n" });
  expect(second.stderr).toContain("when it is ready for input");
  expect(await json("agent", "ps")).toMatchObject({ runs: [{ messagesWaiting: 1 }] });
  const third = await json("task", "send", "coffee/stronger", "And the last", "--wait", "--role", "worker");
  expect(third).toMatchObject({ state: "delivered", from: "human", to: "worker#1", problem: "" });
  await eventually(
    async () => /You said: And the last/.test((await signalbox(["task", "peek", id])).stdout) || undefined,
  );
  const { stdout } = await signalbox(["task", "logs", id]);
  const said = [...stdout.matchAll(/^You said: (.*)$/gm)].map(([, text]) => text);
  expect(said).toEqual(["Hello", "One more", "And the last"]);
  expect(await signalbox(["task", "send", id, "  "])).toMatchObject({ code: 1, stdout: "" });
  expect(await signalbox(["task", "send", id, "Hello", "--role", "judge"])).toMatchObject({ code: 3, stdout: "" });
});

const hostile =
  "\\033]0;owned\\007\\033]52;c;b3duZWQ=\\007\\033[31;1mred\\033[0m\\033[2J\\033[5nplain\\n\\302\\2335n\\n";
const rude = `roles:
  worker:
    - { when: { prompt: "Work on" }, steps: [{ say: "At your service." }] }
    - { steps: [{ run: [printf, '${hostile}'] }, { binary: "4096" }, { say: "That is all." }] }
  teller:
    - { steps: [{ run: [printf, '${hostile}'] }, { binary: "70000" }, { flood: "300000" }, { say: "That was all." }] }
`;

test("a person's terminal obeys no control sequence of an agent's output", async () => {
  const { atDesk, signalbox, json, until } = await startCommands(rude);
  const id = await atDesk("rude");
  await signalbox(["task", "send", id, "Show it", "--wait"]);
  await eventually(async () => /That is all/.test((await signalbox(["task", "peek", id])).stdout) || undefined);
  const shown = await Promise.all([signalbox(["task", "peek", id, "--lines", "500"]), signalbox(["task", "logs", id])]);
  for (const { stdout } of shown) {
    expect(stdout).toContain("That is all.");
    expect(stdout).not.toMatch(controls);
  }
  const styled = await signalbox(["task", "peek", id, "--lines", "500", "--color"]);
  expect(withoutColours(styled.stdout)).not.toMatch(controls);
  expect(await json("task", "peek", id)).toMatchObject({ run: "worker#1", source: "screen", isOver: false });

  await signalbox(["task", "edit", id, "--file", "-"], "## Notes\n\nIt is rude.\n");
  expect((await signalbox(["task", "continue", id])).stderr).toBe("");
  await until(id, ({ phase }) => phase === "over");
  const printed = await signalbox(["task", "logs", id, "--role", "teller", "--follow"]);
  expect(printed.stdout).toContain("That was all.");
  expect(printed.stdout.length).toBeGreaterThan(300_000);
  expect(printed.stdout).not.toMatch(controls);
  const coloured = await signalbox(["task", "logs", id, "--role", "teller", "--color"]);
  expect(coloured.stdout).toContain("That was all.");
  expect(withoutColours(coloured.stdout)).not.toMatch(controls);
  const end = await signalbox(["task", "peek", id, "--role", "teller", "--lines", "3"]);
  expect(end.stdout).toContain("That was all.");
  expect(end.stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(3);
  // The agent of a task that is over cannot be restarted, so that is not suggested.
  for (const args of [
    ["attach", id],
    ["send", id, "Hello"],
    ["spawn", id],
    ["sync", id],
  ]) {
    const { code, stderr } = await signalbox(["task", ...args]);
    expect({ args, code }).toEqual({ args, code: 1 });
    expect(stderr).toContain(
      `, which is the end.\nContinue its branch in a new task: signalbox task create --from ${id}\n`,
    );
  }
});

test("a command for a missing agent is answered with what to do", async () => {
  const { signalbox, json } = await startCommands(polite);
  expect((await signalbox(["agent", "ps"])).stderr).toContain("signalbox task create");
  expect(await signalbox(["task", "attach"])).toMatchObject({ code: 3, stdout: "" });
  await json("task", "create", "later", "Later", "--workflow", "flow", "--no-spawn");
  for (const verb of ["attach", "send", "peek", "logs"]) {
    const { code, stdout, stderr } = await signalbox(["task", verb, "later", ...(verb === "send" ? ["Hello"] : [])]);
    expect({ verb, code, stdout }).toEqual({ verb, code: 3, stdout: "" });
    expect(stderr).toContain("signalbox task explain");
  }
});
