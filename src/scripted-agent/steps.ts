import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { setImmediate as breathe, setTimeout as delay } from "node:timers/promises";
import { bodyOf, parseTaskDocument, withSection } from "../documents/task-document.ts";
import { Fault } from "../fault.ts";
import { isJsonObject, parseObject } from "../json.ts";
import type { HarnessError, HarnessEvent } from "../ports/harness.ts";
import type { Circumstances } from "./read-script.ts";
import type { StepKind, StepValues } from "./script.ts";

const line = `${"flood ".repeat(13)}\n`;
const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const piece = 64 * 1024;

/** The steps that say something, pass time, or fail. */
export const faultSteps: StepPlayers = {
  say(text, { tell }) {
    tell({ kind: "said", text });
    return undefined;
  },
  marker(text, { tell }) {
    tell({ kind: "said", text });
    return undefined;
  },
  async sleep(milliseconds, scene) {
    await wait(milliseconds, scene);
    return undefined;
  },
  async think({ time, about }, scene) {
    const piecesOfTime = Math.max(1, Math.ceil(time / 250));
    for (let done = 0; done < piecesOfTime; done++) {
      scene.tell({ kind: "busy", what: about });
      await wait(time / piecesOfTime, scene);
    }
    return undefined;
  },
  usage({ input, output, cached, cost }, { tell, model }) {
    const usage = { model, inputTokens: input, outputTokens: output, cachedTokens: cached, cost };
    tell({ kind: "usage", usage });
    return undefined;
  },
  error: ({ kind, message, reset }) => ({
    kind,
    message,
    resetAt: reset === undefined ? undefined : Date.now() + reset,
  }),
  count(name, { increment }) {
    increment(name);
    return undefined;
  },
  exit: (code, { quit }) => quit(code),
  async crash(signal) {
    process.kill(process.pid, signal as NodeJS.Signals);
    return forEver();
  },
  async hang(how, { signal, tell }) {
    if (how === "deaf") {
      for (const each of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
        process.removeAllListeners(each);
        process.on(each, () => tell({ kind: "said", text: `${each} is ignored.` }));
      }
      tell({ kind: "said", text: "Signals are ignored from now on." });
      return forEver();
    }
    return forEver(signal);
  },
  async flood(bytes, { print, signal }) {
    const text = Buffer.from(line.repeat(Math.ceil(piece / line.length)));
    await printAll(text, bytes, print, signal);
    return undefined;
  },
  async binary(bytes, { print, signal }) {
    const all = Buffer.concat(Array.from({ length: piece / everyByte.length }, () => everyByte));
    await printAll(all, bytes, print, signal);
    return undefined;
  },
  fork(milliseconds, { folder, tell, speed }) {
    // A session of its own, so that no signal to our process group reaches it.
    const program = `setTimeout(() => {}, ${milliseconds / speed})`;
    const child = spawn(process.execPath, ["-e", program], { cwd: folder, detached: true, stdio: "ignore" });
    child.unref();
    tell({ kind: "said", text: `Left the process ${child.pid} behind.` });
    return undefined;
  },
};

async function printAll(
  block: Uint8Array,
  bytes: number,
  print: (bytes: Uint8Array) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (let left = bytes; left > 0; left -= block.length) {
    signal.throwIfAborted();
    await print(left < block.length ? block.subarray(0, left) : block);
  }
}

function forEver(signal?: AbortSignal): Promise<undefined> {
  return new Promise((_, reject) => {
    // A timer keeps the process alive while it waits for nothing.
    const timer = setInterval(() => {}, 2 ** 30);
    signal?.addEventListener("abort", () => {
      clearInterval(timer);
      reject(signal.reason);
    });
  });
}

const block = Buffer.alloc(1024 * 1024, "x");

/** The steps that change files. */
export const fileSteps: StepPlayers = {
  write({ file, text }, { folder }) {
    writeFileSync(placeFor(folder, file), text);
    return undefined;
  },
  append({ file, text }, { folder }) {
    writeFileSync(placeFor(folder, file), text, { flag: "a" });
    return undefined;
  },
  delete(file, { folder }) {
    rmSync(resolve(folder, file), { recursive: true, force: true });
    return undefined;
  },
  fill({ file, bytes }, { folder }) {
    const opened = openSync(placeFor(folder, file), "w");
    try {
      for (let left = bytes; left > 0; ) left -= writeSync(opened, block, 0, Math.min(left, block.length));
    } finally {
      closeSync(opened);
    }
    return undefined;
  },
  section({ heading, text }, { taskFile }) {
    if (taskFile === "") throw new Fault("script", `The run has no task file to write "## ${heading}" into.`);
    const before = readFileSync(taskFile, "utf8");
    const document = parseTaskDocument(before);
    const head = before.slice(0, before.length - bodyOf(document).length);
    writeFileSync(taskFile, head + bodyOf(withSection(document, heading, text)));
    return undefined;
  },
  delete_task_file(_, { taskFile }) {
    if (taskFile !== "") rmSync(taskFile, { force: true });
    return undefined;
  },
  delete_workspace(_, { folder }) {
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  },
};

function placeFor(folder: string, file: string): string {
  const place = resolve(folder, file);
  mkdirSync(dirname(place), { recursive: true });
  return place;
}

// In characters; enough to see what went wrong.
const maxOutput = 16 * 1024;
// Git needs an author even if none is configured.
const author = { GIT_AUTHOR_NAME: "Scripted agent", GIT_AUTHOR_EMAIL: "agent@scripted.invalid" };
const committer = { GIT_COMMITTER_NAME: "Scripted agent", GIT_COMMITTER_EMAIL: "agent@scripted.invalid" };

/** The steps that run programs. */
export const programSteps: StepPlayers = {
  run: (argv, scene) => runProgram(argv, scene),
  cli: (args, scene) => runProgram([scene.cli, ...args], scene),
  async tool({ name, input = {} }, scene) {
    const params = { name, arguments: input };
    const line = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`;
    const { code, output } = await collect([scene.cli, "mcp"], scene, line);
    const isDone = code === 0 && output.includes('"result"') && !output.includes('"isError":true');
    if (!isDone)
      return { kind: "other", message: `The tool ${name} failed. ${toolProblem(output)}`, resetAt: undefined };
    scene.show(output.trim());
    return undefined;
  },
  async commit(message, scene) {
    const failed = await runProgram(["git", "add", "--all"], scene);
    if (failed !== undefined) return failed;
    return runProgram(["git", "commit", "--quiet", `--message=${message}`], {
      ...scene,
      env: { ...author, ...committer, ...scene.env },
    });
  },
  async switch_branch(name, scene) {
    const there = await collect(["git", "rev-parse", "--quiet", "--verify", `refs/heads/${name}`], scene);
    const argv = there.code === 0 ? ["git", "switch", "--quiet", name] : ["git", "switch", "--quiet", "--create", name];
    return runProgram(argv, scene);
  },
};

/** What a refused tool says, without the protocol around it. */
function toolProblem(output: string): string {
  const shown = output.trim();
  const answer = parseObject(shown);
  if (answer === undefined) return shown;
  const { result, error } = answer;
  if (isJsonObject(error) && typeof error.message === "string") return error.message;
  const content = isJsonObject(result) && Array.isArray(result.content) ? result.content : [];
  const texts = content.flatMap((part) => (isJsonObject(part) && typeof part.text === "string" ? [part.text] : []));
  return texts.join("\n") || shown;
}

/** A failing program ends the turn. */
async function runProgram(argv: readonly string[], scene: Scene): Promise<StepEnd> {
  const { code, signal, output } = await collect(argv, scene);
  const text = output.trim();
  if (code === 0) {
    if (text !== "") scene.show(text);
    return undefined;
  }
  const how = code === null ? `was ended by ${signal}` : `ended with ${code}`;
  return { kind: "other", message: `${argv.join(" ")} ${how}.${text === "" ? "" : `\n${text}`}`, resetAt: undefined };
}

interface Collected {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

async function collect(argv: readonly string[], { folder, env, signal }: Scene, input = ""): Promise<Collected> {
  const [program = "", ...rest] = argv;
  // Let listeners receive the start event before the program blocks.
  await breathe();
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, { cwd: folder, env, stdio: ["pipe", "pipe", "pipe"], signal });
    // A program that does not read its input may be gone before it is written.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    let output = "";
    const take = (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(-maxOutput);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", (error) => {
      reject(
        signal.aborted
          ? error
          : new Fault("script", `"${program}" could not be started in ${folder}: ${error.message}.`, { cause: error }),
      );
    });
    child.on("close", (code, ended) => resolve({ code, signal: ended, output }));
  });
}

/** The surroundings of a turn: its workspace, its task file and its listeners. */
export interface Scene {
  readonly folder: string;
  /** Empty if the run has none. */
  readonly taskFile: string;
  /** The name of Signalbox's command line. */
  readonly cli: string;
  readonly env: Readonly<Record<string, string>>;
  readonly permissions: "full" | "reduced";
  /** Classes or names of steps; undefined for all. */
  readonly tools: readonly string[] | undefined;
  readonly testCommand: readonly string[];
  readonly model: string;
  /** A factor: 2 is twice as fast. */
  readonly speed: number;
  /** Aborted when a person interrupts the turn. */
  readonly signal: AbortSignal;
  readonly at: Circumstances;
  /** The values of `{name}` in the texts of the script. */
  readonly variables: Readonly<Record<string, string>>;
  tell(event: HarnessEvent): void;
  /** Shows what a program printed. */
  show(output: string): void;
  ask(about: string): Promise<boolean>;
  /** Writes raw bytes, bypassing the screen. */
  print(bytes: Uint8Array): Promise<void>;
  increment(counter: string): void;
  /** Ends the program immediately. */
  quit(code: number): Promise<never>;
}

/** The error that ends a turn early; undefined if it continues. */
export type StepEnd = HarnessError | undefined;
export type StepPlayers = {
  readonly [Kind in StepKind]?: (value: StepValues[Kind], scene: Scene) => Promise<StepEnd> | StepEnd;
};

/** The maxTimer time that a timer can wait: a longer one would fire immediately. */
const maxTimer = 2 ** 31 - 1;

/** Waits, at the speed of the scene. Rejects when the turn is interrupted. */
export async function wait(milliseconds: number, { speed, signal }: Pick<Scene, "speed" | "signal">): Promise<void> {
  for (let left = milliseconds / speed; left > 0; left -= maxTimer)
    await delay(Math.min(left, maxTimer), undefined, { signal });
}
