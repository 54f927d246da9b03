import { type ChildProcess, spawn } from "node:child_process";
import { cliFile } from "../programs.ts";
import type { Home } from "./home.ts";

export interface Ran {
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ran: Promise<Ran>;
}

/** Starts a command of the command line as a child process. */
export function beginCommand(home: Home, ...words: readonly string[]): Running {
  return beginWithInput(home, undefined, ...words);
}

/** Starts a command that gets a text on its standard input. */
export function beginWithInput(home: Home, input: string | undefined, ...words: readonly string[]): Running {
  const running = begin(home, input === undefined ? "ignore" : "pipe", words);
  running.child.stdin?.end(input);
  return running;
}

/** Starts a command whose standard input stays open, and resolves when it has answered the first line. */
export async function beginTalking(home: Home, line: string, ...words: readonly string[]): Promise<Running> {
  const running = begin(home, "pipe", words);
  running.child.stdin?.write(line);
  await new Promise<void>((done) => running.child.stdout?.once("data", () => done()));
  return running;
}

function begin(home: Home, input: "ignore" | "pipe", words: readonly string[]): Running {
  const child = spawn(process.execPath, [cliFile, ...words], {
    cwd: home.base,
    env: home.env,
    stdio: [input, "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const ran = new Promise<Ran>((done) => {
    child.once("close", (code, signal) => done({ code: signal ?? code ?? 1, stdout, stderr }));
  });
  return { child, ran };
}

/** Runs a command to its end. */
export function command(home: Home, ...words: readonly string[]): Promise<Ran> {
  return beginCommand(home, ...words).ran;
}
