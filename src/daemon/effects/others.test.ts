import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { createScriptedClock, createScriptedTickets } from "../../../test/scripted-ports.ts";
import { blankIdentity, type Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Kept, Merge, PullRequestRecord } from "../../ports/records.ts";
import { closeTicket } from "./others.ts";

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

test("the ticket is closed when the work is in the default branch, with a note that names task and commit", async () => {
  const { close, text } = await stage({});
  await close();
  expect(text()).toBe(open.replace("open", "closed") + note("ccc"));
});

test("for work that was merged before or by a forge, the note names the known commit", async () => {
  const inBefore = await stage({ after: "" });
  await inBefore.close();
  expect(inBefore.text()).toContain(note("aaa"));
  const onForge = await stage(undefined, { state: "merged", base: "main", mergedCommit: "ddd", headCommit: "eee" });
  await onForge.close();
  expect(onForge.text()).toContain(note("ddd"));
});

test.each([
  ["was never merged", undefined, undefined],
  ["is still in the merge queue", { state: "lined-up" }, undefined],
  ["conflicts", { state: "conflict" }, undefined],
  ["was reverted", { state: "undone" }, undefined],
  ["went into another branch", { target: "release" }, undefined],
  ["is in a pull request that is open", undefined, { state: "open", base: "main" }],
  ["was merged into another branch by the forge", undefined, { state: "merged", base: "release" }],
] as const)("a ticket is not changed while the work %s", async (_, merge, pull) => {
  const { close, text, tickets } = await stage(merge, pull);
  await expect(close()).rejects.toMatchObject({ code: "ticket.unmerged", retry: "never" });
  expect([text(), tickets.writes()]).toEqual([open, 0]);
});

test("closing is idempotent, and a ticket that a person has closed meanwhile is not changed", async () => {
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

test("a task without a ticket has none to close, even if an older version has stored it", async () => {
  const { close, tickets } = await stage(undefined);
  await close({ ticket: "" });
  await close({ ticket: undefined } as unknown as Partial<Task>);
  expect(tickets.writes()).toBe(0);
});

test("a missing or broken ticket is reported, and a full disk is retried", async () => {
  const { close, tickets } = await stage({});
  tickets.failWith(new Fault("ticket.unreachable", "Full.", { retry: "later" }));
  await expect(close()).rejects.toMatchObject({ retry: "later" });
  tickets.files.set("c-1.md", "# Nothing");
  await expect(close()).rejects.toMatchObject({ code: "ticket.broken" });
  tickets.files.delete("c-1.md");
  await expect(close()).rejects.toMatchObject({ code: "ticket.missing" });
});
