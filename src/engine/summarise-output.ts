import { failingTests } from "./failing-tests.ts";
import { plainOutput } from "./plain-output.ts";

/** What an agent must know of what its tests printed: which failed, and the last lines. At most `most` bytes. */
export function summariseOutput(output: string, most = 4096): string {
  const plain = plainOutput(output);
  const names = namesPart(failingTests(plain), Math.floor(most / 2));
  const heading = names === "" ? "" : `${names}\n\nThe last lines:\n`;
  const last = lastLines(plain, most - bytes(heading));
  return last === "" ? names : `${heading}${last}`;
}

const longestLine = 400;

function namesPart(names: readonly string[], most: number): string {
  if (names.length === 0) return "";
  let part = "Failing tests:";
  for (const [index, name] of names.entries()) {
    const next = `${part}\n- ${name}`;
    // Room for the line that says how many are left out.
    if (bytes(next) > most - 20) return index === 0 ? "" : `${part}\n… and ${names.length - index} more.`;
    part = next;
  }
  return part;
}

function lastLines(text: string, most: number): string {
  if (most <= 0) return "";
  // More cannot be shown, however short its characters are.
  const lines = text
    .trimEnd()
    .slice(-most * 4)
    .split("\n");
  let last = "";
  let isBlank = false;
  for (const line of lines.reverse()) {
    const shown = shorten(line.trimEnd());
    if (shown === "" && isBlank) continue;
    isBlank = shown === "";
    const next = last === "" ? shown : `${shown}\n${last}`;
    if (bytes(next) > most) break;
    last = next;
  }
  return last.replace(/^\n+/, "");
}

function shorten(line: string): string {
  return line.length <= longestLine ? line : `${line.slice(0, longestLine).toWellFormed()}…`;
}

function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
