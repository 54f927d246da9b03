import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ticketFiles } from "../../src/adapters/ticket-files.ts";
import { startGitCore } from "./git-core.ts";

const flow = `
version: 1
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: landing }
  landing: { do: [{ action: merge, strategy: no-ff }], next: done }
  done: { terminal: true, outcome: done }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: landing, to: done, by: engine, hooks: [release_workspace, delete_branch, close_ticket] }
  - { from: any, to: done, by: human, hooks: [release_workspace, close_ticket] }
`;
const ticket = (id: string) => `---\nid: ${id}\nstatus: open\n---\n# Brew ${id}\n`;

test("a ticket is closed in the checkout when its work is merged, and no later merge waits for that", async () => {
  const files = Object.fromEntries(["c-1", "c-2", "c-3"].map((id) => [`.tickets/${id}.md`, ticket(id)]));
  const { create, move, goOn, until, git, repository, store, complaints } = await startGitCore({
    name: "tickets",
    flow,
    files,
    ports: { ticketsOf: ({ path }) => ticketFiles(join(path, ".tickets")) },
  });
  const read = (id: string) => readFileSync(join(repository, ".tickets", `${id}.md`), "utf8");
  const work = async (id: string, of: string, write: (workspace: string) => void) => {
    await create(id, { ticket: of });
    const { workspace } = await move(id, "busy");
    write(workspace);
    git(workspace, "add", "-A");
    git(workspace, "commit", "-qm", id);
    expect(read(of)).toBe(ticket(of));
    return id;
  };
  const land = async (id: string) => {
    await goOn(id);
    await until(id, ({ isOpen }) => !isOpen);
    return git(repository, "rev-parse", "main");
  };

  await work("b1111", "c-1", (workspace) => writeFileSync(join(workspace, "cup.md"), "full\n"));
  const first = await land("b1111");
  const note = new RegExp(`\\n\\nDone by coffee#1 \\(b1111\\), merged into main with ${first}\\.\\n$`);
  expect(read("c-1")).toMatch(/^---\nid: c-1\nstatus: closed\n---\n# Brew c-1\n\n## Notes\n/);
  expect(read("c-1")).toMatch(note);
  expect(git(repository, "log", "-1", "--format=%B")).toContain("Task: coffee#1 (b1111)\nTicket: c-1");
  expect(git(repository, "status", "--porcelain")).toBe("M .tickets/c-1.md");

  // Its agent has closed the ticket itself, as agents with tk do: then it is committed, and nothing is left to do.
  const byAgent = ticket("c-2").replace("open", "closed");
  await work("b2222", "c-2", (workspace) => writeFileSync(join(workspace, ".tickets/c-2.md"), byAgent));
  await land("b2222");
  expect(read("c-2")).toBe(byAgent);
  expect(git(repository, "status", "--porcelain")).toBe("M .tickets/c-1.md");

  // A person ends the task without a merge: the ticket stays, and the history says why.
  await work("b3333", "c-3", (workspace) => writeFileSync(join(workspace, "cup.md"), "empty\n"));
  await move("b3333", "done");
  await until("b3333", ({ isOpen }) => !isOpen);
  expect(read("c-3")).toBe(ticket("c-3"));
  const events = await store.listEvents({ task: "b3333" }, 0, 100);
  const failed = events.find(({ event }) => event.type === "effect.failed")?.event;
  expect(failed?.data).toMatchObject({ action: "close_ticket", reason: expect.stringContaining("is not in main") });
  expect(complaints).toEqual([]);
});
