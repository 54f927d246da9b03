import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ticketFiles } from "../../src/adapters/tickets/ticket-files.ts";
import { createScriptedTickets } from "../../src/testing/scripted-tickets.ts";
import { type TicketsStage, ticketsContract } from "./tickets.ts";

const place = mkdtempSync(join(tmpdir(), "signalbox-tickets-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));
let count = 0;

function onDisk(): TicketsStage & { readonly folder: string } {
  const folder = join(place, String(++count), ".tickets");
  return {
    folder,
    tickets: ticketFiles(folder),
    write(file, text) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, file), text);
    },
    read: (file) => readFileSync(join(folder, file), "utf8"),
    files: () => readdirSync(folder),
  };
}

ticketsContract("files", onDisk);
ticketsContract("scripted", () => {
  const tickets = createScriptedTickets();
  return {
    tickets,
    write: (file, text) => void tickets.files.set(file, text),
    read: (file) => tickets.files.get(file) ?? "",
    files: () => [...tickets.files.keys()],
  };
});

const named = (id: string) => open.replace("c-1", id);
const open = "---\nid: c-1\nstatus: open\n---\n# Brew\n";

test("links are not followed: a file that is one is broken, and a folder that is one is refused", async () => {
  const { folder, tickets, write } = onDisk();
  write("c-2.md", named("c-2"));
  const elsewhere = join(place, "elsewhere");
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, "c-1.md"), open);
  symlinkSync(join(elsewhere, "c-1.md"), join(folder, "c-1.md"));
  const { tickets: found, broken } = await tickets.list();
  expect(found.map(({ id }) => id)).toEqual(["c-2"]);
  expect(broken).toEqual([{ file: "c-1.md", problem: expect.stringContaining("link") }]);
  await expect(tickets.change("c-1", { status: "closed" })).rejects.toMatchObject({ code: "ticket.broken" });

  renameSync(folder, `${folder}-before`);
  symlinkSync(elsewhere, folder);
  await expect(tickets.list()).rejects.toMatchObject({ code: "ticket.link" });
  await expect(tickets.change("c-1", { status: "closed" })).rejects.toMatchObject({ code: "ticket.link" });
  expect(readFileSync(join(elsewhere, "c-1.md"), "utf8")).toBe(open);
});

test("what is no text, too large, or a folder is told by its name", async () => {
  const { folder, tickets, write } = onDisk();
  write("c-1.md", open);
  writeFileSync(join(folder, "bytes.md"), Buffer.concat([Buffer.from(named("bytes")), Buffer.from([0xff, 0xfe])]));
  writeFileSync(join(folder, "huge.md"), named("huge") + "x".repeat(1024 * 1024));
  mkdirSync(join(folder, "folder.md"));
  const { tickets: found, broken } = await tickets.list();
  expect(found.map(({ id }) => id)).toEqual(["c-1"]);
  expect(broken.map(({ file }) => file)).toEqual(["bytes.md", "folder.md", "huge.md"]);
});

test("permissions stay, and what does not change is not written", async () => {
  const { folder, tickets, write } = onDisk();
  write("c-1.md", open);
  const file = join(folder, "c-1.md");
  chmodSync(file, 0o640);
  const before = statSync(file).ino;
  await tickets.change("c-1", { status: "open" });
  expect(statSync(file).ino).toBe(before);
  await tickets.change("c-1", { status: "closed" });
  expect(statSync(file).mode & 0o777).toBe(0o640);
});

test("what somebody left who was killed while changing a ticket goes with the next change, unless it has words of its own", async () => {
  const { tickets, write, files, read } = onDisk();
  // No process has a number like this.
  const left = (of: string, ending: string) => `.${of}.md.4194999-0badcafe.draft${ending}`;
  write("c-1.md", open.replace("open", "closed"));
  write(left("c-1", ""), "half of it");
  write(left("c-1", ".before"), open);
  write(left("c-2", ""), "of another one");
  write(`.c-1.md.${process.ppid}-0badcafe.draft`, "somebody is at it");
  await tickets.change("c-1", { status: "closed" });
  expect(files().toSorted()).toEqual([`.c-1.md.${process.ppid}-0badcafe.draft`, left("c-2", ""), "c-1.md"].toSorted());
  write(left("c-1", ".before"), `${open}Words that nobody else has.\n`);
  await tickets.change("c-1", { status: "open" });
  expect(read(left("c-1", ".before"))).toContain("Words");
});

test("of many changes at once none is lost", async () => {
  const { tickets, write, read, files } = onDisk();
  write("c-1.md", open);
  const notes = Array.from({ length: 4 }, (_, index) => `Note ${index}.`);
  await Promise.all(notes.map((text) => tickets.change("c-1", { note: { text, at: "now" } })));
  for (const note of notes) expect(read("c-1.md")).toContain(`\n${note}\n`);
  expect(files()).toEqual(["c-1.md"]);
});
