import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { canMount } from "../faults/mount.ts";
import { eventually, processesWith, startStage } from "./stage.ts";

/** One agent without a terminal. */
const flow = `name: flow
version: 1
roles: { worker: { mode: turn, harness: task } }
states:
  todo: { waits_for: slot, next: busy }
  busy: { agent: { role: worker, prompt: work }, outcomes: [{ on: ok, then: done }, { on: failed, then: lost }] }
  done: { terminal: true }
  lost: { terminal: true, outcome: failed }
transitions: [{ from: todo, to: busy, hooks: [acquire_workspace] }]
prompts: { work: Work }
`;

/** The worker of `default` ends as a script says, whenever it is started. */
const always = (...steps: readonly string[]) => `roles: { worker: [{ steps: [${steps.join(", ")}] }] }`;

test("every way in which an agent can end is noticed, and the second time the task is stuck", async () => {
  const ends = ["exit: 0", "exit: 7", "crash: SIGTERM", "crash: SIGKILL", "crash: SIGSEGV", "crash: SIGHUP"];
  const turns = ends.map((end, i) => `    - { when: { prompt: "end ${i}" }, steps: [{ ${end} }] }`).join("\n");
  const script = `roles:
  worker:
    - { when: { status: stuck }, steps: [{ say: "Here I am." }] }
${turns}
`;
  const stage = await startStage({ script, poolSize: ends.length });
  const ids: string[] = [];
  for (const i of ends.keys()) ids.push(await stage.create(`end ${i}`));
  for (const id of ids) {
    const first = await stage.until(id, ({ held }) => held !== null);
    expect(first.session).toBe("dead");
    await stage.call(routes.respawnTask, { params: { task: id }, body: {} });
  }
  for (const id of ids) {
    const task = await stage.until(id, ({ status, phase }) => status === "stuck" && phase === "waiting");
    expect(task.needsPerson).toBe(true);
    const ended = (await stage.events(id)).filter(({ type, data }) => type === "agent.ended" && data.run !== undefined);
    expect(ended.map(({ data }) => data.word)).toEqual(["exit", "exit"]);
  }
});

test("an agent that goes idle without its evidence is told once what is missing, and what it then writes counts", async () => {
  const stage = await startStage({
    script: `roles:
  worker:
    - { when: { turn: 1 }, steps: [{ say: "I think I am done." }] }
    - { when: { prompt: "## Plan" }, steps: [{ section: { heading: "## Plan", text: "APPROACH: a\\nTOUCHING: b" } }] }
    - { steps: [{ say: "Yes?" }] }
`,
  });
  const id = await stage.create("a cup");
  await stage.until(id, ({ status }) => status === "working");
  const types = await stage.types(id);
  expect(types.filter((type) => type === "agent.reminded")).toHaveLength(1);
  expect(types).toContain("message.delivered");
});

test("the end of an agent with endless event files is noticed, and the daemon keeps answering", async () => {
  const tricks = {
    link: `rm -f "$SIGNALBOX_EVENTS"; ln -s /dev/zero "$SIGNALBOX_EVENTS"`,
    transcript: `echo '{"kind":"session","id":"zz","transcript":"/dev/zero"}' >>"$SIGNALBOX_EVENTS"`,
    flood: `(while :; do yes "" | head -c 2M; sleep 0.05; done) >>"$SIGNALBOX_EVENTS" 2>/dev/null </dev/null &`,
  };
  const steps = (trick: string) => `[{ run: [sh, -c, ${JSON.stringify(trick)}] }, { sleep: 4s }, { crash: SIGKILL }]`;
  const turns = Object.entries(tricks).map(
    ([name, trick]) => `    - { when: { prompt: "a ${name}" }, steps: ${steps(trick)} }`,
  );
  const stage = await startStage({ script: `roles:\n  worker:\n${turns.join("\n")}\n` });
  const ids = await Promise.all(Object.keys(tricks).map((name) => stage.create(`a ${name}`)));
  await eventually(async () => {
    const { blocked } = await stage.call(routes.explainTask, { params: { task: ids[0] ?? "" } });
    const reasons = blocked.map(({ reason }) => reason).join();
    return ["worker#1: Its events cannot be read", "is a link."].every((each) => reasons.includes(each)) || undefined;
  }, 30_000);
  for (const id of ids) {
    const { held } = await stage.until(id, (task) => task.held !== null, 60_000);
    expect(held?.reason).toContain("SIGKILL");
  }
  const before = Date.now();
  stage.daemon().child.kill("SIGTERM");
  await stage.daemon().ended;
  expect(Date.now() - before).toBeLessThan(8_000);
});

test("an agent with endless output does not fill the disk, and the task continues without it", async () => {
  const script = `roles: { worker: [{ steps: [{ flood: 1 GB }] }] }`;
  const stage = await startStage({ flow, script, agents: "output_limit: 4MB" });
  const id = await stage.create("a cup");
  await stage.until(id, ({ status }) => status === "lost");
  const { size } = statSync(join(stage.runFolder(id, "worker#1"), "output"));
  expect(size).toBeLessThan(64 * 1024 ** 2);
  const reasons = (await stage.events(id)).map(({ data }) => String(data.reason ?? ""));
  expect(reasons.join()).toContain("agents.output_limit");
});

test("control characters in a terminal do not garble what people see", async () => {
  const stage = await startStage({ script: always("{ binary: 64 KB }", "{ think: 1h }") });
  const id = await stage.create("a cup");
  await stage.untilRun(({ activity }) => activity === "busy");
  const screen = await eventually(async () => {
    const seen = await stage.call(routes.getScreen, { params: { task: id }, query: { lines: "200" } });
    return seen.text.length > 100 ? seen.text : undefined;
  });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  expect(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(screen)).toBe(false);
});

test("processes that an agent leaves running are ended with it", async () => {
  const stage = await startStage({ script: always("{ fork: 10m }", "{ say: Bye }", "{ think: 1h }") });
  const id = await stage.create("a cup");
  await eventually(async () => (processesWith([`SIGNALBOX_TASK=${id}`]).length > 1 ? true : undefined));
  await stage.call(routes.cancelTask, { params: { task: id }, body: {} });
  await stage.until(id, ({ phase }) => phase === "over");
  await eventually(async () => (processesWith([`SIGNALBOX_TASK=${id}`]).length === 0 ? true : undefined));
});

test("a deleted task file is restored, with what the agent wrote before", async () => {
  const stage = await startStage({
    script: `roles:
  worker:
    - when: { turn: 1 }
      steps:
        - { section: { heading: "## Plan", text: "APPROACH: a\\nTOUCHING: b" } }
        - { cli: [task, update, --status, working] }
        - delete_task_file
        - { say: "Where is it?" }
    - { steps: [{ say: "Ah." }] }
`,
  });
  const id = await stage.create("a cup");
  const task = await stage.until(id, ({ status }) => status === "working");
  await stage.untilRun(({ activity }) => activity === "idle");
  const file = join(task.workspace, "TASK.md");
  await eventually(async () => (existsSync(file) ? true : undefined));
  expect(readFileSync(file, "utf8")).toContain("APPROACH: a");
});

test("a person is called for a deleted workspace, and the agent's commits are kept", async () => {
  const stage = await startStage({
    script: `roles:
  worker:
    - when: { turn: 1 }
      steps:
        - { write: { file: cup.txt, text: full } }
        - { commit: "A cup" }
        - { section: { heading: "## Plan", text: "APPROACH: a\\nTOUCHING: b" } }
        - { cli: [task, update, --status, working] }
        - delete_workspace
        - { exit: 0 }
    - { steps: [{ say: "Hm." }] }
`,
  });
  const id = await stage.create("a cup");
  // In a sandbox the agent can empty its folder, but not delete it.
  const needs = await eventually(async () => {
    const { needs } = await stage.task(id);
    return needs.some(({ reason }) => reason === "workspace") ? needs : undefined;
  });
  expect(needs.map(({ command }) => command)).toContain(`signalbox task respawn ${id}`);
  const { branch } = await stage.call(routes.fetchTask, { params: { task: id }, query: {}, body: {} });
  expect(stage.git(stage.repository, "show", `${branch}:cup.txt`)).toBe("full");
});

test("the task follows an agent that switches branches, or the agent is told to return, and nothing is lost", async () => {
  const stage = await startStage({
    script: `roles:
  worker:
    - when: { turn: 1 }
      steps:
        - { switch_branch: elsewhere }
        - { write: { file: cup.txt, text: full } }
        - { commit: "A cup" }
        - { section: { heading: "## Plan", text: "APPROACH: a\\nTOUCHING: b" } }
        - { cli: [task, update, --status, working] }
    - { steps: [{ say: "Hm." }] }
`,
  });
  const id = await stage.create("a cup");
  await stage.until(id, ({ status }) => status === "working");
  const { branch } = await stage.call(routes.fetchTask, { params: { task: id }, query: {}, body: {} });
  expect(branch).toBe("elsewhere");
  expect(stage.git(stage.repository, "show", "elsewhere:cup.txt")).toBe("full");
});

test("a provider's limit holds up its harness until it is over, and uses up no attempt", async () => {
  const script = `roles:
  worker:
    - { when: { counter: { limits: 0 } }, steps: [{ count: limits }, { error: { kind: rate-limit, message: "No more today.", reset: 6s } }] }
    - { steps: [{ say: "Done." }] }
`;
  const stage = await startStage({ flow, script });
  const id = await stage.create("a cup");
  const limited = await eventually(async () => (await stage.events(id)).find(({ type }) => type === "agent.limited"));
  expect(limited.data.harness).toBe("scripted");
  const [harness] = (await stage.call(routes.listHarnesses, { query: { name: "scripted" } })).harnesses;
  expect(harness?.limitedUntil).not.toBeNull();
  const done = await stage.until(id, ({ status }) => status === "done");
  expect(done.crashCount).toBe(0);
});

test("a limit of a day calls a person, and lifting it lets every task of the harness continue", async () => {
  const script = `roles:
  worker:
    - { when: { counter: { limits: 0 }, task: { summary: "a cup" } }, steps: [{ count: limits }, { error: { kind: rate-limit, message: "Come back later.", reset: 24h } }] }
    - { steps: [{ say: "Done." }] }
`;
  const stage = await startStage({ flow, script });
  const first = await stage.create("a cup");
  await eventually(async () => (await stage.events(first)).find(({ type }) => type === "agent.limited"));
  const second = await stage.create("a pot");
  for (const id of [first, second]) {
    const called = await eventually(async () => (await stage.task(id)).needs.find(({ reason }) => reason === "limit"));
    expect(called.command).toBe("signalbox resume --harness scripted");
  }
  const { blocked } = await stage.call(routes.explainTask, { params: { task: second } });
  expect(blocked.map(({ fix }) => fix).join("\n")).toContain("signalbox resume --harness scripted");
  await stage.call(routes.resume, { body: { harness: "scripted" } });
  for (const id of [first, second]) await stage.until(id, ({ status }) => status === "done");
  await expect(stage.call(routes.resume, { body: { harness: "scripted" } })).rejects.toThrow("has no known limit");
});

test("while everything is paused a person can merge but workflows cannot; the rest continues later", async () => {
  const stage = await startStage({
    flow: `name: flow
version: 1
roles: { worker: { mode: turn, harness: task } }
states:
  todo: { waits_for: slot, next: busy }
  busy: { agent: { role: worker, prompt: work }, outcomes: [{ on: ok, then: landing }, { on: failed, then: asking }] }
  asking: { waits_for: human, next: landing }
  landing: { do: [{ action: merge, uncommitted: leave }], next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: asking, to: landing, by: human }
prompts: { work: Work }
`,
    script: `roles:
  worker:
    - { when: { task: { summary: "a cup" } }, steps: [{ write: { file: cup.md, text: "full" } }, { commit: "a cup" }, { sleep: 3s }] }
    - { steps: [{ write: { file: pot.md, text: "full" } }, { commit: "a pot" }, { sleep: 3s }, { error: { kind: other, message: "No." } }] }
`,
  });
  const [cup, pot] = [await stage.create("a cup"), await stage.create("a pot")];
  for (const id of [cup, pot])
    await eventually(async () => (await stage.events(id)).find(({ type }) => type === "agent.started"));
  await stage.call(routes.pause, { body: { all: true } });
  await stage.until(cup, ({ status, phase }) => status === "landing" && phase === "doing");
  await stage.until(pot, ({ status }) => status === "asking");
  await stage.call(routes.mergeTask, { params: { task: pot }, body: {} });
  await stage.until(pot, ({ status }) => status === "done");
  const files = () => stage.git(stage.repository, "ls-tree", "--name-only", "main").split("\n");
  expect(files()).toEqual(["pot.md", "recipe.md"]);
  const { blocked, next, owed } = await stage.call(routes.explainTask, { params: { task: cup } });
  expect(blocked.map(({ reason }) => reason).join()).toContain("Everything is paused");
  expect(next.map(({ what }) => what)).toContain("Carry out merge once it is resumed");
  expect(owed).toMatchObject([{ action: "merge", tries: 0 }]);
  await stage.call(routes.resume, { body: { all: true } });
  await stage.until(cup, ({ status }) => status === "done");
  expect(files()).toEqual(["cup.md", "pot.md", "recipe.md"]);
});

test("names, summaries and contexts with shell, terminal and tmux commands are treated as text", async () => {
  const evil = "#(touch PWNED) $(touch PWNED) `touch PWNED`; touch PWNED\u001b]0;PWNED\u0007\u001b[31m #{pane_id} %1";
  const branch = "evil/#(>PWNED);$(>PWNED)-`>PWNED`";
  const stage = await startStage();
  const id = await stage.create(evil, { branch, context: evil });
  await stage.until(id, ({ status }) => status === "reviewing");
  const screen = await stage.call(routes.getScreen, { params: { task: id }, query: { lines: "500" } });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  expect(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(screen.text)).toBe(false);
  expect((await stage.task(id)).branch).toBe(branch);
  const planted = readdirSync(stage.base, { recursive: true }).filter((name) => String(name).endsWith("PWNED"));
  expect(planted).toEqual([]);
  // The status line below the window contains no control characters.
  const shown = stage.tmux("display-message", "-p", "-t", `=sb-${id}:`, "#{T:status-left}#{T:status-right}");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  expect(/[\x00-\x1f]/.test(shown)).toBe(false);
});

test.runIf(canMount())("a full disk stops everything only until there is room again", async () => {
  const script = `roles: { worker: [{ steps: [{ fill: { file: big, bytes: 200 MB } }] }] }`;
  const folder = mkdtempSync(join(tmpdir(), "signalbox-full-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const calls = join(folder, "calls");
  const config = `notify: { desktop: false, command: [sh, -c, 'echo "$1" >> ${calls}', sh] }\n`;
  const stage = await startStage({ flow, script, homeSize: "64m", config });
  const id = await stage.create("a cup");
  const { workspace } = await stage.until(id, (task) => task.workspace !== "");
  const big = join(workspace, "big");
  await eventually(async () => (existsSync(big) && statSync(big).size > 10_000_000 ? true : undefined));
  const told = await eventually(async () => (existsSync(calls) ? readFileSync(calls, "utf8") : undefined));
  expect(told).toBe("Signalbox cannot save anything\n");
  const { savingProblem, tasks, agents } = await stage.call(routes.status, { query: {} });
  expect(savingProblem.reason).toContain("is full");
  expect([tasks.needPerson, agents.atWork]).toEqual([1, 0]);
  expect((await stage.task(id)).needs[0]).toMatchObject({ reason: "disk", command: "signalbox doctor" });
  expect((await stage.runs()).map(({ activity }) => activity)).toEqual(["ended"]);
  rmSync(big, { force: true });
  await stage.until(id, ({ status }) => status === "lost", 120_000);
  expect((await stage.call(routes.status, { query: {} })).savingProblem.reason).toBe("");
  expect(readFileSync(calls, "utf8")).toBe(told);
});
