import type { ScreenState } from "../../../ports/harness.ts";

/** Below the choices of every dialog stands which keys it takes. */
const choice = /^[ \t]*› \d+\. /m;
const keys = /^[ \t]*(?:press )?(?:enter|esc)\b.*\b(?:confirm|continue|quit|cancel|skip)\b/im;
/** Somebody else has the conversation; it waits to be tried again. */
const locked = /^[ \t]*r retry\b.*\bexit\b/m;
const working = /\((?:\d+[hms] ?)+• esc to interrupt\)/;
/** Turns in the window's title while it works. */
const spinner = /^[\u2801-\u28ff]/;
/** The input, and the line below it: `gpt-6-sol high · ~/project`. */
const input = /^› (?!\d+\. )/m;
const statusLine = /^ {2}\S.* · [~/]/m;

/** What the interface of Codex 0.166 shows. */
export function readScreen(screen: string, title: string): ScreenState {
  // What an agent prints stands higher up, and may look like anything.
  const foot = screen.trimEnd().split("\n").slice(-24).join("\n");
  if (title.includes("Action Required") || (choice.test(foot) && keys.test(foot)) || locked.test(foot)) return "asks";
  if (spinner.test(title) || working.test(foot)) return "busy";
  if (input.test(foot) && statusLine.test(foot)) return "ready";
  return foot.trim() === "" || foot.includes("OpenAI Codex") ? "starting" : "unknown";
}
