// Plants one bug after the other into a copy of the source: the simulator, or the named test, must find it.
// Prints how each was found; exits with 1 if one was not. Only some: npm run mutants -- salvage "a comment"
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Mutant } from "../test/simulator/mutants/found-by-lives.ts";
import { mutants } from "../test/simulator/simulate.ts";

/** The same seeds in every run, so that a bug that was found once is always found. */
const seeds = 2_000;
const crowdedSeeds = 600;
/** Of one workflow, whose lives are long. */
const plannedSeeds = 400;
/** The seeds of bugs that name no workflow were counted when seeds alternated between these. */
const usual = ["default", "classic", "minimal", "crew", "team"];
const only = process.argv.slice(2);
const root = resolve(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "signalbox-mutants-"));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const name of ["src", "scripts", "test", "docs", "workflows", "schema", "package.json", "tsconfig.json"])
  cpSync(join(root, name), join(folder, name), { recursive: true });
symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
writeFileSync(join(folder, "vitest.config.ts"), "export default { test: { testTimeout: 120_000 } };\n");

const chosen = mutants.filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)));
let missed = 0;
for (const mutant of chosen) {
  const began = performance.now();
  const found = await look(mutant);
  if (found === undefined) missed++;
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  process.stdout.write(
    `${found === undefined ? "NOT FOUND" : "found"}: ${mutant.name}\n    ${found ?? ""} ${seconds} s\n`,
  );
}
process.stdout.write(`\n${chosen.length} planted, ${chosen.length - missed} found\n`);
process.exit(missed > 0 ? 1 : 0);

/** The violation or failed test; undefined if the bug was not found. */
async function look(mutant: Mutant): Promise<string | undefined> {
  const { name, edits, test } = mutant;
  const originals = new Map<string, string>();
  try {
    for (const { file, from, to } of edits) {
      const path = join(folder, file);
      const text = readFileSync(path, "utf8");
      if (!originals.has(path)) originals.set(path, text);
      if (text.split(from).length !== 2) throw new Error(`"${name}": ${file} does not have exactly once: ${from}`);
      writeFileSync(
        path,
        text.replace(from, () => to),
      );
    }
    return test === undefined ? await simulate(mutant) : await runTest(name, test);
  } finally {
    for (const [path, text] of originals) writeFileSync(path, text);
  }
}

async function simulate({ name, isCrowded, workflow }: Mutant): Promise<string | undefined> {
  const count = isCrowded ? crowdedSeeds : workflow === undefined ? seeds : plannedSeeds;
  const names = workflow === undefined ? usual : [workflow];
  const kind = [...(isCrowded ? ["--crowd"] : []), ...names.flatMap((name) => ["--workflow", name])];
  const said = await run([join("scripts", "faults.ts"), ...kind, "--seeds", String(count)]);
  const [, seed, promise] = /^seed (\d+), .*\n([^:\n]+):/m.exec(said) ?? [];
  if (seed === undefined && !/^0 violations$/m.test(said)) throw new Error(`"${name}" does not run.\n${said}`);
  return seed === undefined ? undefined : `the simulator, seed ${seed}: ${promise};`;
}

async function runTest(name: string, test: string): Promise<string | undefined> {
  const vitest = join("node_modules", "vitest", "vitest.mjs");
  const report = join(folder, "report.json");
  rmSync(report, { force: true });
  const said = await run([vitest, "run", test, "--reporter=json", `--outputFile=${report}`]);
  const text = existsSync(report) ? readFileSync(report, "utf8") : "{}";
  const { numFailedTests: failed = 0, numPassedTests: passed = 0 } = JSON.parse(text) as Record<string, number>;
  if (failed + passed === 0) throw new Error(`"${name}" does not run.\n${said}`);
  return failed === 0 ? undefined : `${test}: ${failed} failed;`;
}

function run(args: readonly string[]): Promise<string> {
  const env = { ...process.env, SIGNALBOX_BUILT: folder };
  const child = spawn(process.execPath, [...args], { cwd: folder, env });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
  const end = () => void child.kill();
  process.once("exit", end);
  return new Promise((done) =>
    child.once("close", () => {
      process.off("exit", end);
      done(said);
    }),
  );
}
