import { readdirSync } from "node:fs";
import { join } from "node:path";

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Codex takes any other text for a name, and where it knows none begins a new conversation without a word. */
export function isSessionId(text: string): boolean {
  return form.test(text);
}

/** The transcript of a session; empty where there is none. */
export function rolloutOf(session: string, home: string): string {
  if (!isSessionId(session)) return "";
  const ending = `-${session.toLowerCase()}.jsonl`;
  for (const folder of likelyFolders(session, home)) {
    const name = namesIn(folder).find((each) => each.endsWith(ending));
    if (name !== undefined) return join(folder, name);
  }
  return "";
}

/** A folder for each day of the machine's calendar. An id begins with the time at which it was made. */
function likelyFolders(session: string, home: string): readonly string[] {
  const made = Number.parseInt(session.replaceAll("-", "").slice(0, 12), 16);
  const days = [0, -1, 1].map((shift) => {
    const day = new Date(made + shift * 86_400_000);
    const month = String(day.getMonth() + 1).padStart(2, "0");
    return join(home, "sessions", String(day.getFullYear()), month, String(day.getDate()).padStart(2, "0"));
  });
  return [...days, join(home, "archived_sessions")];
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
