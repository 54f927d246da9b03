import { useEffect, useSyncExternalStore } from "react";

/** system: as the browser's preference says. */
export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const name = "signalbox.theme";
let theme = readTheme();
const listeners = new Set<() => void>();

export function useTheme(): Theme {
  const current = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => theme,
  );
  useEffect(() => {
    if (current === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = current;
  }, [current]);
  return current;
}

export function setTheme(next: Theme): void {
  theme = next;
  try {
    localStorage.setItem(name, next);
  } catch {
    // It holds until the page is closed.
  }
  for (const each of listeners) each();
}

function readTheme(): Theme {
  try {
    const kept = localStorage.getItem(name);
    return themes.find((each) => each === kept) ?? "system";
  } catch {
    return "system";
  }
}
