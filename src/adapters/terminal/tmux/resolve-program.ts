import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

export type Resolved =
  /** `argv` begins with what the program is to see as its name. */
  | { readonly kind: "found"; readonly path: string; readonly argv: readonly string[] }
  | { readonly kind: "missing" }
  | { readonly kind: "unusable"; readonly reason: string };

/**
 * Finds a program as a shell would. Everything that can be known to fail is found out here: a process that cannot become
 * another program dies with a trace that tells people nothing.
 */
export function resolveProgram(program: string, searched: string): Resolved {
  if (program === "") return { kind: "missing" };
  const places = program.includes("/")
    ? [resolve(program)]
    : searched.split(":").map((each) => join(resolve(each), program));
  const there = places.filter(isFile);
  const path = there.find((each) => mayRun(each));
  if (path === undefined)
    return there.length > 0 ? { kind: "unusable", reason: "it is not executable" } : { kind: "missing" };
  return withInterpreter(program, path);
}

function withInterpreter(program: string, path: string): Resolved {
  const head = readHead(path);
  if (head.startsWith("#!")) {
    const interpreter = head.slice(2).split("\n")[0]?.trim().split(/\s/)[0] ?? "";
    if (isFile(interpreter) && mayRun(interpreter)) return { kind: "found", path, argv: [program] };
    return { kind: "unusable", reason: `its interpreter "${interpreter}" is not there` };
  }
  if (isMachineCode(head)) return { kind: "found", path, argv: [program] };
  // A script that does not say so is the shell's, as everywhere.
  return { kind: "found", path: "/bin/sh", argv: ["sh", path] };
}

/** Latin-1, so that bytes are characters. Empty where it may be run but not read. */
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

function mayRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
