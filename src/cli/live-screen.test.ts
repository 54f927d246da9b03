import { expect, test } from "vitest";
import { createLiveScreen } from "./live-screen.ts";

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

test("only lines that have changed are written, and those that are gone are erased", () => {
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

test("nothing is written to a terminal that was given back, and it is given back once", () => {
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

test("after the size has changed everything is drawn again", () => {
  const { screen, take } = opened();
  screen.enter();
  screen.draw(["one"]);
  screen.forget();
  take();
  screen.draw(["one"]);
  expect(take()).toContain("one");
});
