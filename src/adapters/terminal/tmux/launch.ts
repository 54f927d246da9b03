// The program of every window: becomes what the run is to execute. Started by tmux with the order's file as its argument.
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { identifyMyself } from "./identify-myself.ts";
import type { LaunchOrder } from "./launch-order.ts";
import { resolveProgram } from "./resolve-program.ts";
import { recordFile } from "./run-record.ts";

const codes = { notRun: 126, notFound: 127, again: 75 } as const;
// Linux takes no argument and no variable that is longer.
const mostBytes = 128 * 1024 - 1;
// What the terminal must set, whatever the order says: only tmux knows what it can show.
const ofTerminal = ["TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION"];

interface Refusal {
  readonly code: number;
  readonly message: string;
}

const refusal = launch(process.argv[2] ?? "");
// What is named in a message may hold anything.
process.stderr.write(`signalbox: ${refusal.message.replace(/\p{Cc}+/gu, " ")}\n`);
process.exitCode = refusal.code;

/** Comes back only where the program cannot be started. */
function launch(file: string): Refusal {
  const claimed = claim(dirname(file));
  if (claimed !== "ours") return claimed;
  const order = takeOrder(file);
  if (order === undefined) return { code: codes.notRun, message: `The order ${file} cannot be read.` };
  const { cwd, env: ordered, argv } = order;
  try {
    process.chdir(cwd);
  } catch (error) {
    return { code: codes.notRun, message: `The folder ${cwd} cannot be entered (${codeOf(error)}).` };
  }
  const env = { ...ordered };
  for (const name of ofTerminal) if (process.env[name] !== undefined) env[name] = process.env[name];
  return become(argv, env);
}

function become([program = "", ...rest]: readonly string[], env: Readonly<Record<string, string>>): Refusal {
  const found = resolveProgram(program, env.PATH ?? "");
  if (found.kind === "missing") return { code: codes.notFound, message: `The program "${program}" was not found.` };
  if (found.kind === "unusable")
    return { code: codes.notRun, message: `The program "${program}" cannot be run: ${found.reason}.` };
  const argv = [...found.argv, ...rest];
  const all = [...argv, ...Object.entries(env).map((pair) => pair.join("="))];
  if (all.some((each) => Buffer.byteLength(each) > mostBytes))
    return { code: codes.notRun, message: `"${program}" cannot be given an argument or a variable of over 128 KB.` };
  if (all.some((each) => each.includes("\0")))
    return { code: codes.notRun, message: `"${program}" cannot be given an argument or a variable with a zero byte.` };
  // Node ignores these two, and what is ignored stays so in the program; what is handled does not.
  for (const signal of ["SIGPIPE", "SIGXFSZ"] as const) process.on(signal, () => {});
  process.execve?.(found.path, argv, env);
  return { code: codes.notRun, message: "This Node cannot become another program; 24 or newer is needed." };
}

/** Notes who we are, which only one process can do for a run. */
function claim(folder: string): "ours" | Refusal {
  const file = recordFile(folder);
  const draft = `${file}.${process.pid}`;
  try {
    writeFileSync(draft, JSON.stringify(identifyMyself()), { mode: 0o600, flush: true });
    linkSync(draft, file);
    return "ours";
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST")
      return { code: codes.again, message: "This run was started before, and is not started again." };
    return { code: codes.notRun, message: `The folder of the run, ${folder}, cannot be written to (${code}).` };
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Reads the order, and takes it away: the secrets in it are needed no more. */
function takeOrder(file: string): LaunchOrder | undefined {
  try {
    const order: LaunchOrder = JSON.parse(readFileSync(file, "utf8"));
    rmSync(file, { force: true });
    return order;
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
