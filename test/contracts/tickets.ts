import { describe, expect, test } from "vitest";
import type { Tickets } from "../../src/ports/tickets.ts";
import { readyTickets } from "../../src/tickets/ready-tickets.ts";

export interface TicketsStage {
  readonly tickets: Tickets;
  /** As a person or `tk` would do it. */
  write(file: string, text: string): void;
  read(file: string): string;
  /** All names, also those of drafts. */
  files(): readonly string[];
}

/** A source of tickets under test. */
export interface SourceStage {
  readonly tickets: Tickets;
  /** As a person would do it. */
  add(ticket: AddedTicket): void | Promise<void>;
  /** The notes of a ticket, the oldest first. */
  notesOf(id: string): readonly string[];
}

export interface AddedTicket {
  readonly id: string;
  readonly title: string;
  readonly status?: "open" | "closed";
  readonly deps?: readonly string[];
  readonly priority?: number;
  readonly text?: string;
}

/** The contract of every source of tickets: files, and issues of a forge. */
export function sourceContract(name: string, newStage: () => SourceStage): void {
  describe(`a source of tickets: ${name}`, () => {
    test("an empty source has no tickets, and listing it changes nothing", async () => {
      const { tickets } = newStage();
      expect(await tickets.list()).toEqual({ tickets: [], broken: [] });
      expect(await tickets.get("1")).toBeUndefined();
      await expect(tickets.change("1", { status: "closed" })).rejects.toMatchObject({ code: "ticket.missing" });
    });

    test("tickets are listed by id, with their content", async () => {
      const { tickets, add } = newStage();
      await add({ id: "3", title: "Pour", deps: ["1", "2"], priority: 0, text: "Into a cup." });
      await add({ id: "1", title: "Grind", status: "closed" });
      await add({ id: "2", title: "Brew", deps: ["1"] });
      const { tickets: found, broken } = await tickets.list();
      expect(broken).toEqual([]);
      expect(found.map(({ id, status, title, deps, priority }) => [id, status, title, deps, priority])).toEqual([
        ["1", "closed", "Grind", [], 2],
        ["2", "open", "Brew", ["1"], 2],
        ["3", "open", "Pour", ["1", "2"], 0],
      ]);
      expect(found[2]?.body).toContain("Into a cup.");
      expect(readyTickets(found).map(({ id }) => id)).toEqual(["2"]);
      expect(await tickets.get("3")).toEqual(found[2]);
    });

    test("closing a ticket with a note is idempotent", async () => {
      const { tickets, add, notesOf } = newStage();
      await add({ id: "1", title: "Grind" });
      await add({ id: "2", title: "Brew", deps: ["1"] });
      for (const time of [at, "2026-02-03T05:00:00Z"]) {
        const changed = await tickets.change("1", { status: "closed", note: { text: "Done by t1.", at: time } });
        expect(changed.status).toBe("closed");
      }
      expect(notesOf("1")).toEqual(["Done by t1."]);
      expect(notesOf("2")).toEqual([]);
      expect(readyTickets((await tickets.list()).tickets).map(({ id }) => id)).toEqual(["2"]);
    });

    test("a ticket can be begun, reopened and closed, and only its status changes", async () => {
      const { tickets, add } = newStage();
      await add({ id: "1", title: "Grind", priority: 1, text: "Fine." });
      const before = await tickets.get("1");
      for (const status of ["in_progress", "open", "closed", "in_progress", "closed", "open"]) {
        const { status: now, title, priority } = await tickets.change("1", { status });
        expect([now, title, priority]).toEqual([status, "Grind", 1]);
      }
      expect(await tickets.get("1")).toEqual(before);
    });

    test("an id is only a name and cannot lead to another file", async () => {
      const { tickets, add } = newStage();
      await add({ id: "1", title: "Grind" });
      for (const id of ["", ".", "..", "./1", "../1", "1/..", "1\0", "1?x", "/etc/passwd", "9".repeat(200)]) {
        expect(await tickets.get(id)).toBeUndefined();
        await expect(tickets.change(id, { status: "closed" })).rejects.toMatchObject({ code: "ticket.missing" });
      }
    });
  });
}

const open = "\ufeff---\r\nid: c-1\r\nstatus: open # now\r\nmood: good\r\n---\r\n# Brew\r\n";
const at = "2026-02-03T04:05:06Z";

/** The contract of every source that keeps tickets in files. */
export function ticketsContract(name: string, newStage: () => TicketsStage): void {
  describe(`tickets: ${name}`, () => {
    test("tickets are listed by id, broken files by name, and other files not at all", async () => {
      const { tickets, write } = newStage();
      write("c-2.md", "---\nid: c-2\nstatus: closed\n---\n# Grind\n");
      write("c-1.md", open);
      write("c-10.md", "# No fields");
      write("c 3.md", "---\nstatus: open\n---\n");
      write("c-4.txt", "---\nstatus: open\n---\n");
      write(".c-5.md.1.draft", open);
      const { tickets: found, broken } = await tickets.list();
      expect(found.map(({ id, status, title }) => [id, status, title])).toEqual([
        ["c-1", "open", "Brew"],
        ["c-2", "closed", "Grind"],
      ]);
      expect(broken.map(({ file }) => file)).toEqual(["c 3.md", "c-10.md"]);
      expect(await tickets.get("c-2")).toEqual(found[1]);
    });

    test("a change changes nothing else, and is visible immediately", async () => {
      const { tickets, write, read, files } = newStage();
      write("c-1.md", open);
      const changed = await tickets.change("c-1", { status: "closed", note: { text: "Done by t1.", at } });
      expect(changed.status).toBe("closed");
      const text = `${open.replace("open #", "closed #")}\r\n## Notes\r\n\r\n**${at}**\r\n\r\nDone by t1.\r\n`;
      expect(read("c-1.md")).toBe(text);
      expect(await tickets.get("c-1")).toEqual(changed);
      expect(files()).toEqual(["c-1.md"]);
      // A killed caller repeats the change.
      await tickets.change("c-1", { status: "closed", note: { text: "Done by t1.", at: "later" } });
      expect(read("c-1.md")).toBe(text);
    });

    test("a broken file is never written", async () => {
      const { tickets, write, read } = newStage();
      for (const text of ["# No fields", "---\nid: c-2\nstatus: open\n---\n", ""]) {
        write("c-1.md", text);
        await expect(tickets.change("c-1", { status: "closed" })).rejects.toMatchObject({ code: "ticket.broken" });
        await expect(tickets.get("c-1")).rejects.toMatchObject({ code: "ticket.broken" });
        expect(read("c-1.md")).toBe(text);
      }
    });
  });
}
