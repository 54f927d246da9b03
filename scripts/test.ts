// Everything a change must pass: format and lint, types, dead code, then the whole suite. Ends with the count alone on a line.
import { spawn, spawnSync } from "node:child_process";
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
