import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { branchNameProblem } from "../../engine/branch-name.ts";
import type { Agent } from "../../ports/records.ts";
import { isTicketId } from "../../tickets/ticket.ts";
import { branchOf, settleAgent } from "./give-ticket.ts";

const taking: Agent = {
  ...{ id: "coffee/A", project: "coffee", task: "", at: 0, role: "worker", harness: "", model: "" },
  ...{ state: "idle", reason: "", taking: "c-1" },
};

async function start(...tickets: readonly string[]) {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  for (const [index, ticket] of tickets.entries())
    await store.createTask("coffee", sampleTask(`t${index + 1}`, { ticket }));
  await store.agents.put(taking);
  return { store, settled: await settleAgent({ store }, taking) };
}

test("after a crash an agent gets the task that was made from its ticket", async () => {
  const { store, settled } = await start("c-2", "c-1");
  expect(settled).toMatchObject({ task: "t2", taking: "", had: ["t2"] });
  expect(await store.agents.get("coffee/A")).toEqual(settled);
});

test("if no task was made from its ticket, the agent is idle again", async () => {
  const { store, settled } = await start("c-2");
  expect(settled).toMatchObject({ task: "", taking: "" });
  expect(await store.agents.get("coffee/A")).toEqual(settled);
});

test("a task that another agent has is not taken from it", async () => {
  const { store } = await start("c-1");
  await store.agents.put({ ...taking, id: "coffee/B", task: "t1", taking: "" });
  expect(await settleAgent({ store }, taking)).toMatchObject({ task: "", taking: "" });
});

test("every valid ticket id gives a valid branch name", () => {
  expect(branchOf("A", "c-1.2")).toBe("agent/A-c-1.2");
  for (const id of ["a..b", "a...b", "end.", "a..", "x.lock", "x..lock", "lock", "a.lock.", "A", "a".repeat(100)]) {
    expect(isTicketId(id)).toBe(true);
    expect([id, branchNameProblem(branchOf("A".repeat(32), id))]).toEqual([id, undefined]);
  }
});
