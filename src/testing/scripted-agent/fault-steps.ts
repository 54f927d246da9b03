import { spawn } from "node:child_process";
import { type StepPlayers, wait } from "./scene.ts";

const line = `${"flood ".repeat(13)}\n`;
const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const piece = 64 * 1024;

/** The steps that say something, pass time, or go wrong. */
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
    // A session of its own: no signal to our group reaches it.
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
    // Only a timer keeps a process alive that waits for nothing.
    const timer = setInterval(() => {}, 2 ** 30);
    signal?.addEventListener("abort", () => {
      clearInterval(timer);
      reject(signal.reason);
    });
  });
}
