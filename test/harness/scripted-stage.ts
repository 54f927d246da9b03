import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scripted } from "../../src/adapters/harness/scripted.ts";
import type { Harness, HarnessEvent, HarnessOrder, TurnEnd } from "../../src/ports/harness.ts";
import type { ProcessEnd } from "../../src/ports/processes.ts";
import { scriptedAgentFile } from "../programs.ts";
import { removeFolder } from "../remove-folder.ts";

const program = scriptedAgentFile;

/** The stand-in writes a status only into the task file, which is all that an agent sees of the daemon's work. */
const standIn = `#!/bin/sh
printf '%s\\n' "$*" >> "$CALLS"
if [ "$3" = --status ] && [ "$4" = refused ]; then echo "No way leads there." >&2; exit 1; fi
if [ "$3" = --status ]; then sed -i "s/^status: .*/status: $4/" TASK.md; fi
`;

/** A repository with a task file, a stand-in for our command line on the PATH, and the scripted agent. */
export function createScriptedStage() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-scripted-")));
  const repository = join(root, "repository");
  const bin = join(root, "bin");
  const calls = join(root, "calls");
  mkdirSync(repository);
  mkdirSync(bin);
  writeFileSync(join(bin, "signalbox"), standIn);
  chmodSync(join(bin, "signalbox"), 0o755);
  const identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.invalid"];
  const git = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync("git", [...identity, ...args], { cwd: repository, encoding: "utf8" });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return stdout.trim();
  };
  git("init", "--quiet", "--initial-branch=main");
  git("commit", "--quiet", "--allow-empty", "--message=Begin");
  writeFileSync(join(repository, ".git/info/exclude"), "/TASK.md\n");
  const taskFile = join(repository, "TASK.md");
  const writeTask = (status: string, more = "") =>
    writeFileSync(taskFile, `---\nid: t-1\nsummary: Say hello\nstatus: ${status}\n${more}---\n\nPlease.\n`);
  writeTask("planning");
  const state = join(root, "state");
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: root,
    LANG: "C.UTF-8",
    CALLS: calls,
    SCRIPTED_AGENT_SPEED: "20",
  };
  let runs = 0;
  const harnessFor = (script: string): Harness => {
    const file = script === "" ? "" : join(root, "script.yml");
    if (file !== "") writeFileSync(file, script);
    return scripted({ program: [process.execPath, program], version: "1.2.3", state, script: file });
  };
  const orderFor = (given: Partial<HarnessOrder>): HarnessOrder => ({
    run: `run-${++runs}`,
    mode: "turn",
    prompt: "Go.",
    system: "",
    folder: repository,
    runFolder: join(root, `run-${runs}`),
    model: "",
    effort: "",
    permissions: "full",
    tools: undefined,
    taskFile,
    testCommand: [],
    cli: "signalbox",
    session: { kind: "new", id: `session-${runs}` },
    schema: undefined,
    mcp: undefined,
    hook: [],
    costLimit: undefined,
    env: { ...env, SIGNALBOX_ROLE: "worker" },
    ...given,
  });
  return {
    root,
    repository,
    taskFile,
    state,
    env,
    git,
    writeTask,
    harnessFor,
    orderFor,
    calls: () => (existsSync(calls) ? linesOf(calls) : []),
    transcript: (session: string) => readJsonLines(join(state, "sessions", `${session}.jsonl`)),
    close: () => removeFolder(root),
  };
}

export interface RunTurn extends TurnEnd {
  /** All events, in order. */
  readonly all: readonly HarnessEvent[];
  readonly ended: ProcessEnd;
}

/** Runs a turn as the daemon would, without its supervisor. */
export async function runTurn(harness: Harness, order: HarnessOrder): Promise<RunTurn> {
  const { argv, env, input } = await harness.prepare(order);
  const [file = "", ...args] = argv;
  const reader = harness.readOutput(order);
  const all: HarnessEvent[] = [];
  let errors = "";
  const ended = await new Promise<ProcessEnd>((resolve, reject) => {
    const child = spawn(file, args, { cwd: order.folder, env: { ...env } });
    child.stdout.on("data", (chunk: Buffer) => all.push(...reader.push(chunk)));
    child.stderr.on("data", (chunk: Buffer) => {
      errors += chunk.toString("utf8");
    });
    child.on("error", reject);
    // A program that does not read its input may end before it is written.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    child.on("close", (code, signal) =>
      resolve({ kind: "ended", code: code ?? undefined, signal: signal ?? "", cause: "exit", reason: "", at: 0 }),
    );
  });
  const end = reader.end(ended, errors);
  return { ...end, all: [...all, ...end.events], ended };
}

export function linesOf(file: string): readonly string[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "");
}

export function readJsonLines(file: string): readonly Readonly<Record<string, unknown>>[] {
  return existsSync(file) ? linesOf(file).map((line) => JSON.parse(line) as Record<string, unknown>) : [];
}
