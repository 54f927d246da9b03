import { expect, test } from "vitest";
import { giveTicket } from "../../src/daemon/crew/give-ticket.ts";
import type { Agent } from "../../src/ports/records.ts";
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
  const tickets = createScriptedTickets();
  for (const id of ids) tickets.files.set(`${id}.md`, `---\nid: ${id}\nstatus: open\n---\n# Brew ${id}\n`);
  let made = 0;
  const stage = await coreStage(flow, 5, undefined, () => ({
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
  return { ...stage, given };
}

test("no more tickets are worked on at once than the crew was told, however many agents are idle", async () => {
  const { core, rest, given, store } = await crewOf(["A", "B", "C"], "c-1", "c-2", "c-3");
  core.crew.start("coffee", { most: 2, workflow: "minimal" });
  await rest(10_000);
  expect(core.crew.problems("coffee")).toEqual(new Map());
  expect(await given()).toEqual(["c-1", "c-2"]);
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
