// Writes the table of docs/harnesses.md from the features that the adapters declare.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withHarnessTable } from "./harness-table.ts";

const file = join("docs", "harnesses.md");
writeFileSync(file, withHarnessTable(readFileSync(file, "utf8")));
