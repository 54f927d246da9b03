import { useEffect, useRef } from "react";
import { createKeyReader, type KeyId, keyName } from "./key-table.ts";

type Handlers = Partial<Record<KeyId, () => void>>;
/** Keys that the table does not have, such as those of a task's actions. True if it was one. */
type OtherKey = (key: string) => boolean;

interface Layer {
  handlers: Handlers;
  other: OtherKey | undefined;
}

/** What is drawn later, such as a task beside the list, hears keys first. */
const layers: Layer[] = [];

export function useKeys(handlers: Handlers, other?: OtherKey): void {
  const layer = useRef<Layer>({ handlers, other });
  useEffect(() => {
    layer.current.handlers = handlers;
    layer.current.other = other;
  });
  useEffect(() => {
    const own = layer.current;
    layers.push(own);
    return () => void layers.splice(layers.indexOf(own), 1);
  }, []);
}

/** Hears the keys of the whole page. Keys in a field or a dialog are theirs. */
export function listenToKeys(): () => void {
  const read = createKeyReader();
  const hear = (event: KeyboardEvent) => {
    const { target, altKey, defaultPrevented } = event;
    if (altKey || defaultPrevented || event.isComposing) return;
    const key = keyName(event);
    if (event.ctrlKey || event.metaKey) {
      if (key === "Ctrl+K" && run("palette")) event.preventDefault();
      return;
    }
    if (document.querySelector("dialog[open]") !== null) return;
    const element = target instanceof HTMLElement ? target : undefined;
    if (element?.closest("input, textarea, select, [contenteditable]")) {
      if (key === "Escape") element.blur();
      return;
    }
    // These do something themselves.
    if ((key === "Enter" || key === " ") && element?.closest("button, a, summary, [role=button]")) return;
    const reading = read(key, performance.now());
    const isHeard = "id" in reading ? run(reading.id) || runOther(key) : "waits" in reading || runOther(reading.key);
    if (isHeard) event.preventDefault();
  };
  addEventListener("keydown", hear);
  return () => removeEventListener("keydown", hear);
}

function run(id: KeyId): boolean {
  const handler = layers.findLast(({ handlers }) => handlers[id] !== undefined)?.handlers[id];
  handler?.();
  return handler !== undefined;
}

function runOther(key: string): boolean {
  return [...layers].reverse().some(({ other }) => other?.(key) ?? false);
}
