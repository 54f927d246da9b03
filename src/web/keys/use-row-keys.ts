import { useKeys } from "./use-keys.ts";

/** The keys of a list: j and k choose a row, Enter opens it, Escape chooses none. */
export function useRowKeys(
  ids: readonly string[],
  chosen: string | undefined,
  choose: (id: string | undefined) => void,
  open: (id: string) => void,
): void {
  const step = (by: 1 | -1) => {
    const at = chosen === undefined ? -1 : ids.indexOf(chosen);
    const next = at === -1 ? ids[0] : ids[at + by];
    // Enter means the chosen row then, and not the button that was clicked before.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    if (next !== undefined) choose(next);
  };
  useKeys({
    next: () => step(1),
    previous: () => step(-1),
    open: () => (chosen === undefined ? step(1) : open(chosen)),
    ...(chosen === undefined ? {} : { leave: () => choose(undefined) }),
  });
}
