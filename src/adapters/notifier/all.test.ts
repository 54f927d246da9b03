import { expect, test } from "vitest";
import { createScriptedNotifier } from "../../../test/scripted-ports.ts";
import { Fault } from "../../fault.ts";
import { all } from "./notifiers.ts";

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

test("every channel is notified", async () => {
  const { notifiers, failures, both } = stage(undefined, undefined);
  await both.notify(note);
  expect(notifiers.map(({ notes }) => notes)).toEqual([[note], [note]]);
  expect(failures).toEqual([]);
});

test("without channels nothing happens", async () => {
  await stage().both.notify(note);
});

test("if one channel succeeds, the failures of the others are only reported", async () => {
  const error = new Fault("notifier.refused", "No.", { retry: "later" });
  const { notifiers, failures, both } = stage(error, undefined);
  await both.notify(note);
  expect(notifiers[1]?.notes).toEqual([note]);
  expect(failures).toEqual([error]);
});

test("if all channels fail, the error has every reason, and is worth a retry if one of them is", async () => {
  const later = new Fault("notifier.refused", "Busy.", { retry: "later" });
  const { failures, both } = stage(new Error("Missing."), later);
  await expect(both.notify(note)).rejects.toMatchObject({
    code: "notifier.failed",
    retry: "later",
    message: "No notification could be delivered.\nMissing.\nBusy.",
  });
  expect(failures).toEqual([]);
  await expect(stage(new Error("a"), new Error("b")).both.notify(note)).rejects.toMatchObject({ retry: "never" });
});

test("the failure of the only channel is passed on unchanged", async () => {
  const error = new Fault("notifier.missing", "No program.");
  await expect(stage(error).both.notify(note)).rejects.toBe(error);
});
