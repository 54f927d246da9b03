import { spawn } from "node:child_process";
import { setImmediate as breathe } from "node:timers/promises";
import { Fault } from "../../fault.ts";
import type { Scene, StepEnd, StepPlayers } from "./scene.ts";

// Enough to see what went wrong.
const mostOutput = 16 * 1024;
// Somebody must be the author where nobody is configured.
const author = { GIT_AUTHOR_NAME: "Scripted agent", GIT_AUTHOR_EMAIL: "agent@scripted.invalid" };
const committer = { GIT_COMMITTER_NAME: "Scripted agent", GIT_COMMITTER_EMAIL: "agent@scripted.invalid" };

/** The steps that run programs. */
export const programSteps: StepPlayers = {
  run: (argv, scene) => runProgram(argv, scene),
  cli: (args, scene) => runProgram([scene.cli, ...args], scene),
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

/** That it fails ends the turn. */
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

async function collect(argv: readonly string[], { folder, env, signal }: Scene): Promise<Collected> {
  const [program = "", ...rest] = argv;
  // Whoever listens hears that it began before it blocks anything.
  await breathe();
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"], signal });
    let output = "";
    const take = (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(-mostOutput);
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
