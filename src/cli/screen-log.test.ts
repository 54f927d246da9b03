import { expect, test } from "vitest";
import { createScreenLog } from "./screen-log.ts";

test("a line is told once it stands still, and only once", () => {
  const log = createScreenLog();
  expect(log.take("one\ntwo", false)).toBe("");
  expect(log.take("one\ntwo", false)).toBe("one\ntwo");
  expect(log.take("one\ntwo\nthree", false)).toBe("");
  expect(log.take("one\ntwo\nthree", false)).toBe("three");
});

test("a clock below the text is never told, but for the last time", () => {
  const log = createScreenLog();
  log.take("one\n1 s", false);
  expect(log.take("one\n2 s", false)).toBe("one");
  expect(log.take("one\n3 s", false)).toBe("");
  expect(log.take("one\nover", true)).toBe("over");
});

test("a line that comes a second time is told a second time", () => {
  const log = createScreenLog();
  log.take("ok", false);
  log.take("ok", false);
  log.take("ok\nok", false);
  expect(log.take("ok\nok", false)).toBe("ok");
});
