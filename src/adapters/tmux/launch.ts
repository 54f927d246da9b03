import { readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { writeWholeSync } from "../../durable-file.ts";
import { oneLine } from "../../text.ts";
import { markVariable } from "../processes/process-table.ts";
import { identifyMyself, type LaunchOrder, markOf, recordFile, resolveProgram } from "./launch-order.ts";

// The program of every window. Tmux starts it with the order's file as its argument, and it execs the run's program.

const codes = { notRun: 126, notFound: 127, again: 75 } as const;
// Linux's limit for an argument or a variable.
const maxBytes = 128 * 1024 - 1;
// Tmux's values win over the order's: only tmux knows what the terminal can show.
const ofTerminal = ["TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION"];

interface Refusal {
  readonly code: number;
  readonly message: string;
}

const refusal = launch(process.argv[2] ?? "");
// Names in a message may contain control characters.
process.stderr.write(`signalbox: ${oneLine(refusal.message)}\n`);
process.exitCode = refusal.code;

/** Returns only if the program cannot be started. */
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
  const env: Record<string, string> = { ...ordered, [markVariable]: markOf(dirname(file)) };
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
  if (all.some((each) => Buffer.byteLength(each) > maxBytes))
    return { code: codes.notRun, message: `"${program}" cannot be given an argument or a variable of over 128 KB.` };
  if (all.some((each) => each.includes("\0")))
    return { code: codes.notRun, message: `"${program}" cannot be given an argument or a variable with a zero byte.` };
  // Node ignores these two signals. Ignored signals stay ignored after exec; handled ones are reset.
  for (const signal of ["SIGPIPE", "SIGXFSZ"] as const) process.on(signal, () => {});
  process.execve?.(found.path, argv, env);
  return {
    code: codes.notRun,
    message: "This version of Node cannot exec another program; Node 24 or newer is needed.",
  };
}

/** Records this process as the run's program, which only one process can do. */
function claim(folder: string): "ours" | Refusal {
  try {
    if (writeWholeSync(recordFile(folder), JSON.stringify(identifyMyself()), { mode: 0o600, replace: false }))
      return "ours";
    return { code: codes.again, message: "This run was started before; it is not started a second time." };
  } catch (error) {
    return {
      code: codes.notRun,
      message: `The folder of the run, ${folder}, cannot be written to (${codeOf(error)}).`,
    };
  }
}

/** Reads the order and deletes it: its secrets are no longer needed. */
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
