import type { ScreenState } from "../../../ports/harness.ts";

/** What the screen shows. Only its end counts: what is above may be anything that the agent has printed. */
export function readScreen(screen: string): ScreenState {
  const lines = screen.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return "starting";
  const end = lines.slice(-3).join("\n");
  if (/\b(Enter to (select|confirm|continue)|Esc to (cancel|exit|reject|go back))\b/i.test(end)) return "asks";
  if (!hasInput(lines)) return "unknown";
  return /\besc to interrupt\b/i.test(end) ? "busy" : "ready";
}

/** The line for input stands between two rules; below are at most a few lines of hints. */
function hasInput(lines: readonly string[]): boolean {
  const last = lines.findLastIndex((line) => /^─{8,}/.test(line.trim()));
  const first = lines.slice(0, Math.max(0, last)).findLastIndex((line) => /^─{8,}/.test(line.trim()));
  if (first < 0 || lines.length - last > 6) return false;
  return /^[❯>!#]/.test(lines[first + 1]?.trim() ?? "");
}
