import { expect, test } from "vitest";
import { giveTicket } from "../../src/daemon/crew/give-ticket.ts";
import type { Agent } from "../../src/ports/records.ts";
import type { Store } from "../../src/ports/store.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { createScriptedTickets } from "../scripted-ports.ts";
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
  // A slow list, so that concurrent calls overtake each other.
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

test("the crew works on no more tickets than its limit, however many agents are idle", async () => {
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

test("an agent that gets two tickets concurrently takes one, and the other stays for another agent", async () => {
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

test("an agent that gets a ticket while others are still being recovered keeps it", async () => {
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
