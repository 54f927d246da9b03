import { expect, test } from "vitest";
import { Fault } from "../../fault.ts";
import { statusCodeOf } from "./fault-status.ts";

const statusOf = (code: string, retry: "never" | "later" = "never") => statusCodeOf(new Fault(code, "No.", { retry }));

test.each([
  "merge.nothing",
  "sync.no-workspace",
  "merge.under-way",
  "push.no-work",
  "workspace.no-base",
  "terminal.not-held",
])(
  "%s, which the state of the task or of the repository refuses, is a conflict and not a failure of the daemon",
  (code) => expect(statusOf(code)).toBe(409),
);

test("a value that cannot be used is the mistake of who asks", () => {
  expect(["task.invalid", "git.bad-ref", "forge.bad-url", "usage"].map((code) => statusOf(code))).toEqual(
    Array(4).fill(400),
  );
});

test("what the daemon or the machine fails at is a failure, whatever was asked", () => {
  const codes = ["daemon.error", "git.failed", "store.corrupt", "store.full", "unreadable", "workspace.unwritable"];
  expect([...codes, "git.missing", "store.bad-copy"].map((code) => statusOf(code))).toEqual(Array(8).fill(500));
});

test("what may succeed later without a change of the request says so", () => {
  expect(["merge.later", "pool.full", "terminal.unreachable"].map((code) => statusOf(code, "later"))).toEqual(
    Array(3).fill(503),
  );
  expect(statusOf("merge.conflict", "later")).toBe(409);
});

test("a code that is known keeps its own status", () => {
  expect(["task.missing", "caller.denied", "config.untrusted", "daemon.older"].map((code) => statusOf(code))).toEqual([
    404, 403, 403, 426,
  ]);
});
