// Prepares one workspace in a separate process that the test can kill.
import { createRunner } from "../../src/adapters/git/runner.ts";
import { createClones, createWorktrees } from "../../src/adapters/git/workspace/kinds.ts";

const { kind, options, order, env } = JSON.parse(process.argv[2] ?? "{}");
const run = createRunner({ program: "git", env, signal: undefined, limits: { short: 60_000, long: 60_000 } });
const workspaces = (kind === "clone" ? createClones : createWorktrees)({ ...options, run });
process.stdout.write("begun\n");
await workspaces.prepare(order);
process.stdout.write("done\n");
