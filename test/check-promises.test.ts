import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkPromises } from "../scripts/check-promises.ts";
import { root } from "./documents.ts";
import { createField, type Field } from "./promise-field.ts";

// The checker must reject falsified evidence: each test falsifies one thing of an honest history.

const history = "no transition is lost or doubled";
const ends = "every task ends or asks for a person";
const owners = "at most one agent owns a task";
const authors = "no artifact counts from the wrong author";
const merges = "done only if in the branch, and merged once";
const repositories = "repositories are whole";
const pulls = "a round has one comment, a task one pull request";
const forges = "what a forge has merged is in the remote's branch";
const work = "no work is lost";
const tickets = "a ticket is closed only if its work is in";
const order = "a ticket has one task, an agent one ticket, in the order of what they depend on";

const nobody = "1".repeat(40);
const indexOf = (field: Field, task: string, type: string) =>
  field.linesOf(task).findIndex(({ event }) => event?.type === type);
const storedOf = (field: Field, task: string) => field.linesOf(task)[0] ?? { kind: "" };
const change = (field: Field, task: string, type: string, data: object) =>
  Object.assign(field.eventOf(task, type).event.data, data);

const evidenceOf = (field: Field, task: string) => {
  const found = field.linesOf(task).findLast(({ event }) => event?.data.evidence !== undefined);
  return (found?.event?.data.evidence ?? []) as readonly object[];
};

/** Adds an event that a task of a pipeline has. */
const tell = (field: Field, type: string, data: Record<string, unknown> = {}) =>
  field.linesOf("t1").push({ kind: "event", event: { type, by: "engine", data, set: {} } });

const falsifications: readonly (readonly [what: string, promise: string, falsify: (field: Field) => unknown])[] = [
  ["an event is lost", history, (field) => field.linesOf("t1").splice(indexOf(field, "t1", "agent.ended"), 1)],
  ["an event is doubled", history, (field) => field.linesOf("t1").push(field.eventOf("t1", "task.settled"))],
  [
    "a task differs from its replayed history",
    history,
    (field) => Object.assign(storedOf(field, "t1").task ?? {}, { entry: 9 }),
  ],
  ["a move begins elsewhere", history, (field) => change(field, "t2", "task.moved", { from: "x" })],
  ["a position stands twice", history, (field) => Object.assign(field.linesOf("t2")[2] ?? {}, { position: 1 })],
  ["a task is left, and nobody is asked", ends, (field) => Object.assign(storedOf(field, "t2"), { isOpen: true })],
  ["something is still owed", ends, (field) => Object.assign(field.linesOf("t1")[1] ?? {}, { state: "owed" })],
  [
    "a task ends without its work",
    ends,
    (field) => field.linesOf("t2").splice(indexOf(field, "t2", "merge.landed"), 1),
  ],
  ["a run begins twice", owners, (field) => field.linesOf("t1").push(field.eventOf("t1", "agent.started"))],
  ["two agents met", owners, ({ notes }) => notes.push("double t1 worker#1 17")],
  [
    "two runs of a role live at the same time",
    owners,
    (field) =>
      Object.assign(field.eventOf("t1", "task.moved").event.set, {
        runs: { worker: { key: "worker#1" }, other: { key: "worker#2" } },
      }),
  ],
  ["a section counts as another's", authors, (field) => change(field, "t1", "document.changed", { run: "worker#9" })],
  [
    "the author of a section has another role",
    authors,
    (field) => Object.assign(evidenceOf(field, "t1")[0] ?? {}, { role: "reviewer" }),
  ],
  ["a merge is not there", merges, ({ git }) => git("reset", "--quiet", "--hard", "HEAD^")],
  ["nobody tells of a merge", merges, ({ linesOf }) => linesOf("t2").splice(0)],
  [
    "a task is merged twice",
    merges,
    ({ git }) => git("update-ref", "HEAD", git("commit-tree", "-m", "x", "-p", "HEAD", "-p", "HEAD^2", "HEAD^{tree}")),
  ],
  ["history tells of two merges", merges, (field) => field.linesOf("t1").push(field.eventOf("t1", "merge.landed"))],
  ["the branch was moved back", repositories, ({ git }) => git("reset", "--quiet", "--hard", "HEAD^")],
  [
    "a draft of a task file is in the branch",
    repositories,
    ({ git, repository }) => {
      writeFileSync(join(repository, "TASK.md.17-ab-before.draft"), "x");
      git("add", "TASK.md.17-ab-before.draft");
      git("commit", "-qm", "x");
    },
  ],
  ["a file is changed", repositories, ({ repository }) => writeFileSync(join(repository, "t1.txt"), "x")],
  [
    "an object is gone",
    repositories,
    ({ git, repository }) => {
      const blob = git("rev-parse", "HEAD:t1.txt");
      rmSync(join(repository, ".git/objects", blob.slice(0, 2), blob.slice(2)));
    },
  ],
  [
    "a task has two pull requests",
    pulls,
    (field) => {
      tell(field, "pr.opened");
      tell(field, "pr.opened");
    },
  ],
  ["a round has no comment", pulls, (field) => tell(field, "finding.reviewed", { round: 1 })],
  [
    "a round has two comments",
    pulls,
    (field) => {
      tell(field, "finding.reviewed", { round: 1 });
      tell(field, "pr.commented", { round: 1 });
      tell(field, "pr.commented", { round: 1 });
    },
  ],
  [
    "the forge has a second comment",
    pulls,
    (field) => {
      tell(field, "finding.reviewed", { round: 1 });
      tell(field, "pr.commented", { round: 1 });
      const head = String(storedOf(field, "t1").task?.branch);
      const comments = [{ pull: 1 }, { pull: 1 }];
      field.forge = { remote: field.repository, pulls: [{ number: 1, head, isMerged: true }], comments };
    },
  ],
  [
    "a task is done, and the forge has not merged it",
    forges,
    (field) => {
      field.linesOf("t1").push({ kind: "effect", id: 99, state: "done", effect: { action: "merge_pr" } });
      field.forge = { remote: field.repository, pulls: [], comments: [] };
    },
  ],
  ["a commit is lost", work, ({ notes }) => notes.push(`commit t1 ${nobody}`)],
  ["what was never committed is lost", work, ({ notes }) => notes.push(`content t1 ${nobody}`)],
  [
    "a commit of a done task is not in the branch",
    work,
    ({ git, notes }) => {
      git("update-ref", "refs/heads/left", git("commit-tree", "-m", "left", "HEAD^{tree}"));
      notes.push(`commit t1 ${git("rev-parse", "left")}`);
    },
  ],
  ["a ticket is closed by hand", tickets, ({ ticket }) => ticket("c-3", (text) => text.replace("open", "closed"))],
  ["a ticket is left open", tickets, ({ ticket }) => ticket("c-1", (text) => text.replace("closed", "open"))],
  [
    "a ticket is closed twice",
    tickets,
    ({ ticket }) => ticket("c-1", (text) => text + text.slice(text.indexOf("\nDone by"))),
  ],
  [
    "it names another merge",
    tickets,
    ({ ticket }) => ticket("c-1", (text) => text.replace(/with \w+/, `with ${nobody}`)),
  ],
  ["more of it is changed", tickets, ({ ticket }) => ticket("c-1", (text) => text.replace("Cup", "Pot"))],
  [
    "two tasks for a ticket",
    order,
    (field) => {
      Object.assign(storedOf(field, "t2").task ?? {}, { ticket: "c-1" });
      Object.assign(field.linesOf("t2")[2] ?? {}, { position: 2 });
    },
  ],
  ["two tickets for an agent", order, (field) => Object.assign(field.linesOf("t2")[2] ?? {}, { position: 2 })],
  ["one begins too early", order, ({ ticket }) => ticket("c-1", (text) => text.replace("deps: []", "deps: [c-2]"))],
];

test("an honest history breaks no promise", () => {
  expect(brokenIn(createField())).toEqual([]);
});

test("the checker shares no code with what it checks", () => {
  const folder = join(root, "scripts/promises");
  const files = [join(root, "scripts/check-promises.ts"), ...readdirSync(folder).map((name) => join(folder, name))];
  const imported = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/from "([^"]+)"/g)].map(([, of]) => of),
  );
  expect(imported.filter((name) => !/^(node:\w+|\.\/[\w/-]+\.ts)$/.test(name ?? ""))).toEqual([]);
});

test.each(falsifications)("the checker notices that %s", (_, promise, falsify) => {
  const field = createField();
  falsify(field);
  expect(brokenIn(field, promise)).not.toEqual([]);
});

function brokenIn(field: Field, only?: string): readonly string[] {
  return [...checkPromises(field.write(), only).values()].flat();
}
