import { describe, expect, test } from "vitest";
import type { Tickets } from "../../src/ports/tickets.ts";

export interface TicketsStage {
  readonly tickets: Tickets;
  /** As a person or `tk` would do it. */
  write(file: string, text: string): void;
  read(file: string): string;
  /** All names, also those of drafts. */
  files(): readonly string[];
}

const open = "\ufeff---\r\nid: c-1\r\nstatus: open # now\r\nmood: good\r\n---\r\n# Brew\r\n";
const at = "2026-02-03T04:05:06Z";

/** What everything that keeps tickets does. */
export function ticketsContract(name: string, newStage: () => TicketsStage): void {
  describe(`tickets: ${name}`, () => {
    test("where there is nothing, there are no tickets", async () => {
      const { tickets } = newStage();
      expect(await tickets.list()).toEqual({ tickets: [], broken: [] });
      expect(await tickets.get("c-1")).toBeUndefined();
      await expect(tickets.change("c-1", { status: "closed" })).rejects.toMatchObject({ code: "ticket.missing" });
    });

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

    test("a change changes what it says and nothing else, and is there at once", async () => {
      const { tickets, write, read, files } = newStage();
      write("c-1.md", open);
      const changed = await tickets.change("c-1", { status: "closed", note: { text: "Done by t1.", at } });
      expect(changed.status).toBe("closed");
      const text = `${open.replace("open #", "closed #")}\r\n## Notes\r\n\r\n**${at}**\r\n\r\nDone by t1.\r\n`;
      expect(read("c-1.md")).toBe(text);
      expect(await tickets.get("c-1")).toEqual(changed);
      expect(files()).toEqual(["c-1.md"]);
      // Whoever was killed in between does it again.
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

    test("an id is a name and leads nowhere else", async () => {
      const { tickets, write } = newStage();
      write("c-1.md", open);
      for (const id of ["", ".", "..", "./c-1", "../c-1", "c-1.md/..", "c-1\0", "/etc/passwd", "C-1x".repeat(100)]) {
        expect(await tickets.get(id)).toBeUndefined();
        await expect(tickets.change(id, { status: "closed" })).rejects.toMatchObject({ code: "ticket.missing" });
      }
    });
  });
}
