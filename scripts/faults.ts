// Lives many small projects in memory in which everything goes wrong, and looks whether every promise is kept.
// npm run faults -- --seeds 1000 [--seed 1] [--workflow default]; with --seeds 1 it prints what happens.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeFault, planFaults } from "../src/testing/simulator/faults.ts";
import { live } from "../src/testing/simulator/live.ts";
import { type Found, readSimulated, simulateFaults } from "../src/testing/simulator/simulate-faults.ts";

const names = ["default", "classic", "minimal", "crew"];
const { values } = parseArgs({
  options: { seeds: { type: "string" }, seed: { type: "string" }, workflow: { type: "string" } },
});
const count = numberOf("seeds", values.seeds ?? "1000");
const first = numberOf("seed", values.seed ?? "1");
if (values.workflow !== undefined && !names.includes(values.workflow))
  fail(`There is no simulated workflow "${values.workflow}". There are ${names.join(", ")}.`);
const workflows = (values.workflow === undefined ? names : [values.workflow]).map((name) =>
  readSimulated(name, readFileSync(join(import.meta.dirname, "..", "workflows", `${name}.yml`), "utf8")),
);

const chosen = workflows[first % workflows.length];
if (count === 1 && chosen !== undefined) {
  const life = await live({ seed: first, faults: planFaults(first), ...chosen });
  print(`${chosen.name}, seed ${first}\n${life.trace.join("\n")}\ntrace hash ${life.hash}`);
  process.exit(life.violations.length > 0 ? 1 : 0);
}

const before = process.cpuUsage();
const began = performance.now();
const seeds = Array.from({ length: count }, (_, index) => first + index);
const { lives, ended, asking, deaths, calls, found } = await simulateFaults(workflows, seeds);
const used = process.cpuUsage(before);
const seconds = (performance.now() - began) / 1000;
const processor = (used.user + used.system) / 1e6;
print(`${lives} lives under ${workflows.map(({ name }) => name).join(", ")}; seeds ${first} to ${first + lives - 1}`);
print(`${ended} tasks ended, ${asking} ask for a person; ${deaths} daemons died; ${calls} calls of what is outside`);
print(
  `${(lives / seconds).toFixed(1)} lives a second; ${(lives / processor).toFixed(1)} for each second of processor time`,
);
for (const each of found) print(report(each));
print(`${found.length} violation${found.length === 1 ? "" : "s"}`);
process.exit(found.length > 0 ? 1 : 0);

function report({ seed, workflow, violations, faults, trace }: Found): string {
  const needed = faults.map(describeFault).join("; ") || "none at all";
  return [
    ...["", `seed ${seed}, workflow ${workflow}`, ...violations, `faults that it takes: ${needed}`, "", ...trace, ""],
    `Again: npm run faults -- --seeds 1 --seed ${seed}${values.workflow === undefined ? "" : ` --workflow ${workflow}`}`,
  ].join("\n");
}

function numberOf(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  return fail(`--${name} must be a whole number, not "${text}".`);
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
