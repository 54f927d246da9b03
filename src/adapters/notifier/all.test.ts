import { expect, test } from "vitest";
import { Fault } from "../../fault.ts";
import { createScriptedNotifier } from "../../testing/scripted-notifier.ts";
import { all } from "./all.ts";

const note = { title: "coffee#12 Brew", text: "It is done.", task: "t1", project: "coffee", key: "t1:7" };

function stage(...errors: readonly (Error | undefined)[]) {
  const failures: unknown[] = [];
  const notifiers = errors.map((error) => {
    const notifier = createScriptedNotifier();
    if (error !== undefined) notifier.failWith(error);
    return notifier;
  });
  return { notifiers, failures, both: all(notifiers, (error) => failures.push(error)) };
}

test("every one is told", async () => {
  const { notifiers, failures, both } = stage(undefined, undefined);
  await both.notify(note);
  expect(notifiers.map(({ notes }) => notes)).toEqual([[note], [note]]);
  expect(failures).toEqual([]);
});

test("with nobody to tell nothing happens", async () => {
  await stage().both.notify(note);
});

test("while one was told the others' failures are only reported", async () => {
  const error = new Fault("notifier.refused", "No.", { retry: "later" });
  const { notifiers, failures, both } = stage(error, undefined);
  await both.notify(note);
  expect(notifiers[1]?.notes).toEqual([note]);
  expect(failures).toEqual([error]);
});

test("if all fail it fails with every reason, and may work later if one of them may", async () => {
  const later = new Fault("notifier.refused", "Busy.", { retry: "later" });
  const { failures, both } = stage(new Error("Missing."), later);
  await expect(both.notify(note)).rejects.toMatchObject({
    code: "notifier.failed",
    retry: "later",
    message: "The person could not be told in any way.\nMissing.\nBusy.",
  });
  expect(failures).toEqual([]);
  await expect(stage(new Error("a"), new Error("b")).both.notify(note)).rejects.toMatchObject({ retry: "never" });
});

test("the failure of the only one stays as it is", async () => {
  const error = new Fault("notifier.missing", "No program.");
  await expect(stage(error).both.notify(note)).rejects.toBe(error);
});
