// Tests harnesses with the real programs against a scripted model, and prints a table. Names after the command choose
// columns; `--row` with a part of its name chooses rows. With `--sandbox` the programs run in a sandbox, with `--proxy` in
// one that reaches the model through a proxy only.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { type Behaviour, behaviours } from "../test/harness/behaviours/all.ts";
import type { Candidate } from "../test/harness/candidate.ts";
import { install } from "../test/harness/install.ts";
import { knownFailures } from "../test/harness/known-failures.ts";
import { pinned } from "../test/harness/pinned.ts";
import { openStage } from "../test/harness/stage.ts";

type Cell = { readonly kind: "ok" | "lacks" | "known" | "failed"; readonly why: string; readonly seconds: number };

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { row: { type: "string", multiple: true }, sandbox: { type: "boolean" }, proxy: { type: "boolean" } },
});
const folder = join(import.meta.dirname, "..", "test", "harness", "candidates");
const names = readdirSync(folder).map((file) => file.replace(/\.ts$/, ""));
const unknown = positionals.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no harness "${unknown.join('", "')}". Choose from ${names.join(", ")}.\n`);
  process.exit(2);
}
const columns = names.filter((name) => positionals.length === 0 || positionals.includes(name));
const rows = behaviours.filter(({ name }) => values.row?.some((part) => name.includes(part)) ?? true);

const cells = new Map<string, Cell>();
const versions = new Map<string, string>();
for (const column of columns) {
  const { candidate } = (await import(pathToFileURL(join(folder, `${column}.ts`)).href)) as { candidate: Candidate };
  versions.set(column, pinned[candidate.program].version);
  const path = install(candidate.program);
  for (const row of rows) {
    const cell = await tryOut(candidate, path, row);
    cells.set(`${column} ${row.name}`, cell);
    process.stderr.write(
      `${column}: ${row.name}: ${cell.kind} (${cell.seconds.toFixed(1)} s)${cell.why && `\n${indent(cell.why)}`}\n`,
    );
  }
}

print();
const failed = [...cells.values()].filter(({ kind }) => kind === "failed").length;
process.stdout.write(`\n${cells.size - failed} as expected, ${failed} failed\n`);
process.exit(failed > 0 ? 1 : 0);

async function tryOut(candidate: Candidate, path: string, row: Behaviour): Promise<Cell> {
  const began = performance.now();
  const cell = (kind: Cell["kind"], why = ""): Cell => ({ kind, why, seconds: (performance.now() - began) / 1000 });
  const stage = await openStage(candidate, path, values.sandbox === true || values.proxy === true, values.proxy);
  const { version } = pinned[candidate.program];
  try {
    if (!row.needs(stage.harness.can, candidate)) return cell("lacks");
    await row.run(stage);
    return cell("ok");
  } catch (error) {
    const known = knownFailures.find(
      (each) =>
        each.program === candidate.program &&
        each.behaviour === row.name &&
        each.version === version &&
        (each.harness ?? stage.harness.name) === stage.harness.name,
    );
    return known === undefined
      ? cell("failed", (error as Error).message)
      : cell("known", `${known.why} ${known.reproduction}`);
  } finally {
    await stage.close();
  }
}

function print(): void {
  const shown = { ok: "ok", lacks: "–", known: "listed", failed: "FAILED" };
  const header = ["", ...columns.map((name) => `${name} ${versions.get(name)}`)];
  const body = rows.map(({ name }) => [
    name,
    ...columns.map((column) => shown[cells.get(`${column} ${name}`)?.kind ?? "lacks"]),
  ]);
  const widths = header.map((_, at) => Math.max(...[header, ...body].map((line) => line[at]?.length ?? 0)));
  for (const line of [header, ...body])
    process.stdout.write(
      `${line
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd()}\n`,
    );
}

function indent(text: string): string {
  return text.replace(/^/gm, "    ");
}
