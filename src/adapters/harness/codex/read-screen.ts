import type { ScreenState } from "../../../ports/harness.ts";

/** The last line of every dialog says which keys it takes. */
const dialog =
  /^\s*(?:press )?(?:enter|esc|\^c)\b[^\n]*\b(?:confirm|continue|quit|cancel|skip|select|submit|approve)\b/im;
const choice = /^\s*› \d+\. /m;
const working = /\((?:\d+[hms] ?)+ • esc to interrupt\)/;
/** Codex turns this in the window's title while it works. */
const spinner = /^[⠁-⣿]/;
/** The line below the input: `gpt-6-sol high · ~/project`. */
const statusLine = /^ {2}\S.* · [~/]/m;
const input = /^› (?!\d+\. )/m;

/** What the interface of Codex 0.166 shows. */
export function readScreen(screen: string, title: string): ScreenState {
  // What an agent prints stands higher up, and may look like anything.
  const foot = screen.trimEnd().split("\n").slice(-24).join("\n");
  if (choice.test(foot) && dialog.test(foot)) return "asks";
  if (spinner.test(title) || working.test(foot)) return "busy";
  if (input.test(foot) && statusLine.test(foot)) return "ready";
  return foot.trim() === "" || /OpenAI Codex|\bloading\b/i.test(foot) ? "starting" : "unknown";
}
