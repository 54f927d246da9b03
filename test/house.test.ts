import { expect, test } from "vitest";
import { repeatedPlaces } from "../scripts/house/repeated.ts";
import { measureHouse, withHouseTable } from "../scripts/house/table.ts";
import { read } from "./documents.ts";

const house = measureHouse();

test("every station of a walk is reached from an earlier one, and every folder is described", () => {
  expect(house.problems, "Mend scripts/house/walks.ts or scripts/house/folders.ts").toEqual([]);
});

test("ARCHITECTURE.md has the table that the script prints", () => {
  const document = read("ARCHITECTURE.md");
  expect(document, "Write the table again: npm run house -- --write").toBe(withHouseTable(document, house));
});

test("the detector finds two places with six identical lines, and ignores imports, comments and punctuation", () => {
  const same = ["const a = 1;", "const b = 2;", "const c = 3;", "const d = 4;", "const e = 5;"];
  const file = (name: string, ...lines: readonly string[]) => ({ file: name, text: `${lines.join("\n")}\n` });
  const copied = file("one.ts", 'import { x } from "./x.ts";', "{", ...same, "}", "// A remark.", "const f = 6;");
  const other = file("two.ts", "const z = 0;", ...same.map((line) => `  ${line}`), "const f = 6;", "const g = 7;");
  const short = file("three.ts", ...same);
  expect(repeatedPlaces([copied, other, short])).toEqual([
    { lines: 6, first: { file: "one.ts", line: 3 }, second: { file: "two.ts", line: 2 } },
  ]);
});
