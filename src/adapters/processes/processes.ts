import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  watch,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeWholeSync } from "../../durable-file.ts";
import { Fault } from "../../fault.ts";
import type { ProcessEnd, Processes, ProcessOrder, ProcessState, ProcessTable } from "../../ports/processes.ts";
import { endFamily, sleep } from "./end-family.ts";
import { markEntry } from "./process-table.ts";
import {
  type ClaimRecord,
  claimFile,
  endFile,
  inputFile,
  killFile,
  newsFolder,
  newsOf,
  type OrderRecord,
  orderFile,
  type Printed,
  type ReservedRecord,
  readClaim,
  readEnd,
  readProcess,
  troubleFile,
} from "./run-records.ts";
import { createSpare, type SpareSupervisor } from "./spare-supervisor.ts";
import { straysIn } from "./strays.ts";

export interface ProcessesOptions {
  /** The folder that contains the runs' folders, and nothing else. */
  readonly folder: string;
  /** The command that starts a supervisor; the run's folder is its last argument or its standard input. */
  readonly supervisor: readonly string[];
  /** Whether a spare supervisor is kept ready for a while after each start. */
  readonly keepsSpare?: boolean;
  /** The table of this machine: supervisors record identities in its format. */
  readonly table: ProcessTable;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly grace?: number;
  /** Milliseconds to wait for a supervisor to record its program. */
  readonly startTimeout?: number;
}

/** A program that ignores SIGTERM must be gone within 5 s of a person's order, also if some of its processes hide. */
const defaultGrace = 1_500;

/** Runs programs below supervisors. All state is in files, so that several daemons can come and go. */
export function createProcesses(options: ProcessesOptions): Processes {
  const { folder, table, grace = defaultGrace, startTimeout = 60_000, keepsSpare = false } = options;
  const spare = keepsSpare ? createSpare(options.supervisor) : undefined;
  const folderOf = (id: string) => {
    if (/^[a-z0-9-]+$/.test(id)) return join(folder, id);
    throw new Fault("processes.bad-id", `"${id}" is not a valid run id: it may contain only a-z, 0-9 and "-".`);
  };
  return {
    start: async (order) => startRun({ ...options, spare, grace, startTimeout }, folderOf(order.id), order),
    look: async (id) => lookAtRun(table, folderOf(id)),
    kill: async (id) => endRun(table, folderOf(id), grace),
    sweep: async (head, ...entries) => (await endFamily(table, { head, entries }, grace)) !== "",
    async sweepFolder(inside) {
      await Promise.all(
        straysIn(inside).map(async (pid) => {
          const head = await table.identify(pid);
          if (head !== undefined) await endFamily(table, { head }, grace);
        }),
      );
    },
    watch(listener) {
      const news = join(folder, newsFolder);
      makeFolder(news);
      // If the system offers no watcher, callers learn about ended runs by polling.
      try {
        const watcher = watch(news, { persistent: false }, (_, name) => {
          if (name !== null && /^[a-z0-9-]+$/.test(name)) listener(name);
        });
        watcher.on("error", () => watcher.close());
        return () => watcher.close();
      } catch {
        return () => {};
      }
    },
    read: async (id, channel, from, limit) => readPart(join(folderOf(id), channel), from, limit),
  };
}

async function readPart(path: string, from: number, limit: number): Promise<Uint8Array> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const handle = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    // Another kind of file in its place is not read: the output counts as missing.
    if (error.code === "ENOENT" || error.code === "ELOOP" || error.code === "ENXIO") return undefined;
    throw new Fault("processes.unreadable", `${path} cannot be read (${error.code}).`, {
      retry: "later",
      cause: error,
    });
  });
  if (handle === undefined) return new Uint8Array();
  try {
    const found = await handle.stat();
    if (!found.isFile()) return new Uint8Array();
    const { size } = found;
    const buffer = new Uint8Array(Math.max(0, Math.min(limit, size - from)));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** How long a supervisor may take to record that its program has ended; a full disk can delay it. */
const endTimeout = 10_000;

/** Ends a run with everything that it started, also if the run itself has ended and only left processes behind. */
async function endRun(table: ProcessTable, folder: string, grace: number): Promise<void> {
  const claim = readProcess(folder) ?? readClaim(folder) ?? (await forestall(table, folder));
  if (claim === undefined) return;
  const isOver = readEnd(folder) !== undefined;
  if (!isOver) leaveWord(folder);
  const head = isOver ? undefined : await headOf(table, folder, claim);
  const signal = await endFamily(table, { head, entries: [markEntry(claim.mark)] }, grace);
  if (isOver) return;
  const isSettled = await until(async () => readEnd(folder) !== undefined || !(await table.isAlive(claim.supervisor)));
  if (!isSettled || signal === "" || readEnd(folder) !== undefined) return;
  // The supervisor is dead, so record the end here. If that fails, the run counts as lost, which is also true.
  try {
    publishEnd(folder, signal);
    rmSync(newsOf(folder), { force: true });
  } catch {}
}

/** Takes the claim before a supervisor does, so that the run's program is never started. */
async function forestall(table: ProcessTable, folder: string): Promise<ClaimRecord | undefined> {
  if (!existsSync(join(folder, orderFile))) return readClaim(folder);
  const supervisor = await table.identify(process.pid);
  const claim = { supervisor, mark: "none", at: Date.now() };
  try {
    if (!writeWholeSync(join(folder, claimFile), JSON.stringify(claim), firstRecord)) return readClaim(folder);
    publishEnd(folder, "");
  } catch (error) {
    throw unwritable(folder, error);
  }
  rmSync(join(folder, orderFile), { force: true });
  return undefined;
}

/** Waits for the supervisor's record, and returns the program's identity. */
async function headOf(table: ProcessTable, folder: string, { supervisor }: ClaimRecord) {
  await until(async () => readProcess(folder) !== undefined || !(await table.isAlive(supervisor)));
  return readProcess(folder)?.identity;
}

/** Notes for the supervisor that the run is killed. A full disk must not prevent the kill, so errors are ignored. */
function leaveWord(folder: string): void {
  try {
    writeFileSync(join(folder, killFile), "", { mode: 0o600 });
  } catch {}
}

function publishEnd(folder: string, signal: string): void {
  const end: Omit<ProcessEnd, "code"> = { kind: "ended", signal, cause: "killed", reason: "", at: Date.now() };
  writeWholeSync(join(folder, endFile), JSON.stringify(end), firstRecord);
}

/** The first record with a name stays. */
const firstRecord = { mode: 0o600, replace: false } as const;

async function until(holds: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + endTimeout;
  while (!(await holds())) {
    if (performance.now() >= deadline) return false;
    await sleep(5);
  }
  return true;
}

/**
 * The state of a run, from its records and the process table. A live supervisor's record is waited for. If the
 * supervisor died between claim and record, the program may have been started: if it lives, it has the mark; if not,
 * the run is lost. For the same reason a claimed run is never started again.
 */
async function lookAtRun(table: ProcessTable, folder: string): Promise<ProcessState> {
  const end = readEnd(folder);
  if (end !== undefined) return end;
  const record = readProcess(folder);
  if (record !== undefined) {
    const { identity, supervisor, at } = record;
    // The program may be dead, with its supervisor about to record that.
    const isRunning = (await table.isAlive(identity)) || (await table.isAlive(supervisor));
    return isRunning ? { kind: "running", identity, startedAt: at } : (readEnd(folder) ?? { kind: "lost" });
  }
  const claim = readClaim(folder);
  if (claim === undefined) return readEnd(folder) ?? { kind: "absent" };
  if (await table.isAlive(claim.supervisor)) return { kind: "absent" };
  // The supervisor has ended since the first read, and may have recorded something before.
  if (readEnd(folder) !== undefined || readProcess(folder) !== undefined) return lookAtRun(table, folder);
  return lookByMark(table, claim);
}

async function lookByMark(table: ProcessTable, { mark, at }: ClaimRecord): Promise<ProcessState> {
  const bearers = await table.bearersOf(markEntry(mark));
  const [identity] = [...bearers].sort((a, b) => a.start.localeCompare(b.start, "en", { numeric: true }));
  return identity === undefined ? { kind: "lost" } : { kind: "running", identity, startedAt: at };
}

interface Starting {
  readonly supervisor: readonly string[];
  readonly spare: SpareSupervisor | undefined;
  readonly table: ProcessTable;
  readonly grace: number;
  readonly startTimeout: number;
}

/** Safe to call concurrently for the same run: only one of the supervisors gets the claim. */
async function startRun(starting: Starting, folder: string, order: ProcessOrder): Promise<void> {
  const isClaimed = () => [readClaim, readProcess, readEnd].some((read) => read(folder) !== undefined);
  if (isClaimed()) return waitForRecord(starting, folder, () => undefined);
  writeOrder(starting, folder, order);
  const failure = spawnSupervisor(starting, folder);
  starting.spare?.wanted();
  await waitForRecord(starting, folder, () => (isClaimed() ? undefined : failure()));
}

function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

function writeOrder({ grace }: Starting, folder: string, { input, ...order }: ProcessOrder): void {
  const record: OrderRecord = { ...order, grace, mark: randomBytes(16).toString("hex") };
  try {
    for (const each of [folder, dirname(newsOf(folder))]) makeFolder(each);
    // Replaces the input of an interrupted start: its credentials may have expired.
    if (input !== "") writeWholeSync(join(folder, inputFile), input, { mode: 0o600 });
    writeWholeSync(join(folder, orderFile), JSON.stringify(record), { mode: 0o600 });
  } catch (error) {
    throw unwritable(folder, error);
  }
}

/** Returns a function that gives the reason why there will be no record, once the supervisor has failed. */
function spawnSupervisor({ supervisor, spare }: Starting, folder: string): () => Fault | undefined {
  const [program = "", ...rest] = supervisor;
  const trouble = join(folder, troubleFile);
  const descriptor = openTrouble(trouble, folder);
  let reason: string | undefined;
  const waiting = spare?.take();
  waiting?.stdin?.end(folder);
  const child =
    waiting ??
    // The supervisor does not inherit the daemon's environment.
    spawn(program, [...rest, folder], {
      cwd: "/",
      env: {},
      detached: true,
      stdio: ["ignore", descriptor, descriptor],
    });
  closeSync(descriptor);
  child.on("error", (error: NodeJS.ErrnoException) => {
    reason ??= error.code ?? error.message;
  });
  child.on("exit", (code, signal) => {
    reason ??= `it ended with ${signal ?? code}`;
  });
  child.unref();
  return () =>
    reason === undefined
      ? undefined
      : new Fault("processes.not-started", `The supervisor of a run could not start its program: ${reason}.`, {
          retry: "later",
          hint: `Check the free space, and read ${trouble}. ${errorIn(trouble)}`.trim(),
        });
}

function openTrouble(trouble: string, folder: string): number {
  try {
    return openSync(trouble, "a", 0o600);
  } catch (error) {
    throw unwritable(folder, error);
  }
}

function errorIn(file: string): string {
  if (!existsSync(file)) return "";
  return (
    readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .find((line) => line.includes("Error")) ?? ""
  );
}

async function waitForRecord(
  { table, startTimeout }: Starting,
  folder: string,
  failure: () => Fault | undefined,
): Promise<void> {
  const deadline = performance.now() + startTimeout;
  while (performance.now() < deadline) {
    if (readProcess(folder) !== undefined || readEnd(folder) !== undefined) return;
    const fault = failure();
    if (fault !== undefined) throw fault;
    const claim = readClaim(folder);
    // The supervisor is dead and will record nothing; `look` finds out what happened to the run.
    if (claim !== undefined && !(await table.isAlive(claim.supervisor))) return;
    await sleep(5);
  }
  throw new Fault("processes.silent", "The supervisor of a run has not recorded whether its program started.", {
    retry: "later",
    hint: "The machine may be overloaded. It is safe to try again: a run is never started twice.",
  });
}

/** Everything that a supervisor holds once it has claimed a run. */
export interface Supervision {
  readonly folder: string;
  readonly order: OrderRecord;
  readonly claim: ClaimRecord;
  readonly printed: Printed;
  readonly record: ReservedRecord;
  readonly end: ReservedRecord;
}

/**
 * The command that starts a supervisor, for `createProcesses`. The flags save memory: by default Node's young
 * generation takes 16 MB and it keeps compiler threads, but a supervisor mostly waits.
 */
export function supervisorCommand(file: string): readonly string[] {
  return [process.execPath, "--max-semi-space-size=1", "--v8-pool-size=0", file];
}

function unwritable(folder: string, error: unknown): Fault {
  const { code } = error as NodeJS.ErrnoException;
  return new Fault("processes.unwritable", `The run folder ${folder} is not writable (${code}).`, {
    retry: "later",
    hint: "Check the folder's permissions and the free space.",
    cause: error,
  });
}
