import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import type { EventView } from "../../src/api/tasks.ts";
import { eventually, openStage, type Stage } from "../agents/stage.ts";
import { root } from "../documents.ts";
import { runCommand } from "./person.ts";

/** The built-in workflow, with shorter timeouts. */
const quick = readFileSync(join(root, "workflows/crew.yml"), "utf8")
  .replace("steps: 20", "steps: 3")
  .replace("stall: 5m", "stall: 10s")
  .replace("first: 2s, factor: 2, max: 60s", "first: 50ms, factor: 2, max: 1s")
  .replace("waits_for: 60s", "waits_for: 1s");

interface Part {
  readonly title: string;
  readonly worker: readonly string[];
  readonly resolver?: string;
}

const commit = '{ write: { file: "{branch}.txt", text: "work" } }, { commit: "Work" }';
const fails = "{ count: errors }, { error: { kind: other, message: No luck } }";
const failing = (first: string) =>
  Array.from({ length: 5 }, (_, n) => `{ when: { counter: { errors: ${n} } }, steps: [${first}${fails}] }`);
/** A step that waits until the test creates a file beside the home. */
const until = (file: string) => `{ run: [sh, -c, "while ! test -e ../../../../${file}; do sleep 0.1; done"] }`;

/** What the agents do, by ticket. */
const parts: Readonly<Record<string, Part>> = {
  "c-plain": {
    title: "Grind",
    worker: [
      `{ when: { turn: 1 }, steps: [${commit}, { usage: { input: 100, output: 10, cost: 0.25 } }] }`,
      "{ steps: [marker] }",
    ],
  },
  "c-tests": {
    title: "Burn",
    worker: [
      '{ when: { prompt: "The work is not done yet" }, steps: [{ delete: broken.txt }, { commit: Mend }, marker] }',
      `{ steps: [${commit}, { write: { file: broken.txt, text: x } }, { commit: Break }, marker] }`,
    ],
  },
  "c-left": {
    title: "Left",
    worker: [`{ steps: [${until("both")}, { write: { file: recipe.md, text: left } }, { commit: Left }, marker] }`],
    resolver: "left and right",
  },
  "c-right": {
    title: "Right",
    worker: [`{ steps: [${until("both")}, { write: { file: recipe.md, text: right } }, { commit: Right }, marker] }`],
    resolver: "left and right",
  },
  "c-clean": { title: "Stumble", worker: [...failing(""), `{ steps: [${commit}, marker] }`] },
  "c-dirty": {
    title: "Spill",
    worker: [...failing("{ write: { file: spilt.txt, text: milk } }, "), `{ steps: [${commit}, marker] }`],
  },
  "c-gone": {
    title: "Vanish",
    worker: [...failing("{ try: [delete_workspace] }, "), `{ steps: [${commit}, marker] }`],
  },
  "c-limit": { title: "Ramble", worker: [`{ when: { turn: 1 }, steps: [${commit}] }`, "{ steps: [{ say: Well }] }"] },
  "c-empty": { title: "Dream", worker: ["{ steps: [marker] }"] },
  "c-stall": {
    title: "Doze",
    worker: [`{ when: { counter: { dozed: 0 } }, steps: [{ count: dozed }, hang] }`, `{ steps: [${commit}, marker] }`],
  },
  "c-session": {
    title: "Collide",
    worker: [
      `{ when: { counter: { met: 0 }, turn: 1 }, steps: [${commit}] }`,
      "{ when: { counter: { met: 0 } }, steps: [{ count: met }, { error: { kind: session-in-use, message: In use } }] }",
      "{ steps: [marker] }",
    ],
  },
  "c-away": { title: "Leave", worker: [`{ steps: [${until("back")}, ${commit}, marker] }`] },
};

let stage: Stage;
const signalbox = (...args: readonly string[]) =>
  runCommand(stage.repository, { ...stage.home.env, NO_COLOR: "1" }, args);
const ticketFile = (id: string) => join(stage.repository, ".tickets", `${id}.md`);
const isClosed = (id: string) => /^status: closed$/m.test(readFileSync(ticketFile(id), "utf8"));

beforeAll(async () => {
  stage = await openStage({
    workflows: { crew: quick },
    script: writeScript(),
    agents: "most: 30, sandbox: off",
    config: 'test_command: [sh, -c, "! test -e broken.txt"]\n',
    poolSize: 12,
  });
  mkdirSync(join(stage.repository, ".tickets"));
  for (const [id, { title }] of Object.entries(parts))
    writeFileSync(ticketFile(id), `---\nid: ${id}\nstatus: open\ndeps: []\npriority: 2\n---\n# ${title}\n`);
  stage.git(stage.repository, "add", "-A");
  stage.git(stage.repository, "commit", "-qm", "tickets");
  expect((await signalbox("crew", "spawn", "12")).code).toBe(0);
  expect((await signalbox("crew", "run", "--most", "12")).code).toBe(0);
});
afterAll(() => stage?.close());

test("an agent gets init, then step in the same session, until it prints DONE; its usage is recorded", async () => {
  const { task, name } = await whoHas("c-plain");
  await closed("c-plain");
  const [first = "", second = "", ...more] = await heard(task);
  expect(first).toContain("# Ticket c-plain: Grind");
  expect(second).toContain("Go on with the next step of Grind");
  expect(more).toEqual([]);
  expect(
    stage.git(stage.repository, "log", "--merges", "-1", "--format=%P", "--grep", "Ticket: c-plain").split(" "),
  ).toHaveLength(2);
  expect(stage.git(stage.repository, "for-each-ref", `refs/heads/agent/${name}-c-plain`)).toBe("");
  const agents = JSON.parse((await signalbox("crew", "ps", "--json")).stdout).agents;
  expect(agents.find((each: { name: string }) => each.name === name)).toMatchObject({
    ...{ total_input_tokens: 100, total_output_tokens: 10, total_cost_usd: 0.25 },
  });
});

test("failing tests are sent to the same session as test_failure", async () => {
  const { task } = await whoHas("c-tests");
  await closed("c-tests");
  const prompts = await heard(task);
  expect(prompts).toHaveLength(2);
  expect(prompts[1]).toContain("The work is not done yet");
  expect(existsSync(join(stage.repository, "broken.txt"))).toBe(false);
});

test("a conflict is given to an agent as merge_conflict, tested again, and both tasks are merged", async () => {
  const [left, right] = await Promise.all([whoHas("c-left"), whoHas("c-right")]);
  await Promise.all([left, right].map(({ task }) => stage.until(task, ({ status }) => status === "working")));
  writeFileSync(join(stage.base, "both"), "");
  await Promise.all([closed("c-left"), closed("c-right")]);
  expect(readFileSync(join(stage.repository, "recipe.md"), "utf8")).toBe("left and right");
  const routesTaken = await Promise.all([left, right].map(({ task }) => moves(task)));
  expect(routesTaken.filter((moved) => moved.includes("merging → resolving"))).toHaveLength(1);
});

test("five errors in a row make an agent stuck; with a clean workspace it is ready again, in a new session", async () => {
  const { task } = await whoHas("c-clean");
  await closed("c-clean");
  const moved = await moves(task);
  expect(moved).toContain("working → stuck");
  expect(moved[moved.indexOf("working → stuck") + 1]).toBe("stuck → ready");
  const runs = (await stage.runs(true)).filter((run) => run.task === task);
  expect(runs.filter(({ word }) => word === "error").length).toBe(5);
});

test("an agent with uncommitted work continues working, and the work is still there", async () => {
  const { task } = await whoHas("c-dirty");
  await closed("c-dirty");
  const moved = await moves(task);
  expect(moved[moved.indexOf("working → stuck") + 1]).toBe("stuck → working");
  expect(readFileSync(join(stage.repository, "spilt.txt"), "utf8")).toBe("milk");
});

test("an agent without a workspace gets a new one for each attempt; if it is stuck without one, its task begins again", async () => {
  const { task } = await whoHas("c-gone");
  await closed("c-gone");
  const moved = await moves(task);
  expect(moved[moved.indexOf("working → stuck") + 1]).toBe("stuck → queued");
  const runs = (await stage.runs(true)).filter((run) => run.task === task);
  expect(runs.filter(({ word }) => word === "error").length).toBe(5);
});

test("at the step limit the work so far is tested and merged, and the history says that it was cut off", async () => {
  const { task } = await whoHas("c-limit");
  await closed("c-limit");
  expect(await heard(task)).toHaveLength(3);
  expect((await events(task)).some(({ type, data }) => type === "agent.stepped" && data.limit === 3)).toBe(true);
});

test("a stalled agent is ended and started in a new session", async () => {
  const { task } = await whoHas("c-stall");
  await closed("c-stall");
  const runs = (await stage.runs(true)).filter((run) => run.task === task);
  expect(runs.map(({ word }) => word)).toContain("stall");
  expect(new Set(runs.map(({ session }) => session)).size).toBeGreaterThan(1);
});

test("a session that another process uses is not resumed", async () => {
  const { task } = await whoHas("c-session");
  await closed("c-session");
  const runs = (await stage.runs(true)).filter((run) => run.task === task);
  expect(new Set(runs.map(({ session }) => session).filter(Boolean)).size).toBe(2);
});

test("an agent that prints DONE without a change is reminded once, then it is stuck with a reason, and other agents continue", async () => {
  const { task, name } = await whoHas("c-empty");
  const { held } = await stage.until(task, (now) => now.held !== null);
  expect(held?.reason).toContain("its branch has no change");
  expect((await heard(task))[1]).toContain("has no change");
  expect(isClosed("c-empty")).toBe(false);
  const { stdout } = await signalbox("crew", "ps");
  expect(stdout).toMatch(new RegExp(`^! +${name} +stuck +c-empty `, "m"));
  const refused = await signalbox("crew", "assign", name, "c-empty");
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain(`${name} is stuck; "assign" needs an agent that is idle.`);
  expect(refused.stderr).toContain(`signalbox crew kill ${name}`);
});

test("a task whose workspace is gone when the daemon starts begins again, with the ticket open and its commits kept", async () => {
  const { task } = await whoHas("c-away");
  const { workspace } = await stage.until(task, ({ status }) => status === "working");
  await stage.killDaemon();
  rmSync(workspace, { recursive: true });
  await stage.restart();
  await eventually(async () => ((await moves(task)).includes("working → queued") ? true : undefined));
  expect(isClosed("c-away")).toBe(false);
  writeFileSync(join(stage.base, "back"), "");
  await closed("c-away");
});

async function whoHas(ticket: string): Promise<{ readonly task: string; readonly name: string }> {
  const { task } = await eventually(async () => {
    const found = JSON.parse((await signalbox("ticket", "show", ticket, "--json")).stdout);
    return found.task === "" ? undefined : found;
  });
  const { task: found } = await stage.call(routes.getTask, { params: { task } });
  return { task: found.id, name: /^agent\/(\w+)-/.exec(found.branch)?.[1] ?? "" };
}

async function closed(ticket: string): Promise<void> {
  await eventually(
    async () => (isClosed(ticket) ? true : undefined),
    300_000,
    async () => {
      const { task } = await whoHas(ticket);
      return JSON.stringify([await stage.task(task), (await events(task)).slice(-12)], undefined, 1);
    },
  );
}

function events(task: string): Promise<readonly EventView[]> {
  return stage.events(task);
}

async function moves(task: string): Promise<readonly string[]> {
  return (await events(task))
    .filter(({ type }) => type === "task.moved")
    .map(({ data }) => `${data.from} → ${data.to}`);
}

/** All messages to the agents of a task, over all sessions, in order. */
async function heard(task: string): Promise<readonly string[]> {
  const sessions = new Set((await stage.runs(true)).filter((run) => run.task === task).map(({ session }) => session));
  return [...sessions].flatMap((session) =>
    readFileSync(join(stage.places.runs, ".scripted", "sessions", `${session}.jsonl`), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
      .filter(({ kind }) => kind === "heard")
      .map(({ text }) => String(text)),
  );
}

function writeScript(): string {
  const of = (title: string, turns: readonly string[]) =>
    turns.map((turn) =>
      turn.includes("when: { ")
        ? `    - ${turn.replace("when: { ", `when: { task: { summary: ${title} }, `)}\n`
        : `    - ${turn.replace("{ ", `{ when: { task: { summary: ${title} } }, `)}\n`,
    );
  const workers = Object.values(parts).flatMap(({ title, worker }) => of(title, worker));
  const resolvers = Object.values(parts).flatMap(({ title, resolver }) =>
    resolver === undefined
      ? []
      : of(title, [
          `{ steps: [{ try: [{ run: [git, merge, main] }] }, { write: { file: recipe.md, text: ${resolver} } }, { commit: Both }] }`,
        ]),
  );
  return `roles:\n  worker:\n${workers.join("")}  resolver:\n${resolvers.join("")}`;
}
