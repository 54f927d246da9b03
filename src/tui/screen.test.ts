import { expect, test } from "vitest";
import { createScreen } from "./screen.ts";

function recorded() {
  const writes: string[] = [];
  const screen = createScreen({ write: (text: string) => writes.push(text) }, false);
  return { screen, take: () => writes.splice(0) };
}
const clears = (text: string) => text.split("\u001b[2J").length - 1;

test("the terminal is cleared on entry and after a resize, and never else", () => {
  const { screen, take } = recorded();
  screen.enter();
  expect(clears(take().join(""))).toBe(1);
  screen.draw(["one", "two"], 10);
  screen.draw(["one", "2"], 10);
  expect(clears(take().join(""))).toBe(0);
  screen.clear();
  screen.draw(["one", "2"], 12);
  screen.draw(["one", "3"], 12);
  const after = take();
  expect(after.map(clears)).toEqual([1, 0]);
});

test("only changed lines are written, each frame in one synchronized update, and nothing where nothing changed", () => {
  const { screen, take } = recorded();
  screen.enter();
  screen.draw(["one", "two", "three"], 10);
  take();
  expect(screen.draw(["one", "2", "three"], 10)).toBe(true);
  expect(take()).toEqual(["\u001b[?2026h\u001b[2;1H2\u001b[K\u001b[?2026l"]);
  expect(screen.draw(["one", "2", "three"], 10)).toBe(false);
  expect(take()).toEqual([]);
  screen.draw(["one"], 10);
  expect(take()).toEqual(["\u001b[?2026h\u001b[2;1H\u001b[K\u001b[3;1H\u001b[K\u001b[?2026l"]);
});

test("leaving restores what entering has changed, once", () => {
  const { screen, take } = recorded();
  screen.leave();
  screen.enter();
  const entered = take().join("");
  screen.leave();
  screen.leave();
  const left = take().join("");
  for (const [, mode] of entered.matchAll(/\[\?(\d+)h/g)) expect(left).toContain(`[?${mode}l`);
  for (const [, mode] of entered.matchAll(/\[\?(\d+)l/g)) expect(left).toContain(`[?${mode}h`);
  expect(left.match(/1049l/g)).toHaveLength(1);
  screen.draw(["later"], 10);
  expect(take()).toEqual([]);
});
