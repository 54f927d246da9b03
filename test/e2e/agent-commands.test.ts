import { expect, test, vi } from "vitest";
import { eventually } from "../agents/stage.ts";
import { startCommands } from "./agent-stage.ts";

vi.setConfig({ testTimeout: 240_000 });

const script = `roles:
  worker:
    - when: { prompt: ["Work on", "Go on"] }
      steps: [{ usage: { input: 1000, output: 100, cost: 0.25 } }, { say: "At your service." }]
    - when: { prompt: silently }
      steps: [{ usage: { input: 10, output: 1 } }, { say: "Nobody knows what that cost." }]
    - { when: { prompt: forever }, steps: [{ think: 10m }] }
  teller:
    - { steps: [{ usage: { input: 500, output: 50 } }, { say: "That is all." }] }
`;

test("named agents are created, given a task, watched, ended and removed", async () => {
  const { signalbox, json, untilRun } = await startCommands(script);
  expect(await signalbox(["agent", "spawn", "2"])).toMatchObject({ code: 0, stdout: "A\nB\n" });
  expect(await signalbox(["agent", "spawn", "Zoe", "--model", "large"])).toMatchObject({ code: 0, stdout: "Zoe\n" });
  expect(await signalbox(["agent", "spawn", "A"])).toMatchObject({ code: 1, stdout: "" });
  expect((await signalbox(["agent", "spawn", "X", "--harness", "nonsense"])).stderr).toContain("There is no harness");
  const idle = await signalbox(["agent", "ps"]);
  expect(idle.stdout).toMatch(/^Zoe +coffee +scripted +large +without a task$/m);

  await json("task", "create", "stronger", "Make it stronger", "--workflow", "flow", "--no-spawn");
  expect(await signalbox(["agent", "assign", "Zoe", "1"])).toMatchObject({ code: 0, stdout: "Zoe  coffee#1  ready\n" });
  expect((await signalbox(["agent", "assign", "Zoe", "1"])).code).toBe(1);
  expect((await signalbox(["agent", "assign", "Nobody", "1"])).code).toBe(3);
  await signalbox(["task", "spawn", "1"]);
  await untilRun(({ activity, what }) => activity === "idle" && what !== "");
  const seen = await signalbox(["agent", "ps"]);
  expect(seen.stdout).toMatch(
    /^○ +coffee#1\/worker#1 +Zoe +scripted +idle +\d+\w +1\.1k +\$0\.25 +At your service\.$/m,
  );
  expect(seen.stderr).toContain("○ it waits for a message");
  expect(await json("agent", "ps")).toMatchObject({ runs: [{ agent: "Zoe", model: "large", usage: { cost: 0.25 } }] });

  expect(await signalbox(["agent", "kill", "nobody"])).toMatchObject({ code: 3, stdout: "" });
  expect(await signalbox(["agent", "kill", "Zoe", "--yes"])).toMatchObject({ code: 0 });
  expect((await signalbox(["agent", "kill", "coffee#1/worker#1"])).stderr).toContain("has already ended");
  expect((await json("agent", "ps")).runs).toEqual([]);
  expect((await signalbox(["agent", "ps", "--all"])).stdout).toMatch(/^✗ +coffee#1\/worker#1 +Zoe/m);
  const dry = await signalbox(["agent", "cleanup", "--dry-run"]);
  expect(dry.stdout).toBe("would remove the agent coffee/A\nwould remove the agent coffee/B\n");
  const unasked = await signalbox(["agent", "cleanup"]);
  expect(unasked).toMatchObject({ code: 2, stdout: "" });
  expect(unasked.stderr).toMatch(/^ {2}the agent coffee\/A\n {2}the agent coffee\/B\n.*--yes/s);
  expect((await json("agent", "cleanup", "--yes")).done).toEqual(["the agent coffee/A", "the agent coffee/B"]);
  expect((await json("agent", "ps")).agents).toMatchObject([{ name: "Zoe" }]);
});

test("after a kill -9 of the daemon the same agents run in the same processes", async () => {
  const { atDesk, json, signalbox, daemon } = await startCommands(script);
  await atDesk("one");
  await atDesk("two");
  await signalbox(["task", "send", "2", "Work forever", "--wait"]);
  const known = async () => {
    const { runs } = await json("agent", "ps");
    return runs.map(({ id, pid, session, activity }: Record<string, unknown>) => ({ id, pid, session, activity }));
  };
  const before = await known();
  expect(before).toHaveLength(2);
  process.kill(daemon().pid, "SIGKILL");
  // Any command starts the daemon again.
  await eventually(async () => (await signalbox(["agent", "ps", "--json"])).code === 0 || undefined);
  await eventually(
    async () => JSON.stringify(await known()) === JSON.stringify(before) || undefined,
    60_000,
    async () => JSON.stringify([before, await known()]),
  );
  expect((await signalbox(["down"])).stderr).toBe(
    "The daemon has stopped. 2 agents continue; an agent that calls signalbox starts it again.\n" +
      "To end the agents too, before you stop the daemon: signalbox pause --all --now\n",
  );
});

test("a paused agent ends, nothing is started, and later the agent resumes the same session", async () => {
  const { atDesk, json, signalbox, untilRun } = await startCommands(script);
  const id = await atDesk("one");
  const [{ session, pid }] = (await json("agent", "ps")).runs;
  const paused = await signalbox(["pause", "--now"]);
  expect(paused).toMatchObject({ code: 0, stdout: "" });
  expect(paused.stderr).toContain("1 agent ended");
  expect(paused.stderr).toContain("signalbox resume --project coffee");
  expect((await signalbox(["status"])).stdout).toMatch(/^paused +coffee /m);
  await untilRun((run) => run.task === id && run.activity === "waiting");
  expect((await signalbox(["agent", "ps"])).stdout).toMatch(/^◌ +coffee#1\/worker#\d .* – +– +The project coffee is/m);
  // Attach, respawn and send each say what the agent waits for; none refers the person to another one.
  const resume = "The project coffee is paused. Resume with: signalbox resume --project coffee\n";
  for (const verb of ["attach", "respawn"]) {
    const { code, stderr } = await signalbox(["task", verb, id]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/error: worker#2 waits to be started\.\n/),
    });
    expect(stderr).toContain(resume);
  }
  const sent = await signalbox(["task", "send", id, "Hello"]);
  expect(sent).toMatchObject({ code: 0, stdout: "waiting\n", stderr: expect.stringContaining(resume) });
  expect((await signalbox(["task", "list"])).stdout).toMatch(/^[!‖] .*#1 /m);
  await json("task", "create", "two", "Two", "--workflow", "flow");
  expect((await signalbox(["task", "list"])).stdout).toMatch(/^‖ .*#2 /m);
  const waited = await signalbox(["task", "wait", "2", "--timeout", "2s"]);
  expect(waited).toMatchObject({ code: 4, stderr: `${resume}The time is up.\n` });
  const explained = await Promise.all(["1", "2"].map((task) => signalbox(["task", "explain", task])));
  for (const { stdout } of explained) expect(stdout).toContain("The project coffee is paused.");
  expect(explained[1]?.stdout).toContain("Start once it is resumed");
  expect((await signalbox(["resume"])).stderr).toContain("coffee continues.");
  const back = await untilRun((run) => run.task === id && run.activity === "idle");
  expect(back.session).toBe(session);
  expect(back.pid).not.toBe(pid);
  await untilRun((run) => run.task === id && run.messagesWaiting === 0 && run.activity === "idle");
  expect((await signalbox(["task", "logs", id])).stdout).toContain("Hello");
  await untilRun(({ number, activity }) => number === 2 && activity === "idle");
  expect((await json("status")).paused).toEqual({ all: false, projects: [] });
  expect(await signalbox(["pause", "--all", "--project", "coffee"])).toMatchObject({ code: 2 });
  expect((await signalbox(["pause", "--all"])).code).toBe(0);
  expect(await signalbox(["resume"])).toMatchObject({
    code: 1,
    stderr: "Everything is still paused. To continue: signalbox resume --all\n",
  });
  expect((await signalbox(["resume", "--all"])).code).toBe(0);
});

test("usage is added up, and an unreported cost is unknown, not zero", async () => {
  const { atDesk, json, signalbox, until } = await startCommands(script);
  const id = await atDesk("one");
  await atDesk("two");
  await signalbox(["task", "edit", id, "--file", "-"], "## Notes\n\nThere are some.\n");
  await signalbox(["task", "continue", id]);
  await until(id, ({ phase }) => phase === "over");
  const { rows, total } = await json("usage");
  expect(rows).toMatchObject([
    { name: "coffee#1", runs: 2, inputTokens: 1500, outputTokens: 150, cost: 0.25, unknown: 1 },
    { name: "coffee#2", runs: 1, inputTokens: 1000, outputTokens: 100, cost: 0.25, unknown: 0 },
  ]);
  expect(total).toMatchObject({ runs: 3, inputTokens: 2500, cost: 0.5, unknown: 1 });
  const byRole = await signalbox(["usage", "--by", "role"]);
  expect(byRole.stdout).toMatch(/^worker +2 +2k +0 +200 +\$0\.50 +\d/m);
  expect(byRole.stdout).toMatch(/^teller +1 +500 +0 +50 +\? +\d/m);
  expect(byRole.stdout).toMatch(/^total +3 .*\$0\.50 \+ \? +\d/m);
  expect((await json("usage", "--by", "run", "--task", "2")).rows).toMatchObject([{ name: "coffee#2/worker#1" }]);
  expect((await json("usage", "--by", "harness", "--since", "1h")).rows).toMatchObject([{ key: "scripted", runs: 3 }]);
  expect((await signalbox(["usage", "--since", "2999-01-01"])).stderr).toContain("No matching usage");
  expect(await signalbox(["usage", "--since", "tomorrow"])).toMatchObject({ code: 2, stdout: "" });
});

test("harnesses are listed with their abilities, and a missing one with how to install it", async () => {
  const { signalbox, json } = await startCommands(script);
  const { harnesses } = await json("harness", "list");
  expect(harnesses.map(({ name }: { name: string }) => name)).toContain("scripted");
  expect(await signalbox(["harness", "check", "scripted"])).toMatchObject({ code: 0 });
  expect(await signalbox(["harness", "check", "nonsense"])).toMatchObject({ code: 1, stdout: "" });
  // The daemon of this home has a PATH on which a harness may or may not be.
  const missing = harnesses.find(({ found }: { found: boolean }) => !found);
  const checked = await signalbox(["harness", "check", missing?.name ?? "scripted"]);
  expect(checked.code).toBe(missing === undefined ? 0 : 1);
  if (missing !== undefined) expect(checked.stdout).toMatch(/not installed[\s\S]*to do {2}\S/);
});

test("doctor reports dead agents, and how to restart them", async () => {
  const { atDesk, signalbox, json } = await startCommands(script);
  await atDesk("one");
  const runs = async () => (await json("doctor")).checks.filter(({ name }: { name: string }) => name === "runs");
  const { atWork, idle } = (await json("status")).agents;
  expect(atWork + idle).toBe(1);
  const shown = idle === 1 ? "0 at work, 1 idle" : "1 at work";
  expect(await runs()).toMatchObject([{ level: "ok", found: `agents: ${shown}; none needs a person` }]);
  await signalbox(["agent", "kill", "coffee#1/worker#1"]);
  expect(await runs()).toMatchObject([
    { level: "warning", found: "the agent of coffee#1 is dead", fix: "signalbox task respawn coffee#1" },
  ]);
});

test("an unknown harness, or one that lacks what the workflow needs, is refused before anything starts", async () => {
  const config = "harnesses: { cat: { turn: { argv: [cat] } } }\n";
  const { signalbox, json } = await startCommands(script, { config });
  const create = (...flags: readonly string[]) =>
    signalbox(["task", "create", "one", "One", "--workflow", "flow", "--no-spawn", ...flags]);
  const unknown = await create("--harness", "nonsense");
  expect(unknown).toMatchObject({ code: 1, stdout: "" });
  expect(unknown.stderr).toContain('There is no harness "nonsense".');
  const lacking = await create("--harness", "cat");
  expect(lacking).toMatchObject({ code: 1, stdout: "" });
  expect(lacking.stderr).toContain("cannot run in a terminal.");
  expect(await create()).toMatchObject({ code: 0 });
  expect((await signalbox(["task", "update", "1", "--harness", "cat"])).stderr).toContain("cannot run in a terminal.");
  expect((await signalbox(["task", "update", "1", "--review-harness", "nope"])).stderr).toContain(
    "There is no harness",
  );
  expect(await json("task", "show", "1")).toMatchObject({ task: { harness: "scripted", reviewHarness: "scripted" } });
  const { harnesses } = await json("harness", "list");
  const missing = harnesses.find(({ found }: { found: boolean }) => !found);
  if (missing === undefined) return;
  const taken = await signalbox(["task", "update", "1", "--harness", missing.name]);
  expect(taken).toMatchObject({ code: 0 });
  expect(taken.stderr).toContain("is not installed.");
});
