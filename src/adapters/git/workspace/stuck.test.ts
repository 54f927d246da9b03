import { expect, test } from "vitest";
import { Fault } from "../../../fault.ts";
import { stuckByGit, stuckIn } from "./stuck.ts";

const failed = (code: string, path: string) => Object.assign(new Error(code), { code, path, syscall: "rename" });

test("a file that may not be removed from a workspace is named, with what to do", () => {
  for (const code of ["EPERM", "EACCES", "EBUSY"])
    expect(stuckIn("/pool/1", failed(code, "/pool/1/a b"))).toMatchObject({
      ...{ code: "workspace.stuck", retry: "never", hint: expect.stringContaining("chattr -R -i /pool/1") },
      message: `/pool/1 cannot be emptied. /pool/1/a b cannot be removed: rename failed with ${code}.`,
    });
});

test("a full disk, and a file outside of the workspace, say nothing about the workspace", () => {
  expect(stuckIn("/pool/1", failed("ENOSPC", "/pool/1/a"))).toBeUndefined();
  expect(stuckIn("/pool/1", failed("EPERM", "/pool/11/a"))).toBeUndefined();
  expect(stuckIn("/pool/1", failed("EPERM", "/trash/a"))).toBeUndefined();
  expect(stuckIn("/pool/1", new Fault("git.locked", "unable to unlink 'a': Permission denied"))).toBeUndefined();
});

test("git's error or warning about a file that it may not remove is recognised, and others are not", () => {
  const warning = "warning: unable to unlink 'gitf': Operation not permitted\n";
  expect(stuckByGit("/pool/1", warning)?.message).toContain("'gitf': Operation not permitted");
  expect(stuckIn("/pool/1", new Fault("git.failed", "error: unable to unlink old 'x': Permission denied"))?.code).toBe(
    "workspace.stuck",
  );
  expect(stuckByGit("/pool/1", "warning: unable to rmdir 'sub': Directory not empty\n")).toBeUndefined();
});
