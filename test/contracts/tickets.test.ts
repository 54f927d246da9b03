import fs, {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createGithubClient } from "../../src/adapters/github/client.ts";
import { githubTickets } from "../../src/adapters/github/issues.ts";
import { httpTransport } from "../../src/adapters/github/transport.ts";
import { ticketFiles } from "../../src/adapters/ticket-files.ts";
import { blockersOf } from "../../src/tickets/ready-tickets.ts";
import type { Ticket } from "../../src/tickets/ticket.ts";
import { recordSyncs } from "../record-syncs.ts";
import { removeFolder } from "../remove-folder.ts";
import { startScriptedGithub } from "../scripted-github/server.ts";
import { createScriptedTickets } from "../scripted-ports.ts";
import { type SourceStage, sourceContract, type TicketsStage, ticketsContract } from "./tickets.ts";

const place = mkdtempSync(join(tmpdir(), "signalbox-tickets-"));
afterAll(() => removeFolder(place));
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

function inMemory(): TicketsStage {
  const tickets = createScriptedTickets();
  return {
    tickets,
    write: (file, text) => void tickets.files.set(file, text),
    read: (file) => tickets.files.get(file) ?? "",
    files: () => [...tickets.files.keys()],
  };
}

/** Tickets as files, in the format of `tk`. */
function asFiles({ tickets, write, read }: TicketsStage): SourceStage {
  return {
    tickets,
    add({ id, title, status = "open", deps = [], priority = 2, text = "" }) {
      const fields = `id: ${id}\nstatus: ${status}\ndeps: [${deps.join(", ")}]\npriority: ${priority}`;
      write(`${id}.md`, `---\n${fields}\n---\n# ${title}\n\n${text}\n`);
    },
    notesOf: (id) => [...read(`${id}.md`).matchAll(/^\*\*\S+\*\*\n\n(.*)$/gm)].map(([, note = ""]) => note),
  };
}

const token = "secret";
const github = await startScriptedGithub({ token });
afterAll(() => github.close());

function onGithub(): SourceStage {
  github.state.issues.length = 0;
  github.state.comments.length = 0;
  const client = createGithubClient(httpTransport({ apiUrl: github.url, token }), Date.now);
  return {
    tickets: githubTickets(client, { host: "github.com", owner: "acme", name: "coffee" }, "ready"),
    add({ id, title, status = "open", deps = [], priority, text = "" }) {
      const waits = deps.length === 0 ? "" : `\n\nBlocked by ${deps.map((dep) => `#${dep}`).join(", ")}`;
      const labels = ["ready", ...(priority === undefined ? [] : [`P${priority}`])];
      github.state.issues.push({ number: Number(id), title, state: status, body: text + waits || null, labels });
    },
    notesOf: (id) =>
      github.state.comments
        .filter(({ pull }) => pull === Number(id))
        .map(({ body }) => body.replace(/\n\n<!-- .* -->$/, "")),
  };
}

ticketsContract("files", onDisk);
ticketsContract("scripted", inMemory);
sourceContract("files", () => asFiles(onDisk()));
sourceContract("scripted", () => asFiles(inMemory()));
sourceContract("issues of GitHub", onGithub);

test("an issue without the label, or a pull request, is not a ticket; but as a dependency its being closed counts", async () => {
  const { tickets, add } = onGithub();
  await add({ id: "4", title: "Pour", deps: ["5", "6", "99"] });
  const other = { title: "Milk", body: null, labels: ["bug"] };
  github.state.issues.push({ ...other, number: 5, state: "closed" }, { ...other, number: 6, state: "open" });
  const { tickets: found } = await tickets.list();
  expect(found.map(({ id, status }) => [id, status])).toEqual([
    ["4", "open"],
    ["5", "closed"],
  ]);
  expect(blockersOf(found[0] as Ticket, found)).toEqual(["6", "99"]);
});

test("an issue that was begun can be closed even if its label is gone", async () => {
  const { tickets, add } = onGithub();
  await add({ id: "4", title: "Pour" });
  for (const issue of github.state.issues) issue.labels = [];
  expect((await tickets.list()).tickets).toEqual([]);
  expect((await tickets.change("4", { status: "closed" })).status).toBe("closed");
});

test("if GitHub cannot be reached nothing is closed, and the fault says to retry later", async () => {
  const { tickets, add } = onGithub();
  await add({ id: "4", title: "Pour" });
  github.failNext({ kind: "answer", on: /^PATCH/, status: 502, message: "Bad gateway" });
  const closing = { status: "closed", note: { text: "Done.", at: "now" } };
  await expect(tickets.change("4", closing)).rejects.toMatchObject({ retry: "later" });
  expect((await tickets.get("4"))?.status).toBe("open");
  await tickets.change("4", closing);
  expect(github.state.comments).toHaveLength(1);
});

const named = (id: string) => open.replace("c-1", id);
const open = "---\nid: c-1\nstatus: open\n---\n# Brew\n";

test("a file's name forges no line, and the reason why it is not read is its own", async () => {
  const { tickets, write } = onDisk();
  write("a\nnot read: nothing.md", named("a"));
  write(`${"g".repeat(200)}.md`, named("g"));
  const { broken } = await tickets.list();
  expect(broken).toEqual([
    { file: "a not read: nothing.md", problem: expect.stringContaining("may contain only letters") },
    { file: expect.stringContaining("ggg"), problem: "Its name has more than 100 characters." },
  ]);
});

test("links are not followed: a linked file is broken, and a linked folder is refused", async () => {
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

test("a file that is not text or too large, or a folder, is reported by its name", async () => {
  const { folder, tickets, write } = onDisk();
  write("c-1.md", open);
  writeFileSync(join(folder, "bytes.md"), Buffer.concat([Buffer.from(named("bytes")), Buffer.from([0xff, 0xfe])]));
  writeFileSync(join(folder, "huge.md"), named("huge") + "x".repeat(1024 * 1024));
  mkdirSync(join(folder, "folder.md"));
  const { tickets: found, broken } = await tickets.list();
  expect(found.map(({ id }) => id)).toEqual(["c-1"]);
  expect(broken.map(({ file }) => file)).toEqual(["bytes.md", "folder.md", "huge.md"]);
});

test("permissions stay, and an unchanged file is not written", async () => {
  const { folder, tickets, write } = onDisk();
  write("c-1.md", open);
  const file = join(folder, "c-1.md");
  const before = statSync(file).ino;
  await tickets.change("c-1", { status: "open" });
  expect(statSync(file).ino).toBe(before);
  // Including modes that a new file would not get.
  for (const [mode, status] of [
    [0o640, "closed"],
    [0o666, "open"],
  ] as const) {
    chmodSync(file, mode);
    await tickets.change("c-1", { status });
    expect(statSync(file).mode & 0o777).toBe(mode);
  }
});

test("the next change removes drafts of a killed process, unless they contain text found nowhere else", async () => {
  const { tickets, write, files, read } = onDisk();
  // No process has this pid.
  const left = (of: string, old = "") => `${of}.md.4194999-0badcafe${old}.draft`;
  write("c-1.md", open.replace("open", "closed"));
  write(left("c-1"), "half of it");
  write(left("c-1", "-before"), open);
  write(left("c-2"), "of another one");
  write(`c-1.md.${process.ppid}-0badcafe.draft`, "somebody is at it");
  await tickets.change("c-1", { status: "closed" });
  expect(files().toSorted()).toEqual([`c-1.md.${process.ppid}-0badcafe.draft`, left("c-2"), "c-1.md"].toSorted());
  write(left("c-1", "-before"), `${open}Words that nobody else has.\n`);
  await tickets.change("c-1", { status: "open" });
  expect(read(left("c-1", "-before"))).toContain("Words");
});

test("a closed ticket is durable: the file and its folder are fsynced", async () => {
  const { tickets, write, folder } = onDisk();
  write("c-1.md", open);
  const syncs = await recordSyncs();
  await tickets.change("c-1", { status: "closed" });
  expect([syncs.has(join(folder, "c-1.md")), syncs.has(folder)]).toEqual([true, true]);
});

/** Writes into a file each time another file is about to replace it, this many times. */
function writeIntoReplaced(times: number): void {
  const { renameSync: rename } = fs;
  let left = times;
  fs.renameSync = (from, to) => {
    if (!String(from).endsWith("-before.draft") && left-- > 0) appendFileSync(to, `Words ${left}.\n`);
    rename(from, to);
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.renameSync = rename;
    syncBuiltinESMExports();
  });
}

test("text that another program writes during a change is kept, together with the change", async () => {
  const { tickets, write, read, files } = onDisk();
  write("c-1.md", open);
  writeIntoReplaced(1);
  await tickets.change("c-1", { status: "closed" });
  expect(read("c-1.md")).toBe(`${open.replace("open", "closed")}Words 0.\n`);
  expect(files()).toEqual(["c-1.md"]);
});

test("a ticket that another program keeps writing is left alone, and the fault says to retry later", async () => {
  const { tickets, write, read } = onDisk();
  write("c-1.md", open);
  // The change gives up after a limited number of attempts.
  writeIntoReplaced(100);
  await expect(tickets.change("c-1", { status: "closed" })).rejects.toMatchObject({
    code: "ticket.changing",
    retry: "later",
  });
  expect(read("c-1.md")).toContain("status: open");
});

test("many concurrent changes are all kept", async () => {
  const { tickets, write, read, files } = onDisk();
  write("c-1.md", open);
  const notes = Array.from({ length: 4 }, (_, index) => `Note ${index}.`);
  await Promise.all(notes.map((text) => tickets.change("c-1", { note: { text, at: "now" } })));
  for (const note of notes) expect(read("c-1.md")).toContain(`\n${note}\n`);
  expect(files()).toEqual(["c-1.md"]);
});
