// Plants one bug after the other into a copy of the source, and lets the simulator look for it: it must break a promise.
// Prints a table; ends with 1 where a bug was not found. Only some: npm run mutants -- salvage
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Mutant, mutants } from "../src/testing/simulator/mutants.ts";

const seeds = process.env.MUTANT_SEEDS ?? "400";
const [only = ""] = process.argv.slice(2);
const root = resolve(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "signalbox-mutants-"));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
let missed = 0;
try {
  for (const name of ["src", "scripts", "workflows", "package.json"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const chosen = mutants.filter(({ name }) => name.includes(only));
  for (const mutant of chosen) {
    const found = await look(mutant);
    if (found === undefined) missed++;
    process.stdout.write(`${(found ?? "NOT FOUND").padEnd(62)} ${mutant.name}\n`);
  }
  process.stdout.write(`\n${chosen.length} planted, ${chosen.length - missed} found\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(missed > 0 ? 1 : 0);

/** Which promise the bug breaks, and with which seed; undefined where none is. */
async function look({ name, edits }: Mutant): Promise<string | undefined> {
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
    const said = await simulate();
    const [, seed, promise] = /^seed (\d+), .*\n([^:\n]+):/m.exec(said) ?? [];
    if (seed === undefined && !/^0 violations$/m.test(said)) throw new Error(`"${name}" does not run.\n${said}`);
    return seed === undefined ? undefined : `${promise} (seed ${seed})`;
  } finally {
    for (const [path, text] of originals) writeFileSync(path, text);
  }
}

function simulate(): Promise<string> {
  const child = spawn(process.execPath, [join("scripts", "faults.ts"), "--seeds", seeds], { cwd: folder });
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
