import { expect, test } from "vitest";
import { createMemoryStore } from "../../src/adapters/store/memory.ts";
import { giveTicket } from "../../src/daemon/crew/give-ticket.ts";
import type { Agent } from "../../src/ports/records.ts";
import type { Store } from "../../src/ports/store.ts";
import { createScriptedTickets } from "../../src/testing/scripted-tickets.ts";
import { coreStage } from "./core-stage.ts";

const flow = `
version: 1
states:
  busy: { waits_for: human, next: done }
  done: { terminal: true }
`;

/** Agents that wait for tickets. */
async function crewOf(agents: readonly string[], ...ids: readonly string[]) {
  const memory = createMemoryStore();
  const slowly = { until: Promise.resolve() };
  // Whoever lists all agents may be overtaken by others.
  const list: typeof memory.agents.list = async (filter) => {
    const found = await memory.agents.list(filter);
    if (Object.keys(filter).length === 0) await slowly.until;
    return found;
  };
  const slow: Store = { ...memory, agents: { ...memory.agents, list } };
  const tickets = createScriptedTickets();
  for (const id of ids) tickets.files.set(`${id}.md`, `---\nid: ${id}\nstatus: open\n---\n# Brew ${id}\n`);
  let made = 0;
  const stage = await coreStage(flow, 5, slow, () => ({
    ticketsOf: () => tickets,
    ids: { task: () => `b000${++made}`, secret: () => "0".repeat(48) },
  }));
  for (const [at, name] of agents.entries()) {
    const agent: Agent = {
      ...{ id: `coffee/${name}`, project: "coffee", task: "", at, role: "worker", harness: "scripted", model: "" },
      ...{ state: "idle", reason: "" },
    };
    await stage.store.agents.put(agent);
  }
  const given = async () => (await stage.store.listTasks({}, { limit: 99 })).map(({ task }) => task.ticket).toSorted();
  return { ...stage, given, slowly };
}

test("no more tickets are worked on at once than the crew was told, however many agents are idle", async () => {
  const { core, rest, given, store } = await crewOf(["A", "B", "C"], "c-1", "c-2", "c-3");
  core.crew.start("coffee", { most: 2, workflow: "minimal" });
  const later = async () => {
    await rest(10_000);
    return given();
  };
  // Workflows are read from real files.
  await expect.poll(later).toEqual(["c-1", "c-2"]);
  for (let i = 0; i < 5; i++) expect(await later()).toEqual(["c-1", "c-2"]);
  expect(core.crew.problems("coffee")).toEqual(new Map());
  core.crew.stop("coffee");
  const idle = (await store.agents.list({})).filter(({ task }) => task === "");
  expect(idle.map(({ id }) => id)).toEqual(["coffee/C"]);
});

test("an agent that is given two tickets at once takes one, and the other stays for somebody else", async () => {
  const { core, given, store } = await crewOf(["A"], "c-1", "c-2");
  const [agent] = await store.agents.list({});
  const project = await store.getProject("coffee");
  if (agent === undefined || project === undefined) throw new Error("There is nobody.");
  const answers = await Promise.allSettled(
    ["c-1", "c-2"].map((ticket) => giveTicket(core, project, agent, { ticket, workflow: "minimal" })),
  );
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(await given()).toEqual(["c-1"]);
  expect(await store.agents.get(agent.id)).toMatchObject({ task: "b0001", taking: "", had: ["b0001"] });
});

test("an agent that gets a ticket while others are still taken up after a start keeps it", async () => {
  const { core, slowly, store } = await crewOf(["A"], "c-1");
  const project = await store.getProject("coffee");
  const agent = await store.agents.get("coffee/A");
  if (agent === undefined || project === undefined) throw new Error("There is nobody.");
  await store.agents.put({ ...agent, taking: "c-0" });
  const gate = Promise.withResolvers<void>();
  slowly.until = gate.promise;
  const taking = core.crew.recover();
  await giveTicket(core, project, agent, { ticket: "c-1", workflow: "minimal" });
  gate.resolve();
  await taking;
  expect(await store.agents.get("coffee/A")).toMatchObject({ task: "b0001", taking: "", had: ["b0001"] });
});
