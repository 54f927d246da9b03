import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readStation } from "./house/follow.ts";
import { root } from "./house/sources.ts";
import { countsOf, measureHouse, withHouseTable } from "./house/table.ts";

// npm run house: the sizes of the files of src, repeated code, and the files that a reader opens on five walks.
// With --write it updates the table in ARCHITECTURE.md.
const house = measureHouse();
const width = Math.max(...house.folders.map(({ folder }) => folder.length), "folder".length);
const columns = ["files", "lines", "median", "p90", "largest"] as const;
const line = (name: string, cells: readonly (string | number)[]) =>
  console.log(name.padEnd(width), ...cells.map((cell) => String(cell).padStart(7)));

line("folder", columns);
for (const each of [...house.folders, house.total])
  line(
    each.folder === "" ? "(src)" : each.folder,
    columns.map((column) => each[column]),
  );

console.log(`\nPairs of places with six or more identical lines: ${house.repeated.length}`);
for (const { lines, first, second } of house.repeated)
  console.log(`  ${lines} lines  ${first.file}:${first.line}  ${second.file}:${second.line}`);

for (const followed of house.walks) {
  console.log(`\n${followed.walk.title}: ${countsOf(followed)}, ${followed.lines} lines`);
  for (const { title, stations } of followed.walk.legs) {
    console.log(`  ${title}`);
    for (const { file, symbol, link } of stations.map(readStation))
      console.log(`    ${file}: ${symbol}${link === undefined ? "" : ` (${link})`}`);
  }
}

for (const problem of house.problems) console.error(`error: ${problem}`);
if (house.problems.length > 0) process.exitCode = 1;
if (process.argv.includes("--write")) {
  const file = join(root, "ARCHITECTURE.md");
  writeFileSync(file, withHouseTable(readFileSync(file, "utf8"), house));
}
