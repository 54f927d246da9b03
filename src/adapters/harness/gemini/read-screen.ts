import type { ScreenState } from "../../../ports/harness.ts";

/** Gemini says in its window's title what it does, and on the screen what it asks. */
export function readScreen(screen: string, title: string): ScreenState {
  if (/action required/i.test(title)) return "asks";
  if (
    /do you trust|allow execution|apply this change|how would you like to authenticate|waiting for user confirmation/i.test(
      screen,
    )
  )
    return "asks";
  if (/working/i.test(title) || /esc to cancel/i.test(screen)) return "busy";
  // The title says so before there is anything to type into.
  if (screen.trim() === "") return "starting";
  return /type your message/i.test(screen) || (/ready/i.test(title) && /\/model/.test(screen)) ? "ready" : "unknown";
}
