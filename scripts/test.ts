// Everything a change must pass: format and lint, types, dead code, then the whole suite. Ends with the count alone on a line.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const bin = (name: string) => join("node_modules", ".bin", name);
const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
const report = join(folder, "report.json");
const only = process.argv.slice(2);

const checks: readonly (readonly [string, readonly string[]])[] =
  only.length > 0
    ? []
    : [
        [bin("biome"), ["check", "."]],
        [bin("tsc"), []],
        [process.execPath, [join("node_modules", "knip", "bin", "knip.js")]],
      ];
let failedChecks = 0;
for (const [command, args] of checks) {
  const { status } = spawnSync(command, [...args], { stdio: "inherit" });
  if (status !== 0) {
    failedChecks++;
    process.stderr.write(`failed: ${command} ${args.join(" ")}\n`);
  }
}

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
const { status } = spawnSync(
  process.execPath,
  [...vitest, "--reporter=default", "--reporter=json", `--outputFile=${report}`, ...only],
  { stdio: "inherit" },
);
const counts = readCounts();
rmSync(folder, { recursive: true, force: true });
const passed = counts.numPassedTests + checks.length - failedChecks;
const failed = counts.numFailedTests + failedChecks + (status !== 0 && counts.numFailedTests === 0 ? 1 : 0);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exit(failed > 0 ? 1 : 0);

function readCounts(): { numPassedTests: number; numFailedTests: number } {
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch {
    return { numPassedTests: 0, numFailedTests: 0 };
  }
}
