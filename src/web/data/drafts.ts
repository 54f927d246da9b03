import { useState } from "react";

const prefix = "signalbox.draft.";

/** A text that a person writes. It survives a reload and a lost daemon, until it was sent. */
export function useDraft(name: string): readonly [text: string, set: (text: string) => void] {
  const [kept, setKept] = useState({ name, text: readDraft(name) });
  // Another question has another draft.
  if (kept.name !== name) setKept({ name, text: readDraft(name) });
  const set = (text: string) => {
    setKept({ name, text });
    writeDraft(name, text);
  };
  return [kept.name === name ? kept.text : readDraft(name), set];
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
