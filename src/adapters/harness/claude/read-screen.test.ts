import { expect, test } from "vitest";
import { readScreen } from "./reading.ts";

const rule = "─".repeat(120);
const above = "❯ First prompt\n\n● First. Press Esc to cancel, or esc to interrupt.\n\n";
const input = (text: string, below: string) => `${above}${rule}\n❯ ${text}\n${rule}\n  ${below}\n\n`;

test("an empty screen is starting, and an idle input line is ready", () => {
  expect(readScreen("\n\n")).toBe("starting");
  expect(readScreen(input("", "⏵⏵ bypass permissions on (shift+tab to cycle) · ← for agents"))).toBe("ready");
  expect(readScreen(input("", "⏵⏵ don't ask on (shift+tab to cycle)"))).toBe("ready");
  expect(readScreen(input("", "⏸ manual mode on · ? for shortcuts"))).toBe("ready");
});

test("a screen that offers to interrupt is busy", () => {
  const below = "⏵⏵ bypass permissions on (shift+tab to cycle) · esc to interrupt · ← for agents";
  expect(readScreen(input("", below))).toBe("busy");
  expect(readScreen(input("Press up to edit queued messages", below))).toBe("busy");
});

test("every dialog asks: for trust, for permission, with a question, about servers", () => {
  const dialogs = [
    " Accessing workspace:\n ❯ No, exit\n   Yes, I trust this folder\n\n Enter to confirm · Esc to cancel",
    " Do you want to proceed?\n ❯ 1. Yes\n   4. No\n\n Esc to cancel · Tab to amend",
    `❯ 1. a\n  3. Type something.\n${rule}\n  4. Chat about this\n\nEnter to select · ↑/↓ to navigate · Esc to cancel`,
    "  ❯ Continue without using this MCP server\n\n  Enter to confirm · Esc to cancel",
  ];
  for (const dialog of dialogs) expect(readScreen(`${above}${rule}\n${dialog}\n`)).toBe("asks");
});

test("a screen that no version shows is unknown", () => {
  expect(readScreen("Some text\nand more\n")).toBe("unknown");
  expect(readScreen(`${rule}\nno input\n${rule}\n`)).toBe("unknown");
});
