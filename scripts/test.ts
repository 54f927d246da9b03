// Everything a change must pass: format and lint, types, dead code, then the whole suite. Ends with the count alone on a line.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const bin = (name: string) => join("node_modules", ".bin", name);
const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
const report = join(folder, "report.json");
const only = process.argv.slice(2);
/** How long the suite may take to end once it has reported, in milliseconds. */
const patience = 30_000;

const checks: readonly (readonly [string, readonly string[]])[] =
  only.length > 0
    ? []
    : [
        [bin("biome"), ["check", "."]],
        [bin("tsc"), []],
        [process.execPath, [join("node_modules", "knip", "bin", "knip.js")]],
      ];
// Side by side: one of them uses a single core.
const checked = await Promise.all(checks.map(([command, args]) => check(command, args)));
const failedChecks = checked.filter((isWell) => !isWell).length;

const vitest = [
  join("node_modules", "vitest", "vitest.mjs"),
  "run",
  "--project",
  "unit",
  "--project",
  "git",
  "--project",
  "e2e",
  "--project",
  "agents",
  "--project",
  "scenarios",
];
const status = await runSuite();
const counts = readCounts();
rmSync(folder, { recursive: true, force: true });
const passed = counts.numPassedTests + checks.length - failedChecks;
const failed = counts.numFailedTests + failedChecks + (status !== 0 && counts.numFailedTests === 0 ? 1 : 0);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exit(failed > 0 ? 1 : 0);

/** Its exit code. Its report is written last: whoever is still there long after that waits for what a test has left behind. */
function runSuite(): Promise<number> {
  const reporters = ["default", "json", "./test/hang-reporter.ts"].map((name) => `--reporter=${name}`);
  const args = [...vitest, ...reporters, `--outputFile=${report}`, ...only];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  let reportedAt = Number.POSITIVE_INFINITY;
  const looking = setInterval(() => {
    if (existsSync(report)) reportedAt = Math.min(reportedAt, Date.now());
    if (Date.now() - reportedAt < patience) return;
    process.stderr.write(
      "The suite is over, but something that a test has started still runs. It is not waited for.\n",
    );
    child.kill("SIGKILL");
  }, 1_000);
  return new Promise((resolve) => {
    child.on("close", (code) => {
      clearInterval(looking);
      // What has failed is in the report.
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

/** Says what it found in one piece, once it is over. */
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
