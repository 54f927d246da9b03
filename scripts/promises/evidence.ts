import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

// Independent of the code under test: it has its own readers of histories, tickets and repositories.

/** The evidence: two repositories, the tickets in the first, the exported histories, and the agents' own records. */
export interface Evidence {
  readonly repository: string;
  readonly control: string;
  readonly histories: readonly History[];
  readonly tickets: readonly TicketFile[];
  /** Lines `commit TASK SHA`, `content TASK SHA` and `double TASK …`. */
  readonly notes: readonly (readonly string[])[];
  /** Undefined where there is no forge. */
  readonly forge: ForgeEvidence | undefined;
}

/** What the forge itself has: the file `forge.json` in the folder of the notes. */
export interface ForgeEvidence {
  /** The folder of the remote, a bare repository. */
  readonly remote: string;
  readonly pulls: readonly { readonly number: number; readonly head: string; readonly isMerged: boolean }[];
  readonly comments: readonly { readonly pull: number }[];
}

export interface History {
  readonly task: Readonly<Record<string, unknown>> & {
    readonly id: string;
    readonly ticket: string;
    readonly branch: string;
    readonly phase: string;
    readonly held?: object;
  };
  readonly revision: number;
  readonly isOpen: boolean;
  readonly events: readonly HistoryEvent[];
  readonly effects: readonly {
    readonly id: number;
    readonly state: string;
    readonly effect: { readonly action: string };
  }[];
}

export interface HistoryEvent {
  readonly position: number;
  readonly revision: number;
  readonly type: string;
  readonly by: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly set: Readonly<Record<string, unknown>>;
}

export interface TicketFile {
  readonly id: string;
  readonly status: string;
  readonly deps: readonly string[];
  readonly text: string;
}

export interface Places {
  readonly repository: string;
  readonly control: string;
  readonly histories: string;
  /** Undefined if agents recorded nothing. */
  readonly notes?: string | undefined;
}

export function readEvidence({ repository, control, histories, notes }: Places): Evidence {
  const made = notes === undefined ? "" : join(notes, "made");
  const forge = notes === undefined ? "" : join(notes, "forge.json");
  return {
    ...{ repository, control },
    histories: namesIn(histories, ".jsonl").map((name) => readHistory(readFileSync(join(histories, name), "utf8"))),
    tickets: namesIn(join(repository, ".tickets"), ".md").map((name) =>
      readTicket(name.slice(0, -3), readFileSync(join(repository, ".tickets", name), "utf8")),
    ),
    notes: existsSync(made) ? linesOf(readFileSync(made, "utf8")).map((line) => line.split(" ")) : [],
    forge: existsSync(forge) ? (JSON.parse(readFileSync(forge, "utf8")) as ForgeEvidence) : undefined,
  };
}

function namesIn(folder: string, ending: string): readonly string[] {
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith(ending))
        .toSorted()
    : [];
}

function readHistory(text: string): History {
  const lines = linesOf(text).map((line) => JSON.parse(line));
  const stored = lines.find(({ kind }) => kind === "task");
  return {
    ...{ task: stored.task, revision: stored.revision, isOpen: stored.isOpen },
    events: lines.flatMap(({ kind, position, revision, event }) =>
      kind === "event" ? [{ position, revision, ...event }] : [],
    ),
    effects: lines.filter(({ kind }) => kind === "effect"),
  };
}

/** The few fields that matter here, as the script `tk` writes them. */
export function readTicket(id: string, text: string): TicketFile {
  const [, fields = ""] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? [];
  const field = (name: string) => new RegExp(`^${name}: *(.*)$`, "m").exec(fields)?.[1] ?? "";
  const deps = field("deps")
    .replace(/[[\]\s]/g, "")
    .split(",");
  return { id, text, status: field("status"), deps: deps.filter((dep) => dep !== "") };
}

export interface Git {
  (...args: readonly string[]): string;
  /** Its output, and whether it succeeded. */
  try(...args: readonly string[]): { readonly ok: boolean; readonly said: string };
}

export function gitIn(folder: string): Git {
  const run = (args: readonly string[]) => {
    const env = { PATH: process.env.PATH, HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };
    const options = { encoding: "utf8", env, maxBuffer: 1024 ** 3 } as const;
    // Allow folders of another owner: this only reads.
    return spawnSync("git", ["-c", `safe.directory=*`, "-C", folder, ...args], options);
  };
  const git = (...args: readonly string[]) => {
    const { status, stdout, stderr } = run(args);
    if (status !== 0) throw new Error(`git ${args.join(" ")} in ${folder}: ${stderr}`);
    return stdout.trimEnd();
  };
  return Object.assign(git, {
    try(...args: readonly string[]) {
      const { status, stdout, stderr } = run(args);
      return { ok: status === 0, said: `${stdout}${stderr}`.trim() };
    },
  });
}

export function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}
