import type { ScreenState } from "../../../ports/harness.ts";

// The dialog and the box, with what is queued above it; what stands higher was said, and may say anything.
const lowerEnd = 14;

/** What the screen of the scripted agent shows. */
export function readScriptedScreen(screen: string): ScreenState {
  const lines = screen.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return "starting";
  const shown = lines.slice(-lowerEnd);
  const last = shown.at(-1) ?? "";
  if (/^╰─/.test(last) && shown.some((line) => /^│ ❯ y\. Yes/.test(line))) return "asks";
  if (/^ {2}scripted agent · ready/.test(last)) return "ready";
  if (/^ {2}scripted agent · enter queues/.test(last)) return "busy";
  return "unknown";
}
