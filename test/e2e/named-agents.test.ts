import { expect, test, vi } from "vitest";
import { startCommands } from "./agent-stage.ts";

vi.setConfig({ testTimeout: 180_000 });

const flow = `name: flow
version: 1
agents: named
settings:
  models: { default: { default: large, tasting: small } }
roles:
  worker: { mode: turn, prompt: work, model: "{models}", permissions: reduced, limits: { attempts: 1 } }
states:
  brewing: { agent: { role: worker }, next: tasting }
  tasting: { agent: { role: worker }, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: any, to: dropped, by: human, hooks: [kill_session] }
prompts: { work: "Work on {summary}." }
`;
const script = `roles:
  worker:
    - when: { task: { summary: Burn it }, run: 1 }
      steps: [{ error: { kind: refusal, message: It burns } }]
    - when: { status: brewing }
      steps: [{ sleep: 700ms }, { say: Brewed. }]
    - steps: [{ sleep: 300ms }, { say: Tasted. }]
`;

test("issues share two agents of two models, in order, also over kills; a stuck agent is shown and cleared", async () => {
  const stage = await startCommands(script, {
    ...{
      flow,
      poolSize: 10,
      agents: "per_model: [large=1, small=1]",
      config: "workflow: flow\nmodel_fallback: { large: [] }\n",
    },
  });
  const { signalbox, json, until, events } = stage;
  const create = async (summary: string) => (await json("task", "create", summary)).task.id as string;
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(await create(`Issue ${i}`));
  await stage.untilRun(({ agent }) => agent === "A", true);
  const ps = await signalbox(["agent", "ps", "--all"]);
  expect(ps.stdout).toContain("AGENT");
  await until(ids[4] ?? "", ({ waiting }) => waiting.includes("is taken"));
  const explained = await signalbox(["task", "explain", ids[4] ?? ""]);
  expect(explained.stdout.replace(/\s+/g, " ")).toMatch(
    /The named agent for large in scripted is taken: A does worker#1 of coffee#\d\./,
  );
  await stage.killDaemon();
  await stage.restart();
  for (const id of ids) await until(id, ({ status }) => status === "done");
  const starts = (await Promise.all(ids.map((id) => events(id)))).map((all) =>
    all.flatMap(({ type, data }) => (type === "agent.started" ? [data] : [])),
  );
  expect(new Set(starts.flat().map(({ agent, model }) => `${agent} ${model}`))).toEqual(
    new Set(["A large", "B small"]),
  );
  // No issue that waits for an agent is overtaken by a later one.
  const firsts = starts.map(([first]) => ({ asked: String(first?.asked), seated: String(first?.seated) }));
  const isOvertaken = firsts.map(({ asked, seated }, at) =>
    firsts.slice(at + 1).some((later) => asked < later.seated && later.seated < seated),
  );
  expect(isOvertaken).toEqual(firsts.map(() => false));

  expect((await signalbox(["task", "show", ids[0] ?? ""])).stdout).toMatch(/worker#1 by A\s+completed/);
  expect((await signalbox(["task", "history", ids[0] ?? ""])).stdout).toContain("worker#2 by B in scripted (small");

  const burnt = await create("Burn it");
  await until(burnt, ({ held }) => held !== null);
  const waits = await create("Issue 6");
  await until(waits, ({ waiting }) => waiting.includes("agent clear A"));
  expect((await signalbox(["agent", "ps"])).stdout).toContain("stuck: ");
  expect((await signalbox(["agent", "clear", "B"])).stderr).toContain("B has failed no run: it is idle.");
  expect((await signalbox(["agent", "clear", "Z"])).code).toBe(3);
  expect(await signalbox(["agent", "clear", "A"])).toMatchObject({ code: 0, stdout: expect.stringContaining("A  ") });
  await until(waits, ({ status }) => status === "done");
  expect((await json("task", "show", burnt)).task.held).not.toBe(null);
});
