import { spawnSync } from "node:child_process";

// npm run self-approval: tries every way past a review, without and in a sandbox, and compares docs/promises.md.
// With --write it updates the table there.
const write = process.argv.includes("--write") ? { SELF_APPROVAL: "write" } : {};
const { status } = spawnSync("npx", ["vitest", "run", "--project", "long", "test/scenarios/self-approval/"], {
  stdio: "inherit",
  env: { ...process.env, ...write },
});
process.exitCode = status ?? 1;
