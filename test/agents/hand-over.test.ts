import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { eventually, startStage } from "./stage.ts";

vi.setConfig({ testTimeout: 240_000 });

/** An analyst packs, a builder builds, a critic judges in a checkout of its own. */
const flow = `name: flow
version: 1
roles:
  any: { mode: turn, limits: { attempts: 1 } }
  analyst: { tools: [comment, stage_message, work_complete, Read, run] }
  builder: {}
  critic: { permissions: reduced, result: verdict, prompt: judge }
states:
  todo: { waits_for: slot, next: packing }
  packing: { agent: { role: analyst, prompt: pack }, evidence: [documents > 0], next: building }
  building: { agent: { role: builder, prompt: build }, next: judging }
  judging: { agent: { role: critic }, outcomes: [{ result: { good: true }, then: done }] }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: packing, by: human, hooks: [acquire_workspace] }
  - { from: any, to: dropped, by: human, hooks: [kill_session] }
schemas: { verdict: { type: object, required: [good], properties: { good: { type: boolean } } } }
prompts:
  pack: "Pack for {next_stages}. {context}"
  build: "After {previous_stages}. Documents: {documents} Messages: {messages}"
  judge: "Documents: {documents}"
`;

const script = (pause: string) => `roles:
  analyst:
    - steps:
        - { run: [sh, -c, "signalbox mcp < $CALLS > $CALLS.out"] }
        - { sleep: ${pause} }
        - { exit: 3 }
  builder:
    - steps:
        - { run: [sh, -c, "ls -l .signalbox/documents > listed; cat .signalbox/documents/*.md >> listed; git status --short >> listed; mv listed $CALLS.built"] }
        - { run: [sh, -c, "echo done > work.txt && git add work.txt && git commit -qm work"] }
        - { say: "Built." }
  critic:
    - steps: [{ sleep: 3s }, { answer: { good: true } }]
`;

const call = (id: number, name: string, args: object) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } })}\n`;
const calls = [
  call(1, "stage_message", { to: "building", message: "Mind the step.", priority: "high" }),
  call(2, "work_complete", {
    summary: "Packed.",
    documents: [{ type: "pack", title: "The kitchen", text: "Cups are on the left.\n" }],
  }),
].join("");

async function start(pause: string) {
  // The agent reads and writes files outside of its workspace.
  const stage = await startStage({
    ...{ flow, script: script(pause), agents: "sandbox: off", variables: ["CALLS"] },
    env: (base) => ({ CALLS: join(base, "calls") }),
  });
  writeFileSync(join(stage.base, "calls"), calls);
  const id = await stage.create("stronger", { context: "Not too strong." });
  return { ...stage, id };
}

test("a report counts though its program fails, and the next runs find documents and messages", async () => {
  const { id, until, call: ask, events, runs, base, places } = await start("0s");
  const promptOf = (run: number) =>
    JSON.parse(readFileSync(join(places.runs, `${id}-${run}`, "harness.json"), "utf8")).order;
  // The critic has the document too, in a checkout of its own.
  const judged = await eventually(async () => join(promptOf(3).folder, ".signalbox/documents/pack-the-kitchen.md"));
  expect(readFileSync(judged, "utf8")).toBe("Cups are on the left.\n");
  expect(statSync(judged).mode & 0o222).toBe(0);
  expect(promptOf(3).folder).not.toBe(promptOf(2).folder);
  await until(id, ({ status }) => status === "done");
  const listed = readFileSync(join(base, "calls.built"), "utf8");
  expect(listed).toContain("-r--r--r--");
  expect(listed).toContain("pack-the-kitchen.md");
  expect(listed).toContain("Cups are on the left.");
  // Git sees nothing of it but the file that the builder made.
  expect(listed.split("\n").filter((line) => line.startsWith("??"))).toEqual(["?? listed"]);
  expect(promptOf(1).prompt).toContain("Pack for building, judging, done. Not too strong.");
  expect(promptOf(2).prompt).toContain(
    "After todo, packing. Documents: .signalbox/documents/pack-the-kitchen.md: The kitchen (pack, from packing) Messages: packing (high): Mind the step.",
  );
  const [analyst, builder] = (await runs(true)).filter(({ task }) => task === id);
  expect(analyst).toMatchObject({ status: "completed", report: "Packed.", word: "ok", error: "" });
  expect(analyst?.duration).toBeGreaterThan(0);
  expect(builder).toMatchObject({ status: "completed", report: "", error: "" });
  expect((await events(id)).filter(({ type }) => type === "work.completed")).toHaveLength(1);
  const { documents } = await ask(routes.listHandedOver, { params: { task: id } });
  expect(documents).toMatchObject([{ title: "The kitchen", role: "analyst", state: "packing" }]);
});

test("a report counts though the daemon is killed after the call, and the program fails before the next daemon starts", async () => {
  const { id, until, events, killDaemon, restart, processesOf, types, runs } = await start("4s");
  await eventually(async () => ((await types(id)).includes("work.completed") ? true : undefined));
  await killDaemon();
  await eventually(async () => (processesOf(id, "analyst#1").length === 0 ? true : undefined));
  await restart();
  await until(id, ({ status }) => status === "done");
  const all = await events(id);
  expect(all.filter(({ type }) => type === "work.completed")).toHaveLength(1);
  expect(all.filter(({ type, data }) => type === "agent.ended" && data.run === "analyst#1")).toMatchObject([
    { data: { word: "ok" } },
  ]);
  expect(all.filter(({ type }) => type === "agent.retried" || type === "agent.resumed")).toEqual([]);
  expect((await runs(true)).find(({ key }) => key === "analyst#1")).toMatchObject({ report: "Packed.", word: "ok" });
});
