import { mkdir, readdir, realpath, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Commands } from "../../../ports/commands.ts";
import type { Capabilities, Detected, Harness, HarnessOrder, Launch } from "../../../ports/harness.ts";
import { findProgram } from "../find-program.ts";
import { launchArguments, type RunFiles } from "./launch-arguments.ts";
import { serverName } from "./permissions.ts";
import { readHook } from "./read-hook.ts";
import { readObstacle } from "./read-obstacle.ts";
import { readOutput } from "./read-output.ts";
import { readScreen } from "./read-screen.ts";
import { createTranscriptReader } from "./read-transcript.ts";
import { runSettings } from "./run-settings.ts";
import { seedConfig } from "./seed-config.ts";

export interface ClaudePorts {
  readonly commands: Commands;
  readonly clock: Pick<Clock, "now">;
  /** What the daemon itself runs with: where programs are, and `CLAUDE_CONFIG_DIR`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The person's home. */
  readonly home: string;
  readonly isRoot: boolean;
  /** What the program is called, or where it is. */
  readonly program?: string;
}

const can: Capabilities = {
  session: true,
  turn: true,
  resume: true,
  namesSession: true,
  model: true,
  effort: true,
  reduced: "enforced",
  withholds: ["read", "write", "execute", "web"],
  toolsByName: true,
  schema: true,
  system: true,
  mcp: true,
  acknowledges: "hook",
  tokens: true,
  cost: true,
};

/** Claude Code. Tried with 2.1.325; what 2.1.197 prints is understood too. */
export function claude({ commands, clock, env, home, isRoot, program = "claude" }: ClaudePorts): Harness {
  /** Where the program keeps what is the person's, in the environment of a run or in ours. */
  function placesIn(of: Readonly<Record<string, string | undefined>>) {
    const moved = of.CLAUDE_CONFIG_DIR ?? "";
    const root = of.HOME ?? home;
    return moved === ""
      ? { folder: join(root, ".claude"), config: join(root, ".claude.json") }
      : { folder: moved, config: join(moved, ".claude.json") };
  }

  async function detect(): Promise<Detected> {
    const path = findProgram(program, env.PATH ?? "");
    const hint = "Install it with `npm install -g @anthropic-ai/claude-code`, then start `claude` once and log in.";
    if (path === "") return { found: false, path, version: "", hint };
    const { code, output } = await commands.run({
      argv: [path, "--version"],
      cwd: "/",
      env: { PATH: env.PATH ?? "", HOME: home, DISABLE_AUTOUPDATER: "1" },
      timeout: 30_000,
    });
    const [version = ""] = /\d+\.\d+\.\d+/.exec(output) ?? [];
    if (code !== 0 || version === "")
      return {
        found: false,
        path,
        version: "",
        hint: `${path} does not tell its version. Start it yourself to see why.`,
      };
    return { found: true, path, version, hint: "" };
  }

  async function prepare(order: HarnessOrder): Promise<Launch> {
    const path = findProgram(program, order.env.PATH ?? env.PATH ?? "");
    if (path === "")
      throw new Fault("harness.missing", "Claude Code is not installed, or not in the PATH of agents.", {
        hint: "Install it with `npm install -g @anthropic-ai/claude-code`, then start `claude` once and log in.",
      });
    const places = placesIn(order.env);
    await seedConfig({ file: places.config, folder: order.folder, apiKey: order.env.ANTHROPIC_API_KEY ?? "" });
    const files = await writeRunFiles(order, places.folder);
    const { argv, input, message } = launchArguments(order, files);
    return { argv: [path, ...argv], env: environment(order), input, message, session: order.session.id };
  }

  function environment(order: HarnessOrder): Readonly<Record<string, string>> {
    return {
      HOME: home,
      // A version that changes under running agents is no version that was tried.
      DISABLE_AUTOUPDATER: "1",
      // It would ask how it is doing, in the place where messages are typed.
      CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY: "1",
      // By itself it tries for minutes, even with a wrong key. Whoever started it knows better what else there is to do.
      ...(order.mode === "turn" ? { CLAUDE_CODE_MAX_RETRIES: "2" } : {}),
      // As root it refuses to work without asking, unless it is told that the machine is there for that.
      ...(isRoot && order.permissions === "full" ? { IS_SANDBOX: "1" } : {}),
      ...order.env,
    };
  }

  async function transcriptOf(session: string, folder: string): Promise<string> {
    if (!/^[A-Za-z0-9-]+$/.test(session)) return "";
    const projects = join(placesIn(env).folder, "projects");
    const expected = join(projects, projectName(await realpath(folder).catch(() => folder)), `${session}.jsonl`);
    if (await isFile(expected)) return expected;
    // A session that was resumed elsewhere stays where it began; names that are too long are cut.
    for (const name of await readdir(projects).catch(() => [])) {
      const file = join(projects, name, `${session}.jsonl`);
      if (await isFile(file)) return file;
    }
    return "";
  }

  return {
    name: "claude",
    title: "Claude Code",
    can,
    detect,
    prepare,
    readOutput: () => readOutput(clock.now),
    readEvidence: readHook,
    readTranscript: createTranscriptReader(),
    transcriptOf,
    readScreen,
    readObstacle,
  };
}

/** What would be long, or is secret, among the arguments lies in files of the run. */
async function writeRunFiles(order: HarnessOrder, configFolder: string): Promise<RunFiles> {
  await mkdir(order.runFolder, { recursive: true });
  const write = async (name: string, text: string) => {
    const file = join(order.runFolder, name);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  };
  const { mcp, system } = order;
  const server = mcp && { command: mcp.argv[0], args: mcp.argv.slice(1), env: mcp.env };
  const servers = { mcpServers: server === undefined ? {} : { [serverName]: server } };
  return {
    settings: await write("claude-settings.json", JSON.stringify(runSettings(order, configFolder))),
    mcp: server === undefined ? "" : await write("claude-mcp.json", JSON.stringify(servers)),
    system: system === "" ? "" : await write("claude-system.txt", system),
  };
}

/** The program puts transcripts of a folder under its path, with a dash for everything but letters and digits. */
function projectName(folder: string): string {
  return folder.replace(/[^A-Za-z0-9]/g, "-");
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
