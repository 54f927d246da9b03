// Run by sqlite-faults.test.ts. Permissions do not bind root, so it gives root up before it opens the store; it prints the
// fault that it meets when it opens it or writes to it.
import { openSqliteStore } from "../../src/adapters/store/sqlite/open.ts";
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
