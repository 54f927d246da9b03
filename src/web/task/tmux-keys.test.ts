import { expect, test } from "vitest";
import { tmuxKeyOf } from "./tmux-keys.ts";

const none = { ctrlKey: false, altKey: false, metaKey: false, shiftKey: false };

test.each([
  ["a letter is itself", { key: "ä" }, "ä"],
  ["a character outside of the basic plane is itself", { key: "🙂" }, "🙂"],
  ["a capital letter has its case already", { key: "G", shiftKey: true }, "G"],
  ["a space has a name", { key: " " }, "Space"],
  ["backspace has another name", { key: "Backspace" }, "BSpace"],
  ["Ctrl+C ends a program", { key: "c", ctrlKey: true }, "C-c"],
  ["Shift+Tab has a name of its own", { key: "Tab", shiftKey: true }, "BTab"],
  ["Alt+Enter is a line break in many agents", { key: "Enter", altKey: true }, "M-Enter"],
  ["a function key is itself", { key: "F5" }, "F5"],
])("%s", (_, pressed, name) => {
  expect(tmuxKeyOf({ ...none, ...pressed })).toBe(name);
});

test.each([
  ["Ctrl+Shift+C copies in the browser", { key: "C", ctrlKey: true, shiftKey: true }],
  ["Cmd+V pastes in the browser", { key: "v", metaKey: true }],
  ["a modifier alone types nothing", { key: "Shift", shiftKey: true }],
  ["a dead key is a part of a character", { key: "Dead" }],
  ["a key of an input method is a part of a character", { key: "a", isComposing: true }],
])("%s", (_, pressed) => {
  expect(tmuxKeyOf({ ...none, ...pressed })).toBeUndefined();
});

test("a character of the third level of a keyboard is no shortcut", () => {
  const pressed = { ...none, key: "@", ctrlKey: true, altKey: true };
  expect(tmuxKeyOf({ ...pressed, getModifierState: (name) => name === "AltGraph" })).toBe("@");
  expect(tmuxKeyOf({ ...pressed, getModifierState: () => false })).toBe("C-M-@");
});
