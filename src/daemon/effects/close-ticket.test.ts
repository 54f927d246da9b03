import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../adapters/store/memory.ts";
import { blankIdentity, type Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Kept, Merge, PullRequestRecord } from "../../ports/records.ts";
import { createScriptedClock } from "../../testing/scripted-clock.ts";
import { createScriptedTickets } from "../../testing/scripted-tickets.ts";
import { closeTicket } from "./close-ticket.ts";

const open = "---\nid: c-1\nstatus: open\n---\n# Brew\n";
const note = (commit: string) =>
  `\n## Notes\n\n**1970-01-01T00:16:40Z**\n\nDone by coffee#3 (t1), merged into main with ${commit}.\n`;

async function stage(
  merge: Partial<Pick<Merge, "state" | "target" | "after">> | undefined,
  pull?: Partial<PullRequestRecord>,
) {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("t1"));
  const kept = { id: "t1", project: "coffee", task: "t1", at: 0 };
  if (merge !== undefined) await store.merges.put({ ...kept, ...merged, ...merge });
  if (pull !== undefined) await store.pullRequests.put({ ...kept, ...pull } as PullRequestRecord);
  const tickets = createScriptedTickets();
  tickets.files.set("c-1.md", open);
  const perform = closeTicket({ store, clock: createScriptedClock(1_000_000), ticketsOf: () => tickets });
  const task = { ...blankIdentity, id: "t1", project: "coffee", number: 3, ticket: "c-1" } as Task;
  const close = (given: Partial<Task> = {}) =>
    perform({ action: "close_ticket", params: {} }, { task: { ...task, ...given }, key: "t1:1" });
  return { tickets, close, text: () => tickets.files.get("c-1.md") };
}

const merged: Omit<Merge, keyof Kept> = {
  ...{ target: "main", strategy: "merge", to: "", by: "engine", state: "merged", reason: "", files: [] },
  ...{ commit: "aaa", before: "bbb", after: "ccc", endedAt: 1 },
};

test("closes the ticket of work that is in the default branch, and names task and commit there", async () => {
  const { close, text } = await stage({});
  await close();
  expect(text()).toBe(open.replace("open", "closed") + note("ccc"));
});

test("of work that was in the branch before, or that a forge has merged, it names the commit that is known", async () => {
  const inBefore = await stage({ after: "" });
  await inBefore.close();
  expect(inBefore.text()).toContain(note("aaa"));
  const onForge = await stage(undefined, { state: "merged", base: "main", mergedCommit: "ddd", headCommit: "eee" });
  await onForge.close();
  expect(onForge.text()).toContain(note("ddd"));
});

test.each([
  ["was never merged", undefined, undefined],
  ["is still in the line", { state: "lined-up" }, undefined],
  ["conflicts", { state: "conflict" }, undefined],
  ["was taken back", { state: "undone" }, undefined],
  ["went into another branch", { target: "release" }, undefined],
  ["is in a pull request that is open", undefined, { state: "open", base: "main" }],
  ["was merged into another branch by the forge", undefined, { state: "merged", base: "release" }],
] as const)("a ticket stays as it is while the work %s", async (_, merge, pull) => {
  const { close, text, tickets } = await stage(merge, pull);
  await expect(close()).rejects.toMatchObject({ code: "ticket.unmerged", retry: "never" });
  expect([text(), tickets.writes()]).toEqual([open, 0]);
});

test("carried out twice, it writes once; and what somebody has closed meanwhile stays as they left it", async () => {
  const { close, text, tickets } = await stage({});
  await close();
  const once = text();
  await close();
  expect([text(), tickets.writes()]).toEqual([once, 1]);
  const theirs = open.replace("open", "closed");
  tickets.files.set("c-1.md", theirs);
  await close();
  expect(text()).toBe(theirs);
});

test("a task without a ticket has none to close, also one that an older version has stored", async () => {
  const { close, tickets } = await stage(undefined);
  await close({ ticket: "" });
  await close({ ticket: undefined } as unknown as Partial<Task>);
  expect(tickets.writes()).toBe(0);
});

test("a ticket that is gone or broken is told, and a disk that is full may have room later", async () => {
  const { close, tickets } = await stage({});
  tickets.failWith(new Fault("ticket.unreachable", "Full.", { retry: "later" }));
  await expect(close()).rejects.toMatchObject({ retry: "later" });
  tickets.files.set("c-1.md", "# Nothing");
  await expect(close()).rejects.toMatchObject({ code: "ticket.broken" });
  tickets.files.delete("c-1.md");
  await expect(close()).rejects.toMatchObject({ code: "ticket.missing" });
});
