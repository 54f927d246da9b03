import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const count = 100_000;

test(`every promise is kept in ${count} random lives with injected faults`, async () => {
  const args = [join(root, "scripts", "faults.ts"), "--seeds", String(count)];
  const { stdout } = await promisify(execFile)(process.execPath, args).catch(
    (error: { readonly stdout: string }) => error,
  );
  expect(stdout).toMatch(/^0 violations$/m);
  expect(stdout).toContain(`${count} lives`);
}, 7_200_000);

const crowded = 20_000;

test(`no task is starved in ${crowded} random lives with more tasks than seats and workspaces`, async () => {
  const args = [join(root, "scripts", "faults.ts"), "--crowd", "--seeds", String(crowded)];
  const { stdout } = await promisify(execFile)(process.execPath, args).catch(
    (error: { readonly stdout: string }) => error,
  );
  expect(stdout).toMatch(/^0 violations$/m);
  expect(stdout).toContain(`${crowded} lives`);
}, 7_200_000);
