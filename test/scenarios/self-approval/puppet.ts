import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Step } from "../steps.ts";

/**
 * A program that an agent runs: it runs the shell scripts that the test puts into a folder, one after the other. The
 * folder is beside the file of the run's hooks, which both can write, also if the agent is in a sandbox.
 */
const program = `
const { spawnSync } = require("node:child_process"), fs = require("node:fs"), path = require("node:path");
// The daemon calls it too, as the project's test command.
if (process.env.SIGNALBOX_EVENTS === undefined) process.exit(0);
const folder = path.join(path.dirname(process.env.SIGNALBOX_EVENTS), "puppet");
fs.mkdirSync(folder, { recursive: true });
let number = 1;
const next = () => {
  const script = path.join(folder, number + ".sh");
  if (!fs.existsSync(script)) return setTimeout(next, 20);
  const { status, stdout, stderr } = spawnSync("sh", [script], {
    encoding: "utf8", timeout: 30000, killSignal: "SIGKILL", stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, PUPPET: folder },
  });
  fs.writeFileSync(path.join(folder, number + ".new"), JSON.stringify({ code: status, output: stdout + stderr }));
  fs.renameSync(path.join(folder, number + ".new"), path.join(folder, number + ".json"));
  number++;
  next();
};
next();
`.replace(/^\/\/.*\n/gm, "");

/** Of a run with reduced permissions the scripted agent runs nothing but the project's test command. */
export const puppetCommand: readonly string[] = ["node", "-e", program];
export const puppetStep: Step = { run: puppetCommand };

/**
 * A request to the daemon, written by hand: method, path, token, folder, body and further headers. Fails if the daemon
 * refuses it. `TIMES` sends it several times at once.
 */
const asker = `
const [method, path, token, folder, body = "", more = "{}"] = process.argv.slice(2);
const headers = {
  host: "localhost",
  "signalbox-folder": encodeURIComponent(folder),
  ...(token === "" ? {} : { authorization: "Bearer " + token }),
  ...(body === "" ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
  ...JSON.parse(more),
};
process.exitCode = 1;
for (let left = Number(process.env.TIMES ?? 1); left > 0; left--) {
  const request = require("node:http").request({ socketPath: process.env.SOCKET, method, path, headers }, (answer) => {
    if (answer.statusCode < 300) process.exitCode = 0;
    answer.pipe(process.stdout);
  });
  request.on("error", (error) => console.log(error.message));
  request.end(body);
}
`;

interface Done {
  readonly code: number | null;
  readonly output: string;
}

export interface Puppet {
  /** Runs a shell script as a child of the agent's program, with its environment. */
  (script: string): Promise<Done>;
  /** The same, and does not wait: the script may end the agent. */
  start(script: string): Promise<void>;
}

/** `runFolder` is that of the agent's run; `variables` are set in every script. */
export function createPuppet(runFolder: string, variables: () => Readonly<Record<string, string>>): Puppet {
  const folder = join(runFolder, "hooks", "puppet");
  let number = 0;
  const start = async (script: string): Promise<string> => {
    await appears(folder, 60_000);
    const file = join(folder, String(++number));
    const asks = join(folder, "ask.cjs");
    if (!existsSync(asks)) writeFileSync(asks, asker);
    const settings = Object.entries(variables()).map(([name, value]) => `export ${name}='${value}'\n`);
    writeFileSync(`${file}.draft`, `${settings.join("")}ask() { node "$PUPPET/ask.cjs" "$@"; }\n${script}\n`);
    renameSync(`${file}.draft`, `${file}.sh`);
    return file;
  };
  const run = async (script: string) => {
    const file = await start(script);
    await appears(`${file}.json`, 45_000);
    return JSON.parse(readFileSync(`${file}.json`, "utf8")) as Done;
  };
  return Object.assign(run, {
    start: async (script: string) => {
      await start(script);
    },
  });
}

async function appears(path: string, timeout: number): Promise<void> {
  for (const end = Date.now() + timeout; !existsSync(path); ) {
    if (Date.now() > end) throw new Error(`${path} did not appear: the agent in ${dirname(path)} runs nothing.`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}
