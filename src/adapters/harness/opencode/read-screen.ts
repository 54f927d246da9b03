import type { ScreenState } from "../../../ports/harness.ts";

/** OpenCode says at the bottom of its screen what it does. */
export function readScreen(screen: string): ScreenState {
  if (screen.trim() === "") return "starting";
  if (/permission required|allow once|allow always/i.test(screen)) return "asks";
  if (/esc (again to )?interrupt/i.test(screen)) return "busy";
  if (/ctrl\+p|tab agents|ask anything/i.test(screen)) return "ready";
  return "unknown";
}
