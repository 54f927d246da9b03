/** The part of a keyboard event that decides. */
export interface PressedKey {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
  readonly isComposing?: boolean;
  getModifierState?(name: string): boolean;
}

/** Names of keys as tmux has them, by their names in browsers. */
const names: Readonly<Record<string, string>> = {
  Enter: "Enter",
  Tab: "Tab",
  Escape: "Escape",
  Backspace: "BSpace",
  Delete: "DC",
  Insert: "IC",
  Home: "Home",
  End: "End",
  PageUp: "PPage",
  PageDown: "NPage",
  ArrowUp: "Up",
  ArrowDown: "Down",
  ArrowLeft: "Left",
  ArrowRight: "Right",
  " ": "Space",
};

/**
 * The name that tmux has for a pressed key; undefined for one that is the browser's, such as copy and paste, or that is a part of a
 * composed character.
 */
export function tmuxKeyOf(event: PressedKey): string | undefined {
  const { key, ctrlKey, altKey, metaKey, shiftKey, isComposing } = event;
  if (metaKey || isComposing === true) return undefined;
  // On some keyboards a character such as @ comes with the right Alt key, which counts as Ctrl and Alt.
  const isThirdLevel = event.getModifierState?.("AltGraph") ?? false;
  const named = Object.hasOwn(names, key) ? names[key] : /^F([1-9]|1[0-2])$/.test(key) ? key : undefined;
  if (named !== undefined) {
    if (named === "Tab" && shiftKey) return altKey ? "M-BTab" : "BTab";
    return `${ctrlKey ? "C-" : ""}${altKey ? "M-" : ""}${shiftKey && named !== "Space" ? "S-" : ""}${named}`;
  }
  if ([...key].length !== 1) return undefined;
  if (isThirdLevel) return key;
  if (ctrlKey && shiftKey) return undefined;
  if (ctrlKey) return `C-${altKey ? "M-" : ""}${key.toLowerCase()}`;
  return altKey ? `M-${key}` : key;
}
