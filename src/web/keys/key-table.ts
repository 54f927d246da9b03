/** A key, or keys pressed one after the other, and what it does. Help, palette and the handler read this one table. */
export interface KeyBinding {
  readonly id: string;
  readonly keys: string;
  readonly label: string;
  /** The command that does the same; empty if there is none. */
  readonly command: string;
}

export const keyTable = [
  { id: "go-inbox", keys: "g i", label: "Go to the inbox", command: "signalbox task list --needs-me" },
  { id: "go-board", keys: "g b", label: "Go to the board", command: "signalbox task list" },
  { id: "go-agents", keys: "g a", label: "Go to the agents", command: "signalbox agent ps" },
  { id: "go-timeline", keys: "g l", label: "Go to the time line", command: "signalbox events" },
  { id: "go-usage", keys: "g u", label: "Go to the usage", command: "signalbox usage" },
  { id: "go-workflows", keys: "g w", label: "Go to the workflows", command: "signalbox workflow list" },
  { id: "go-merges", keys: "g m", label: "Go to the merge line", command: "signalbox task list" },
  { id: "go-settings", keys: "g s", label: "Go to the settings and the doctor", command: "signalbox doctor" },
  { id: "next", keys: "j", label: "Choose the next row", command: "" },
  { id: "previous", keys: "k", label: "Choose the previous row", command: "" },
  { id: "open", keys: "Enter", label: "Open the chosen task", command: "signalbox task show" },
  { id: "next-waiting", keys: "]", label: "Next task that waits for you", command: "signalbox task list --needs-me" },
  { id: "previous-waiting", keys: "[", label: "Previous task that waits for you", command: "" },
  { id: "search", keys: "/", label: "Search tasks", command: "signalbox task list" },
  { id: "create", keys: "c", label: "Create a task", command: "signalbox task create" },
  { id: "palette", keys: "Ctrl+K", label: "Open the palette", command: "" },
  { id: "help", keys: "?", label: "Show the keys", command: "signalbox --help" },
  { id: "leave", keys: "Escape", label: "Close, or go back", command: "" },
] as const satisfies readonly KeyBinding[];

export type KeyId = (typeof keyTable)[number]["id"];

/** What a pressed key means. `waits`: it begins a sequence. */
export type Reading = { readonly id: KeyId } | { readonly waits: true } | { readonly key: string };

/** How long a sequence such as `g i` may take, in milliseconds. */
const sequenceTimeout = 1_500;

/** Reads keys one after the other. `at` is the time in milliseconds. */
export function createKeyReader(table: readonly { readonly id: KeyId; readonly keys: string }[] = keyTable) {
  let begun = "";
  let begunAt = 0;
  return (key: string, at: number): Reading => {
    const before = at - begunAt <= sequenceTimeout ? begun : "";
    begun = "";
    const pressed = before === "" ? key : `${before} ${key}`;
    const found = table.find(({ keys }) => keys === pressed);
    if (found !== undefined) return { id: found.id };
    if (before === "" && table.some(({ keys }) => keys.startsWith(`${key} `))) {
      begun = key;
      begunAt = at;
      return { waits: true };
    }
    // "g x" is no key of its own: the x must not do what it does alone.
    return { key: pressed };
  };
}

/** How a pressed key is written in the table. */
export function keyName({ key, ctrlKey, metaKey }: { key: string; ctrlKey: boolean; metaKey: boolean }): string {
  return ctrlKey || metaKey ? `Ctrl+${key.toUpperCase()}` : key;
}
