import { execFile, spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { type StageOptions, startStage } from "../agents/stage.ts";
import { cliFile } from "../programs.ts";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An agent in a terminal, which people talk to; then an agent without a terminal reports on it. */
const desk = `name: flow
version: 1
roles:
  worker: { mode: session, prompt: work, window: worker, keep: true }
  teller: { mode: turn, prompt: tell }
states:
  todo: { waits_for: slot, next: desk }
  desk: { agent: { role: worker, prompt: work }, respawn_prompt: again, waits_for: human, ask: Go on, next: telling }
  telling: { agent: { role: teller, prompt: tell }, outcomes: [{ then: told }] }
  told: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: desk, by: human, hooks: [acquire_workspace] }
  - { from: desk, to: telling, by: [human, worker], gate: { section: "## Notes" } }
  - { from: any, to: dropped, by: human, hooks: [kill_session] }
prompts: { work: "Work on {summary}.", again: "Go on with {summary}.", tell: "Tell about {summary}." }
`;

const main = cliFile;

/** A daemon with scripted agents, and the command line as a person in the repository runs it. */
export async function startCommands(script?: string, options: StageOptions = {}) {
  const stage = await startStage({ flow: desk, ...(script === undefined ? {} : { script }), ...options });
  const env = { ...stage.home.env, NO_COLOR: "1" };
  const signalbox = (args: readonly string[], input = "", more: Readonly<Record<string, string>> = {}): Promise<Ran> =>
    new Promise((done) => {
      const child = execFile(
        process.execPath,
        [main, ...args],
        { cwd: stage.repository, env: { ...env, ...more }, maxBuffer: 64 * 1024 * 1024 },
        (error, stdout, stderr) => done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
      child.stdin?.end(input);
    });
  const json = async (...args: readonly string[]) => {
    const { stdout, stderr } = await signalbox([...args, "--json"]);
    try {
      return JSON.parse(stdout);
    } catch {
      throw new Error(`${args.join(" ")}: ${stdout}${stderr}`);
    }
  };
  return {
    ...stage,
    ...{ env, main, signalbox, json },
    /** Starts a command that runs until it is interrupted. */
    follow(args: readonly string[]) {
      const child = spawn(process.execPath, [main, ...args], {
        cwd: stage.repository,
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      let said = "";
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        said += chunk;
      });
      const ended = new Promise<number | null>((done) => child.once("close", done));
      onTestFinished(() => void child.kill("SIGKILL"));
      return {
        said: () => said,
        interrupt: () => {
          child.kill("SIGINT");
          return ended;
        },
      };
    },
    /** Creates a task, and returns its id when its agent has said something and is ready for input. */
    async atDesk(branch: string, ...flags: readonly string[]): Promise<string> {
      const { task } = await json("task", "create", branch, `About ${branch}`, "--workflow", "flow", ...flags);
      await stage.untilRun((run) => run.task === task.id && run.activity === "idle" && run.what !== "");
      return task.id;
    },
  };
}

/** Control characters other than line ends and tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not come through.
export const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

export function withoutColours(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours may stay, and nothing else.
  return text.replace(/\u001b\[[0-9;:]*m/g, "");
}
