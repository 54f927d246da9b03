// Writes the table of docs/harnesses.md from what the adapters say that their harnesses can do.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withHarnessTable } from "./harness-table.ts";

const file = join("docs", "harnesses.md");
writeFileSync(file, withHarnessTable(readFileSync(file, "utf8")));
