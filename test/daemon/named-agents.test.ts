import { expect, test } from "vitest";
import { addAgents, assignAgent, cleanAgents, clearAgent, listAgents } from "../../src/daemon/requests/agents.ts";
import { listRuns } from "../../src/daemon/requests/runs.ts";
import type { PartialConfig } from "../../src/home/config-fields.ts";
import type { Harness } from "../../src/ports/harness.ts";
import type { Run } from "../../src/ports/records.ts";
import type { Store } from "../../src/ports/store.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { agentStage, meter } from "./agent-stage.ts";

/** Two stages, the first with a large model, the second with a small one. */
const stages = `
version: 1
agents: named
settings: { models: { default: { default: large, tasting: small } } }
roles: { worker: { harness: meter, mode: turn, permissions: reduced, prompt: work, model: "{models}", limits: { attempts: 1 } } }
prompts: { work: Brew }
states:
  brewing: { agent: { role: worker }, next: tasting }
  tasting: { agent: { role: worker }, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions: [{ from: any, to: dropped, by: human, hooks: [kill_session] }]
`;

/** A program that prints `failed` has failed; any other answers with an empty object. */
const failing: Harness = {
  ...meter,
  readOutput: () => {
    let said = "";
    return {
      push(chunk: Uint8Array) {
        said += Buffer.from(chunk).toString();
        return [];
      },
      end: () => ({
        ...{ text: "", answer: {}, events: [] },
        error: said.includes("failed") ? { kind: "refusal", message: "It refused" } : undefined,
      }),
    };
  },
} as unknown as Harness;

const request = { params: {}, query: {}, caller: { kind: "human" } as const, folder: "", lastEvent: "" };

async function stageOf(values: PartialConfig = {}, text = stages, store: Store = createMemoryStore()) {
  const stage = await agentStage(text, () => [{ hang: true }], store, { modelFallback: {}, ...values });
  stage.known.set(meter.name, failing);
  /** All runs that open tasks want are at work, or wait for something. Real files take real time. */
  const rest = async () => {
    const isAtRest = async () => {
      for (const id of ["t1", "t2", "t3"]) {
        const stored = await store.getTask(id);
        if (stored === undefined) continue;
        const { task, isOpen } = stored;
        const runs = await store.runs.list({ task: id });
        const isWanted = (key: string) => Object.values(task.runs).some((run) => run.key === key);
        if (runs.some(({ key, endedAt }) => endedAt === undefined && !(isOpen && isWanted(key)))) return false;
        if (!isOpen || task.held !== undefined) continue;
        const isAtWork = ({ key, pid, endedAt }: Run) => pid !== 0 && endedAt === undefined && isWanted(key);
        const isWaiting = stage.newest().agents?.dispatch.whyWaiting(id) !== undefined;
        if (Object.keys(task.runs).length === 0 || !(runs.some(isAtWork) || isWaiting)) return false;
      }
      return true;
    };
    for (let inARow = 0; inARow < 6; ) {
      await stage.rest(500);
      await new Promise((resolve) => setTimeout(resolve, 2));
      inARow = (await isAtRest()) ? inARow + 1 : 0;
    }
  };
  const live = async (): Promise<readonly Run[]> =>
    (await store.runs.list({})).filter(({ endedAt, pid }) => endedAt === undefined && pid !== 0);
  return {
    ...{ ...stage, rest, live },
    another: stage.start,
    /** Which agent does which run. */
    doing: async (): Promise<Readonly<Record<string, string>>> =>
      Object.fromEntries((await live()).map(({ agent, id, model }) => [agent, `${id} ${model}`])),
    async end(run: string, how: "well" | "badly" = "well") {
      const name = (await store.runs.get(run))?.started?.name ?? "";
      if (how === "badly") stage.processes.print(name, "failed\n");
      stage.processes.end(name, { code: 0 });
      await stage.until(async () => (await store.runs.get(run))?.endedAt !== undefined);
      await rest();
    },
    agents: async () => (await listAgents(stage.newest())({ ...request, body: {} as never })).agents,
    add: (name: string, model: string) =>
      addAgents(stage.newest())({ ...request, body: { project: "coffee", name, model, harness: meter.name } }),
    clear: (agent: string) =>
      clearAgent(stage.newest())({ ...request, params: { agent }, body: { project: "coffee" } }),
    why: (task: string) => stage.newest().agents?.dispatch.whyWaiting(task),
    start: async (...tasks: readonly string[]) => {
      for (const id of tasks) {
        await stage.create(id);
        await rest();
      }
    },
    async restart() {
      const passing = async (work: Promise<unknown>) => {
        let isOver = false;
        work.finally(() => {
          isOver = true;
        });
        await stage.until(async () => isOver);
      };
      await passing(stage.newest().close());
      const next = stage.start();
      await passing(next.recover());
      await rest();
      return next;
    },
  };
}

test("each run of a workflow with named agents has one; they are made as needed, and released after each run", async () => {
  const stage = await stageOf({ agentsPerModel: ["large=1", "small=1"] });
  await stage.start("t1", "t2");
  expect(await stage.doing()).toEqual({ A: "t1/worker#1 large" });
  expect(stage.why("t2")).toBe(
    "The named agent for large in meter is taken: A does worker#1 of coffee#1. The maximum is 1 (agents.per_model).",
  );
  expect((await stage.agents())[0]).toMatchObject({ name: "A", state: "working", task: "coffee#1" });
  await stage.end("t1/worker#1");
  expect(await stage.doing()).toEqual({ A: "t2/worker#1 large", B: "t1/worker#2 small" });
  await stage.end("t1/worker#2");
  await stage.end("t2/worker#1");
  await stage.end("t2/worker#2");
  expect(await stage.statuses("t1", "t2")).toEqual(["done", "done"]);
  expect((await stage.agents()).map(({ name, model, state, runs }) => [name, model, state, runs])).toEqual([
    ["A", "large", "idle", 2],
    ["B", "small", "idle", 2],
  ]);
  const { runs } = await listRuns(stage.core)({ ...request, query: { all: "true" }, body: {} as never });
  expect(runs.map(({ agent }) => agent).sort()).toEqual(["A", "A", "B", "B"]);
  // Page by page they are the same, also where the run that a page began with was deleted meanwhile.
  const page = (query: object) =>
    listRuns(stage.core)({ ...request, query: { all: "true", ...query }, body: {} as never });
  const ids = (of: { readonly runs: readonly { readonly id: string }[] }) => of.runs.map(({ id }) => id);
  const last = await page({ limit: "3" });
  expect(ids(last)).toEqual(ids({ runs }).slice(1));
  const first = await page({ limit: "3", before: last.next });
  expect([...ids(first), ...ids(last)]).toEqual(ids({ runs }));
  const exact = await page({ limit: String(runs.length) });
  expect([first.next, (await page({})).next, exact.next, exact.runs.length]).toEqual([null, null, null, runs.length]);
  const [gone, ...others] = last.runs;
  await stage.store.runs.remove(gone?.id ?? "");
  expect([...ids(await page({ before: last.next })), ...others.map(({ id }) => id)]).toEqual(ids(await page({})));
  for (const query of [{ before: "x" }, { limit: "0" }, { limit: "1001" }])
    await expect(page(query)).rejects.toMatchObject({ code: "request.invalid" });
  expect(stage.errors).toEqual([]);
});

test("runs that wait for named agents start by priority, then by age, however far their tasks are", async () => {
  const stage = await stageOf({ agentsPerModel: ["large=1"] }, stages.replace("tasting: small", "tasting: large"));
  await stage.start("t1", "t2", "t3");
  await stage.core.submit("t3", { kind: "edit", actor: { role: "human" }, set: { priority: 5 } });
  await stage.rest();
  // t1 asks again after its first run; t3 is more urgent, and t2 is later.
  await stage.end("t1/worker#1");
  expect(await stage.doing()).toEqual({ A: "t3/worker#1 large" });
  await stage.end("t3/worker#1");
  const order = [...Object.values(await stage.doing())];
  expect(order).toHaveLength(1);
  const seen = [order[0]];
  for (let i = 0; i < 3; i++) {
    const [run = ""] = Object.values(await stage.doing());
    await stage.end(run.split(" ")[0] ?? "");
    seen.push(Object.values(await stage.doing())[0]);
  }
  const places = (task: string) => seen.findIndex((run) => run?.startsWith(task));
  expect(places("t1")).toBeLessThan(places("t2"));
});

test("a run falls back to an agent of another model only at the limit, and its program is asked for that model", async () => {
  const values = { agentsPerModel: ["large=1", "small=1"], modelFallback: { large: ["small"] } };
  const stage = await stageOf(values);
  await stage.add("Tiny", "small");
  await stage.start("t1");
  expect(await stage.doing()).toEqual({ A: "t1/worker#1 large" });
  await stage.start("t2");
  expect(await stage.doing()).toMatchObject({ Tiny: "t2/worker#1 small" });
  const started = (await stage.store.listEvents({ task: "t2" }, 0, 100)).find(
    ({ event }) => event.type === "agent.started",
  );
  expect(started?.event.data).toMatchObject({ agent: "Tiny", model: "small", insteadOf: "large" });
});

test("an agent whose run fails so that its task is held is stuck, until it is cleared or the task is continued", async () => {
  const stage = await stageOf({ agentsPerModel: ["large=1"] });
  await stage.start("t1", "t2");
  await stage.end("t1/worker#1", "badly");
  expect((await stage.store.getTask("t1"))?.task.held).toBeDefined();
  expect(await stage.doing()).toEqual({});
  expect((await stage.agents())[0]).toMatchObject({ name: "A", state: "stuck", task: "coffee#1" });
  expect(stage.why("t2")).toContain("To clear it: signalbox agent clear A --project coffee");
  // Also after a restart.
  await stage.restart();
  expect(await stage.doing()).toEqual({});
  await stage.clear("A");
  await stage.rest();
  expect(await stage.doing()).toEqual({ A: "t2/worker#1 large" });
  await expect(stage.clear("A")).rejects.toThrow("A has failed no run: it is working, with coffee#2.");
  await expect(stage.clear("Z")).rejects.toThrow('coffee has no agent "Z".');
  await stage.end("t2/worker#1", "badly");
  expect((await stage.agents())[0]).toMatchObject({ state: "stuck", task: "coffee#2" });
  await stage.newest().submit("t2", { kind: "continue", actor: { role: "human" } });
  await stage.rest();
  expect(await stage.doing()).toEqual({ A: "t2/worker#2 large" });
});

test("an agent that a person has cleared is not stuck again after a restart, although its task is still held", async () => {
  const stage = await stageOf({ agentsPerModel: ["large=1"] });
  await stage.start("t1");
  await stage.end("t1/worker#1", "badly");
  await stage.clear("A");
  await stage.restart();
  expect((await stage.agents())[0]).toMatchObject({ state: "idle" });
});

test("an agent whose failure was reported just before the daemon was killed is stuck after the start", async () => {
  const stage = await stageOf({ agentsPerModel: ["large=1"] });
  await stage.start("t1");
  const before = await stage.store.runs.get("t1/worker#1");
  await stage.end("t1/worker#1", "badly");
  if (before !== undefined) await stage.store.runs.put(before);
  await stage.restart();
  expect((await stage.agents())[0]).toMatchObject({ state: "stuck" });
});

test("after a restart an agent keeps the run that it does, and gets no second one", async () => {
  const stage = await stageOf({ agentsPerModel: ["large=1"] });
  await stage.start("t1", "t2");
  await stage.restart();
  expect(await stage.doing()).toEqual({ A: "t1/worker#1 large" });
  expect(stage.why("t2")).toContain("A does worker#1 of coffee#1");
  await stage.end("t1/worker#1");
  expect(await stage.doing()).toMatchObject({ A: "t2/worker#1 large" });
});

test("an agent whose run was started but not noted when the daemon died keeps it, and no other run gets the agent", async () => {
  const memory = createMemoryStore();
  const block = { is: true };
  const put = (run: Run) => (block.is && run.pid !== 0 ? new Promise<void>(() => {}) : memory.runs.put(run));
  const stage = await stageOf({ agentsPerModel: ["large=1"] }, stages, { ...memory, runs: { ...memory.runs, put } });
  for (const id of ["t1", "t2"]) await stage.create(id);
  await stage.until(async () => stage.processes.started.length > 0);
  await stage.until(async () => stage.why("t2") !== undefined);
  expect(await memory.runs.get("t1/worker#1")).toMatchObject({ pid: 0, agent: "A" });
  block.is = false;
  const next = stage.another();
  await next.recover();
  await stage.rest();
  expect(await stage.doing()).toEqual({ A: "t1/worker#1 large" });
  expect(next.agents?.dispatch.whyWaiting("t2")).toContain("A does worker#1 of coffee#1");
});

test("a cancelled task releases its agent, and an agent at work is neither removed nor given a task", async () => {
  const stage = await stageOf({ agentsPerModel: ["large=1"] });
  await stage.start("t1", "t2");
  const clean = () => cleanAgents(stage.core)({ ...request, body: { project: "coffee", onlyAgents: true } });
  expect((await clean()).done).toEqual([]);
  const assign = assignAgent(stage.core)({
    ...{ ...request, params: { agent: "A" }, body: { project: "coffee", task: "t2" } },
  });
  await expect(assign).rejects.toThrow("A is working, with coffee#1.");
  await stage.core.submit("t1", { kind: "move", to: "dropped", actor: { role: "human" } });
  await stage.until(async () => (await stage.doing()).A === "t2/worker#1 large");
  await stage.end("t2/worker#1");
  await stage.end("t2/worker#2");
  expect((await clean()).done).toEqual(["the agent coffee/A", "the agent coffee/B"]);
});

test("an agent that a person has assigned to a task does its runs, and those of no other task", async () => {
  const stage = await stageOf({ agentsPerModel: ["large=1"] });
  await stage.add("Ada", "large");
  stage.core.agents?.pauses.set("coffee", true);
  await stage.start("t1", "t2");
  await assignAgent(stage.core)({
    ...{ ...request, params: { agent: "Ada" }, body: { project: "coffee", task: "t2" } },
  });
  stage.core.agents?.pauses.set("coffee", false);
  stage.core.agents?.dispatch.wake();
  await stage.rest();
  expect(await stage.doing()).toEqual({ Ada: "t2/worker#1 large" });
  expect(stage.why("t1")).toContain("Ada does worker#1 of coffee#2");
});

const panel = `
version: 1
agents: named
settings: { scouts: { default: [small, small, small] } }
roles:
  scout: { harness: meter, mode: turn, permissions: reduced, prompt: work, model: "{scouts}" }
  judge: { harness: meter, mode: turn, permissions: reduced, prompt: work, model: small }
prompts: { work: Brew }
schemas: { said: { type: object } }
states:
  brewing: { panel: { members: { role: scout, result: said }, judge: { role: judge, result: said } }, next: done }
  done: { terminal: true }
`;

test("the members of a panel take turns where there are fewer agents than members", async () => {
  const stage = await stageOf({ agentsPerModel: ["small=1"] }, panel);
  await stage.start("t1");
  const done: string[] = [];
  for (let i = 0; i < 4; i++) {
    const runs = await stage.live();
    expect(runs).toHaveLength(1);
    done.push(runs[0]?.key ?? "");
    await stage.end(runs[0]?.id ?? "");
  }
  expect(done.map((key) => key.replace(/[/#].*/, ""))).toEqual(["scout", "scout", "scout", "judge"]);
  expect(await stage.statuses("t1")).toEqual(["done"]);
});

test("runs of a workflow without the key have no named agent, and idle agents are left alone", async () => {
  const stage = await stageOf({}, stages.replace("agents: named\n", ""));
  await stage.add("Ada", "large");
  await stage.start("t1");
  expect((await stage.live()).map(({ agent }) => agent)).toEqual([undefined]);
  expect((await stage.agents()).map(({ state }) => state)).toEqual(["idle"]);
});

test("a task whose model may have no agent needs a person, with the command that allows one, and then goes on", async () => {
  const stage = await stageOf({ agentsPerModel: ["large=0", "small=1"] });
  await stage.start("t1");
  const needs = async () => {
    const stored = (await stage.store.getTask("t1")) ?? expect.fail("There is no such task.");
    return (await stage.core.needs.of(stored)).map(({ reason, text, fix }) => ({ reason, text, fix }));
  };
  expect(await stage.doing()).toEqual({});
  expect(await needs()).toEqual([
    {
      reason: "agent",
      text: "There is no named agent for large in meter, and none is made. The maximum is 0 (agents.per_model).",
      fix: "Allow one: signalbox config set agents.per_model '[small=1, large=1]'",
    },
  ]);
  await stage.add("Ada", "large");
  await stage.rest();
  expect(await stage.doing()).toEqual({ Ada: "t1/worker#1 large" });
  expect(await needs()).toEqual([]);
});
