import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Fault } from "../../fault.ts";
import type { ProcessOrder, ProcessTable } from "../../ports/processes.ts";
import { replaceRecord } from "./publish-record.ts";
import {
  inputFile,
  newsOf,
  type OrderRecord,
  orderFile,
  readClaim,
  readEnd,
  readProcess,
  troubleFile,
} from "./run-records.ts";
import { sleep } from "./sleep.ts";
import type { SpareSupervisor } from "./spare-supervisor.ts";
import { unwritable } from "./unwritable.ts";

export interface Starting {
  readonly supervisor: readonly string[];
  readonly spare: SpareSupervisor | undefined;
  readonly table: ProcessTable;
  readonly grace: number;
  readonly patience: number;
}

/** Any number may do this for the same run at the same time: of their supervisors one gets the claim. */
export async function startRun(starting: Starting, folder: string, order: ProcessOrder): Promise<void> {
  const isClaimed = () => [readClaim, readProcess, readEnd].some((read) => read(folder) !== undefined);
  if (isClaimed()) return waitForRecord(starting, folder, () => undefined);
  writeOrder(starting, folder, order);
  const failure = spawnSupervisor(starting, folder);
  starting.spare?.wanted();
  await waitForRecord(starting, folder, () => (isClaimed() ? undefined : failure()));
}

export function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

function writeOrder({ grace }: Starting, folder: string, { input, ...order }: ProcessOrder): void {
  const record: OrderRecord = { ...order, grace, mark: randomBytes(16).toString("hex") };
  try {
    for (const each of [folder, dirname(newsOf(folder))]) makeFolder(each);
    // One that was left behind by a start that died is older: its credentials may be worth nothing by now.
    if (input !== "") replaceRecord(folder, inputFile, input);
    replaceRecord(folder, orderFile, JSON.stringify(record));
  } catch (error) {
    throw unwritable(folder, error);
  }
}

/** Gives a function that says why there will be no record, once that is known. */
function spawnSupervisor({ supervisor, spare }: Starting, folder: string): () => Fault | undefined {
  const [program = "", ...rest] = supervisor;
  const trouble = join(folder, troubleFile);
  const descriptor = openTrouble(trouble, folder);
  let reason: string | undefined;
  const waiting = spare?.take();
  waiting?.stdin?.end(folder);
  const child =
    waiting ??
    // It inherits nothing: what our environment says is about us.
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
          hint: `Look at the free space, and into ${trouble}. ${errorIn(trouble)}`.trim(),
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
  { table, patience }: Starting,
  folder: string,
  failure: () => Fault | undefined,
): Promise<void> {
  const deadline = performance.now() + patience;
  while (performance.now() < deadline) {
    if (readProcess(folder) !== undefined || readEnd(folder) !== undefined) return;
    const fault = failure();
    if (fault !== undefined) throw fault;
    const claim = readClaim(folder);
    // Nobody will record anything any more; what has become of it is for `look` to say.
    if (claim !== undefined && !(await table.isAlive(claim.supervisor))) return;
    await sleep(5);
  }
  throw new Fault("processes.silent", "The supervisor of a run does not say whether its program has started.", {
    retry: "later",
    hint: "The machine may be overloaded. To ask again starts nothing twice.",
  });
}
