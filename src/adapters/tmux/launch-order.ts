import { execFileSync } from "node:child_process";
import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { writeWhole } from "../../durable-file.ts";
import { isProgram } from "../../find-program.ts";
import type { ProcessIdentity } from "../../ports/processes.ts";
import { sha256 } from "../../sha256.ts";

/** The launcher's order. It contains secrets. */
export interface LaunchOrder {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Returns the path of the file. */
export async function writeOrder(folder: string, { argv, cwd, env }: LaunchOrder): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "order.json");
  const order: LaunchOrder = { argv, cwd, env };
  await writeWhole(file, JSON.stringify(order), { mode: 0o600, fsync: false });
  return file;
}

/** This process's identity, in the format of the process table. */
export function identifyMyself(): ProcessIdentity {
  const { pid } = process;
  if (process.platform !== "linux")
    return { boot: ask("sysctl", ["-n", "kern.boottime"]), pid, start: startFromPs(pid) };
  // The second field is a name in parentheses that may contain spaces and parentheses; the start time is the 22nd.
  const stat = readFileSync("/proc/self/stat", "utf8");
  const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  return { boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(), pid, start };
}

function startFromPs(pid: number): string {
  return ask("ps", ["-o", "lstart=", "-p", `${pid}`]);
}

function ask(program: string, args: readonly string[]): string {
  return execFileSync(program, args, {
    encoding: "utf8",
    env: { PATH: "/bin:/usr/bin:/usr/sbin:/sbin", LC_ALL: "C" },
  }).trim();
}

type Resolved =
  /** `argv[0]` is the name that the program sees. */
  | { readonly kind: "found"; readonly path: string; readonly argv: readonly string[] }
  | { readonly kind: "missing" }
  | { readonly kind: "unusable"; readonly reason: string };

/**
 * Finds a program as a shell would. Every failure that can be foreseen is detected here: a process whose exec fails
 * dies with a stack trace that helps no person.
 */
export function resolveProgram(program: string, searched: string): Resolved {
  if (program === "") return { kind: "missing" };
  const places = program.includes("/")
    ? [resolve(program)]
    : searched.split(":").map((each) => join(resolve(each), program));
  const there = places.filter(isFile);
  const path = there.find(isProgram);
  if (path === undefined)
    return there.length > 0 ? { kind: "unusable", reason: "it is not executable" } : { kind: "missing" };
  return withInterpreter(program, path);
}

function withInterpreter(program: string, path: string): Resolved {
  const head = readHead(path);
  if (head.startsWith("#!")) {
    const interpreter = head.slice(2).split("\n")[0]?.trim().split(/\s/)[0] ?? "";
    if (isProgram(interpreter)) return { kind: "found", path, argv: [program] };
    return { kind: "unusable", reason: `its interpreter "${interpreter}" does not exist` };
  }
  if (isMachineCode(head)) return { kind: "found", path, argv: [program] };
  // A script without a #! line is run by sh, as in every shell.
  return { kind: "found", path: "/bin/sh", argv: ["sh", path] };
}

/** Latin-1, so that each byte is one character. Empty if the file is executable but not readable. */
function readHead(path: string): string {
  try {
    const file = openSync(path, "r");
    const buffer = Buffer.alloc(256);
    const size = readSync(file, buffer);
    closeSync(file);
    return buffer.toString("latin1", 0, size);
  } catch {
    return "\x7fELF";
  }
}

function isMachineCode(head: string): boolean {
  return ["\x7fELF", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"].some((magic) => head.startsWith(magic));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/**
 * The value of the mark in the environment of a run's processes. Derived from the run's folder, so that it is known even
 * if an agent has deleted that folder.
 */
export function markOf(folder: string): string {
  return sha256(folder);
}

/** The identity of a run's program. The process that creates this file owns the run, so each run has one program. */
export function recordFile(folder: string): string {
  return join(folder, "process.json");
}

/** Undefined if no program was ever started for the run. */
export async function readRecord(folder: string): Promise<ProcessIdentity | undefined> {
  let text: string;
  try {
    text = await readFile(recordFile(folder), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const read: Partial<ProcessIdentity> = JSON.parse(text);
  return { boot: String(read.boot), pid: Number(read.pid), start: String(read.start) };
}
