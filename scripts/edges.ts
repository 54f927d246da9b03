// Removes each edge, guard, gate, hook and rule from a copy of a workflow, one at a time, and runs its scenarios with the copy:
// at least one must fail. Then gives wrong plans, answers, decisions and names to the command line: each
// must be refused, and change nothing. Prints a table; exits with 1 if a removal was not noticed, or wrong input not refused.
// Only some: npm run edges -- classic "working → stuck", or npm run edges -- input
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import buildPrograms from "../test/build-programs.ts";
import { type Mutant, mutantsOf } from "../test/scenarios/mutants.ts";

/** The files with the scenarios of each workflow. Those of `team`, of its parts and of `pipeline` need no terminals. */
const scenarios: Readonly<Record<string, readonly string[]>> = {
  ...{ default: ["default"], classic: ["classic"], minimal: ["minimal"] },
  ...{ team: ["team-moves"], "team-subtask": ["team-subtask-moves"], pipeline: ["pipeline-moves"] },
};
const workflows = Object.keys(scenarios);
/** The timeout of a wait in a scenario. A wait for an event that never comes costs this much. */
const timeout = process.env.EDGES_PATIENCE ?? "60000";
/** How many copies run in parallel. Most of the time is spent waiting for events that never come. */
const sideBySide = Number(process.env.EDGES_AT_ONCE ?? "3");
const maxOutput = 20_000;
const missedIt = "NOT NOTICED";

/** The name under which only wrong input is tried. */
const input = "input";

const [only = "", part = ""] = process.argv.slice(2);
if (only !== "" && only !== input && !workflows.includes(only)) {
  process.stderr.write(`There is nothing to try about "${only}". There are ${[...workflows, input].join(", ")}.\n`);
  process.exit(2);
}
const chosen = workflows.filter((name) => only === "" || name === only);
const folders = Array.from({ length: sideBySide }, () => mkdtempSync(join(tmpdir(), "signalbox-edges-")));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
// Build the programs once; otherwise every run would build them.
const removePrograms = buildPrograms();
let missed = 0;
let count = 0;
try {
  for (const name of chosen) {
    const text = readFileSync(join("workflows", `${name}.yml`), "utf8");
    const mutants = mutantsOf(text).filter(({ what }) => what.includes(part));
    process.stdout.write(`\n${name}: ${mutants.length} things to take out\n`);
    const [first = ""] = folders;
    // A parent and its parts follow two files; both are read from the folder.
    for (const folder of folders) cpSync("workflows", folder, { recursive: true });
    const whole = await play(first, name, "", {});
    if (whole.failed) throw new Error(`The scenarios of ${name} fail with the unchanged file.\n${whole.said}`);
    const waiting = mutants.values();
    await Promise.all(folders.map((folder) => noticeAll(folder, name, waiting)));
  }
  if (only === "" || only === input) {
    const { failed, said } = await runTests("e2e", [join("test", "e2e", "wrong-input.test.ts")], [], {});
    process.stdout.write(
      `\n${input}: ${failed ? `NOT REFUSED\n${said}` : "all of it is refused, and changes nothing"}\n`,
    );
    if (failed) missed++;
  }
} finally {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  removePrograms?.();
}
process.stdout.write(`\n${count} taken out, ${missed} not noticed\n`);
process.exit(missed > 0 ? 1 : 0);

/** Each worker takes the next entry of the shared list. */
async function noticeAll(folder: string, name: string, waiting: Iterable<Mutant>): Promise<void> {
  for (const mutant of waiting) {
    count++;
    const found = await notice(folder, name, mutant);
    if (found === missedIt) missed++;
    process.stdout.write(`  ${mutant.what.padEnd(48)} ${found}\n`);
  }
}

async function notice(folder: string, name: string, { text, verdict, about }: Mutant): Promise<string> {
  if (verdict !== "") return verdict;
  writeFileSync(join(folder, `${name}.yml`), text);
  const hurried = { SCENARIO_PATIENCE: timeout };
  // Run the scenarios that name the edge first, and all of them only if those do not notice.
  const near = await play(folder, name, about, hurried);
  if (near.failed) return `noticed  ${whoFailed(near.said)}`;
  const far = await play(folder, name, "", hurried);
  return far.failed ? `noticed  ${whoFailed(far.said)}` : missedIt;
}

/** The scenario that failed, and the beginning of its error. */
function whoFailed(said: string): string {
  const [, who = "", why = ""] = /FAIL .*? > ([^:\n]*).*\n(.*)/.exec(stripVTControlCharacters(said)) ?? [];
  return `by ${who}: ${why.slice(0, 60)}`;
}

/** Runs the scenarios of a workflow whose names match, up to the first failure. */
function play(
  folder: string,
  name: string,
  about: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly failed: boolean; readonly said: string }> {
  const filter = about === "" ? [] : ["--testNamePattern", about];
  const files = (scenarios[name] ?? []).map((file) => join("test", "scenarios", `${file}.test.ts`));
  return runTests("scenarios", files, ["--bail=1", ...filter], { ...env, SCENARIO_WORKFLOWS: folder });
}

function runTests(
  project: string,
  files: readonly string[],
  flags: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly failed: boolean; readonly said: string }> {
  const vitest = [join("node_modules", "vitest", "vitest.mjs"), "run", "--project", project];
  const child = spawn(process.execPath, [...vitest, ...files, ...flags], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      said = (said + chunk).slice(-maxOutput);
    });
  const end = () => void child.kill("SIGTERM");
  process.once("exit", end);
  return new Promise((done) =>
    child.once("close", (code) => {
      process.off("exit", end);
      done({ failed: code !== 0, said });
    }),
  );
}
