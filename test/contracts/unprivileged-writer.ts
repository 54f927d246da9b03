// Run by sqlite-faults.test.ts. Root ignores permissions, so this drops root before it opens the store; it prints the
// Fault from opening the store or writing to it.
import { openSqliteStore } from "../../src/adapters/sqlite/store.ts";
import { Fault } from "../../src/fault.ts";
import { sampleProject } from "./samples.ts";

const nobody = 65_534;
if (process.getuid?.() === 0) {
  process.setegid?.(nobody);
  process.seteuid?.(nobody);
}
try {
  const store = openSqliteStore(process.argv[2] ?? "");
  await store.addProject(sampleProject("tea"));
  process.stdout.write(JSON.stringify({ code: "none" }));
} catch (error) {
  const { code, message, hint } = error as Fault;
  process.stdout.write(JSON.stringify({ isFault: error instanceof Fault, code, message, hint }));
}
