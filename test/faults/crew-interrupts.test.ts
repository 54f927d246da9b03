import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { killPlan } from "../kill-plan.ts";
import { mergedTickets } from "../merged-tickets.ts";
import { invariantProblems } from "./crew/eight-invariants.ts";
import { type DeathPoint, type InterruptedCrew, oneCommit, openCrew } from "./crew/interrupted-crew.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

/** Each daemon recovers from the death of the one before, and dies while it handles the next ticket. */
const interrupts: readonly (readonly [when: string, DeathPoint])[] = [
  // Only the first ticket has no workspace to reuse.
  ["the worktree is created, and not recorded", { what: "^start git .*worktree add", when: "after" }],
  ["the ticket is recorded, and has no task yet", { what: '^write .*"taking":"c-', when: "after" }],
  ["the task is created, and no agent has it", { what: "^write .*insert into task ", when: "after" }],
  ["the agent has started, and this is not recorded", { what: "^start node supervisor", when: "after" }],
  ["the agent has ended, and this is not recorded", { what: '^write .*"agent.ended"', when: "before" }],
  ["the task file is in place, with the previous one beside it", { what: "^place .*/TASK.md", when: "after", at: 3 }],
  ["the work is in main, and this is not recorded", { what: "^start git merge --ff-only", when: "after" }],
  ["the worktree is released, and the branch still exists", { what: '^write .*"task.edited"', when: "after", at: 2 }],
  ["the ticket is about to be closed", { what: "^place .*/.tickets/", when: "before" }],
  ["the ticket is closed, and this is not recorded", { what: "^place .*/.tickets/", when: "after" }],
];

let crew: InterruptedCrew;
let tickets = 0;
beforeAll(async () => {
  crew = openCrew(oneCommit);
  await crew.start();
  await crew.begin(1);
});
afterAll(async () => {
  await crew.close();
  expect(crew.kills()).toBe(killPlan.points.usual);
});

test("the API answers what crew ps shows to a person", async () => {
  const { stdout } = await crew.signalbox("crew", "ps", "--json");
  expect(JSON.parse(stdout).agents).toMatchObject(await crew.ps());
});

test.each(interrupts)("a ticket is done once even if the daemon dies when %s", async (_, death) => {
  const id = `c-${++tickets}`;
  crew.writeTicket(id, `Brew ${id}`);
  crew.dieAt(death);
  await crew.wake(1);
  expect(await crew.died()).toBe(true);
  const merges = () => crew.git(...mergedTickets, "main").split("\n");
  // Even before recovery, the work of a closed ticket is in main.
  if (crew.isClosed(id)) expect(merges()).toContain(id);
  await crew.start();
  expect(await invariantProblems(crew)).toEqual([]);
  await expect.poll(() => crew.isClosed(id), { timeout: 60_000, interval: 20 }).toBe(true);
  await expect.poll(async () => (await crew.ps())[0]?.status, { timeout: 60_000, interval: 20 }).toBe("idle");
  expect(await invariantProblems(crew)).toEqual([]);
  expect(merges().filter((each) => each === id)).toEqual([id]);
  expect(crew.readTicket(id).match(/^Done by/gm)).toHaveLength(1);
  expect(crew.leftBeside()).toEqual([]);
  expect(crew.git("ls-tree", "-r", "--name-only", "main")).not.toContain("draft");
});
