import { expect, test } from "vitest";
import { createLiveScreen, createScreenLog } from "./screen.ts";

function opened() {
  let written = "";
  const screen = createLiveScreen({
    write(text: string | Uint8Array) {
      written += text;
      return true;
    },
  });
  const take = () => {
    const taken = written;
    written = "";
    return taken;
  };
  return { screen, take };
}

test("only changed lines are written, and removed lines are erased", () => {
  const { screen, take } = opened();
  screen.enter();
  screen.draw(["one", "two", "three"]);
  take();
  screen.draw(["one", "2", "three"]);
  expect(take()).toBe("\u001b[?2026h\u001b[2;1H2\u001b[0m\u001b[K\u001b[?2026l");
  screen.draw(["one"]);
  expect(take()).toMatch(/^\S*\[2;1H\S*\[K\S*\[3;1H\S*\[K/);
  screen.draw(["one"]);
  expect(take()).toBe("");
});

test("nothing is written to a terminal after it is released, and it is released once", () => {
  const { screen, take } = opened();
  screen.draw(["too early"]);
  expect(take()).toBe("");
  screen.enter();
  expect(take()).toContain("\u001b[?1049h");
  screen.leave();
  expect(take()).toMatch(/\[\?25h.*\[\?1049l$/);
  screen.leave();
  screen.draw(["too late"]);
  expect(take()).toBe("");
});

test("after a resize everything is redrawn", () => {
  const { screen, take } = opened();
  screen.enter();
  screen.draw(["one"]);
  screen.forget();
  take();
  screen.draw(["one"]);
  expect(take()).toContain("one");
});

test("a line is printed once, when it no longer changes", () => {
  const log = createScreenLog();
  expect(log.take("one\ntwo", false)).toBe("");
  expect(log.take("one\ntwo", false)).toBe("one\ntwo");
  expect(log.take("one\ntwo\nthree", false)).toBe("");
  expect(log.take("one\ntwo\nthree", false)).toBe("three");
});

test("a clock below the text is printed only at the end", () => {
  const log = createScreenLog();
  log.take("one\n1 s", false);
  expect(log.take("one\n2 s", false)).toBe("one");
  expect(log.take("one\n3 s", false)).toBe("");
  expect(log.take("one\nover", true)).toBe("over");
});

test("a repeated line is printed again", () => {
  const log = createScreenLog();
  log.take("ok", false);
  log.take("ok", false);
  log.take("ok\nok", false);
  expect(log.take("ok\nok", false)).toBe("ok");
});
