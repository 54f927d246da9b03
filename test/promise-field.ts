import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { removeFolder } from "./remove-folder.ts";

/** A line of an exported history: the task, an effect, or an event. */
export interface Line {
  kind: string;
  task?: Record<string, unknown>;
  event?: { type: string; by: string; data: Record<string, unknown>; set: Record<string, unknown> };
  [key: string]: unknown;
}

/** The evidence of an honest daemon, to be falsified: two tickets are done, and one has not begun. */
export interface Field {
  readonly repository: string;
  readonly control: string;
  readonly notes: string[];
  /** What the forge has; undefined where there is none. */
  forge: object | undefined;
  git(...args: readonly string[]): string;
  linesOf(task: string): Line[];
  /** The first event of this type. */
  eventOf(task: string, type: string): Line & Required<Pick<Line, "event">>;
  ticket(id: string, change: (text: string) => string): void;
  /** Writes all files, and returns their places. */
  write(): {
    readonly repository: string;
    readonly control: string;
    readonly histories: string;
    readonly notes: string;
  };
}

let original: Original | undefined;

interface Original {
  readonly folder: string;
  readonly landings: readonly Readonly<Record<"before" | "commit" | "after", string>>[];
  readonly blob: string;
}

export function createField(): Field {
  original ??= makeRepositories();
  const folder = mkdtempSync(join(tmpdir(), "signalbox-promises-"));
  onTestFinished(() => removeFolder(folder));
  cpSync(original.folder, folder, { recursive: true });
  const repository = join(folder, "coffee");
  const git = (...args: readonly string[]) => gitIn(repository, ...args);
  const places = {
    repository,
    control: join(folder, "control"),
    histories: join(folder, "histories"),
    notes: join(folder, "notes"),
  };
  const [first, second] = original.landings;
  const histories = new Map([
    ["t1", historyOf("t1", "c-1", 0, first)],
    ["t2", historyOf("t2", "c-2", 20, second)],
  ]);
  const notes = [`commit t1 ${first?.commit}`, `content t1 ${original.blob}`];
  const field: Field = {
    ...places,
    notes,
    forge: undefined,
    git,
    linesOf: (task) => histories.get(task) ?? [],
    eventOf(task, type) {
      const found = histories.get(task)?.find(({ event }) => event?.type === type);
      if (found?.event === undefined) throw new Error(`${task} has no ${type}.`);
      return { ...found, event: found.event };
    },
    ticket(id, change) {
      const file = join(repository, ".tickets", `${id}.md`);
      writeFileSync(file, change(readFileSync(file, "utf8")));
    },
    write() {
      for (const made of [places.histories, places.notes]) mkdirSync(made);
      for (const [task, lines] of histories)
        if (lines.length > 0)
          writeFileSync(
            join(places.histories, `${task}.jsonl`),
            lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
          );
      writeFileSync(join(places.notes, "made"), notes.map((note) => `${note}\n`).join(""));
      if (field.forge !== undefined) writeFileSync(join(places.notes, "forge.json"), JSON.stringify(field.forge));
      return places;
    },
  };
  return field;
}

function gitIn(folder: string, ...args: readonly string[]): string {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  return execFileSync("git", ["-C", folder, ...identity, ...args], { encoding: "utf8", stdio: "pipe" }).trim();
}

function makeRepositories(): Original {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-promises-"));
  process.once("exit", () => removeFolder(folder));
  const repository = join(folder, "coffee");
  mkdirSync(join(repository, ".tickets"), { recursive: true });
  const git = (...args: readonly string[]) => gitIn(repository, ...args);
  git("init", "--quiet", "--initial-branch=main");
  const ticket = (id: string, deps: string) =>
    `---\nid: ${id}\nstatus: open\ndeps: [${deps}]\npriority: 2\n---\n# Cup ${id}\n`;
  const put = (id: string, text: string) => writeFileSync(join(repository, ".tickets", `${id}.md`), text);
  put("c-1", ticket("c-1", ""));
  put("c-2", ticket("c-2", "c-1"));
  put("c-3", ticket("c-3", ""));
  git("add", "-A");
  git("commit", "-qm", "first");
  for (const number of [1, 2]) {
    git("checkout", "-qb", `agent/A-c-${number}`);
    writeFileSync(join(repository, `t${number}.txt`), `cup ${number}\n`);
    git("add", "-A");
    git("commit", "-qm", `cup ${number}`);
    git("checkout", "-q", "main");
    git("merge", "-q", "--no-ff", "-m", `Merge ${number}`, `agent/A-c-${number}`);
    const done = `\n## Notes\n\n**2026-01-26T08:00:00Z**\n\nDone by coffee#${number} (t${number}), merged into main with ${git("rev-parse", "HEAD")}.\n`;
    put(`c-${number}`, ticket(`c-${number}`, number === 2 ? "c-1" : "").replace("open", "closed") + done);
  }
  gitIn(folder, "clone", "--quiet", "--mirror", repository, join(folder, "control"));
  const merges = git("log", "--first-parent", "--merges", "--reverse", "--format=%P %H").split("\n");
  const landings = merges.map((line) => {
    const [before = "", commit = "", after = ""] = line.split(" ");
    return { before, commit, after };
  });
  return { folder, landings, blob: git("rev-parse", "HEAD:t1.txt") };
}

/** A task that is created, worked on by one run whose section opens a gate, merged and ended. */
function historyOf(id: string, ticket: string, from: number, landing: object | undefined): Line[] {
  const evidence = [{ section: "Handoff", role: "worker", run: "worker#1" }];
  const identity = { id, ticket, branch: `agent/A-${ticket}` };
  const events: readonly (readonly [type: string, by: string, data: object, set: object])[] = [
    [
      "task.created",
      "human",
      { status: "todo" },
      { ...identity, status: "todo", entry: 1, phase: "waiting", runs: {} },
    ],
    [
      "task.moved",
      "engine",
      { from: "todo", to: "busy" },
      { status: "busy", entry: 2, runs: { worker: { key: "worker#1" } } },
    ],
    ["agent.started", "engine", { run: "worker#1", role: "worker" }, {}],
    ["document.changed", "worker", { sections: ["Handoff"], run: "worker#1" }, {}],
    ["agent.ended", "worker", { run: "worker#1", word: "ok" }, { runs: {} }],
    ["merge.landed", "engine", { target: "main", ...landing }, {}],
    ["task.moved", "engine", { from: "busy", to: "done", evidence }, { status: "done", entry: 3, held: null }],
    ["task.settled", "engine", {}, { phase: "over" }],
  ];
  const task = { ...identity, status: "done", entry: 3, phase: "over", runs: {} };
  return [
    { kind: "task", task, revision: events.length, isOpen: false },
    { kind: "effect", id: from + 1, state: "done", effect: { action: "close_ticket" } },
    ...events.map(([type, by, data, set], index) => ({
      ...{ kind: "event", position: from + index + 1, revision: index + 1 },
      event: { type, by, data: { ...data }, set: { ...set } },
    })),
  ];
}
