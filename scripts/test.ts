// All checks that a change must pass: format and lint, types, dead code, then the whole suite. The last line is the count.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const bin = (name: string) => join("node_modules", ".bin", name);
const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
const report = join(folder, "report.json");
const only = process.argv.slice(2);
/** How long the suite may take to exit after its report, in milliseconds. */
const timeout = 30_000;

const checks: readonly (readonly [string, readonly string[]])[] =
  only.length > 0
    ? []
    : [
        [bin("biome"), ["check", "."]],
        [bin("tsc"), []],
        [bin("tsc"), ["--project", "src/web"]],
        [process.execPath, [join("node_modules", "knip", "bin", "knip.js")]],
      ];
// In parallel: each uses a single core.
const checked = await Promise.all(checks.map(([command, args]) => check(command, args)));
const failedChecks = checked.filter((isWell) => !isWell).length;

const projects = ["unit", "proofs", "git", "e2e", "agents", "scenarios", "web"];
const vitest = [
  join("node_modules", "vitest", "vitest.mjs"),
  "run",
  // On two busy cores one of some thousand waits for real programs may end too late. What needed it is named at the end.
  "--retry=1",
  ...projects.flatMap((project) => ["--project", project]),
];
const status = await runSuite();
const counts = readCounts();
rmSync(folder, { recursive: true, force: true });
const passed = counts.numPassedTests + checks.length - failedChecks;
const failed = counts.numFailedTests + failedChecks + (status !== 0 && counts.numFailedTests === 0 ? 1 : 0);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exit(failed > 0 ? 1 : 0);

/**
 * Runs the suite and returns its exit code. The report is written last: a suite that still runs long after it waits for a
 * leftover process.
 */
function runSuite(): Promise<number> {
  const reporters = ["default", "json", "./test/hang-reporter.ts", "./test/second-try-reporter.ts"].map(
    (name) => `--reporter=${name}`,
  );
  const args = [...vitest, ...reporters, `--outputFile=${report}`, ...only];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  let reportedAt = Number.POSITIVE_INFINITY;
  const looking = setInterval(() => {
    if (existsSync(report)) reportedAt = Math.min(reportedAt, Date.now());
    if (Date.now() - reportedAt < timeout) return;
    process.stderr.write("The suite has ended, but a process that a test started still runs. Not waiting for it.\n");
    child.kill("SIGKILL");
  }, 1_000);
  return new Promise((resolve) => {
    child.on("close", (code) => {
      clearInterval(looking);
      // The failures are in the report.
      resolve(code ?? (reportedAt < Number.POSITIVE_INFINITY ? 0 : 1));
    });
  });
}

function readCounts(): { numPassedTests: number; numFailedTests: number } {
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch {
    return { numPassedTests: 0, numFailedTests: 0 };
  }
}

/** Prints its output in one piece when it ends. */
function check(command: string, args: readonly string[]): Promise<boolean> {
  const child = spawn(command, [...args], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  return new Promise((resolve) => {
    const end = (isWell: boolean, more = "") => {
      process.stderr.write(isWell ? said : `${said}${more}failed: ${command} ${args.join(" ")}\n`);
      resolve(isWell);
    };
    child.on("error", (error) => end(false, `${error.message}\n`));
    child.on("close", (code) => end(code === 0));
  });
}
