import { useState } from "react";

const prefix = "signalbox.draft.";

/**
 * A text that a person writes. It survives a reload and a lost daemon, until it was sent. `early` names the draft of a text that
 * was begun before `name` was known; it becomes this one.
 */
export function useDraft(
  name: string,
  early = name,
): readonly [text: string, set: (text: string) => void, forgetSent: (sent: string) => void] {
  const [kept, setKept] = useState(() => ({ name, text: takeDraft(name, early) }));
  // Another question has another draft.
  if (kept.name !== name) setKept({ name, text: takeDraft(name, early) });
  const set = (text: string) => {
    setKept({ name, text });
    writeDraft(name, text);
  };
  return [kept.name === name ? kept.text : readDraft(name), set, (sent) => set(unsentText(readDraft(name), sent))];
}

/** What is left of a text once `sent` has been sent: nothing, what was added to it meanwhile, or all of a text that was changed. */
export function unsentText(text: string, sent: string): string {
  return text.startsWith(sent) ? text.slice(sent.length).trimStart() : text;
}

function takeDraft(name: string, early: string): string {
  const text = readDraft(name);
  if (text !== "" || early === name) return text;
  const begun = readDraft(early);
  writeDraft(name, begun);
  writeDraft(early, "");
  return begun;
}

function readDraft(name: string): string {
  try {
    return localStorage.getItem(prefix + name) ?? "";
  } catch {
    return ""; // The browser keeps nothing for this page.
  }
}

function writeDraft(name: string, text: string): void {
  try {
    if (text === "") localStorage.removeItem(prefix + name);
    else localStorage.setItem(prefix + name, text);
  } catch {
    // The text stays on the screen.
  }
}
