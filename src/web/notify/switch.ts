const name = "signalbox.notify";

/** Whether the person has switched notifications of this browser on. The browser itself can still refuse them. */
export function isNotifying(): boolean {
  try {
    return localStorage.getItem(name) === "on";
  } catch {
    return false;
  }
}

/** Tells listeners of this tab; another tab hears of it by the browser. */
export function setNotifying(isOn: boolean): void {
  try {
    if (isOn) localStorage.setItem(name, "on");
    else localStorage.removeItem(name);
  } catch {
    // The browser keeps nothing for this page, so it cannot be switched on.
  }
  for (const each of listeners) each();
}

export function onNotifying(listener: () => void): () => void {
  const hear = ({ key }: StorageEvent) => key === name && listener();
  addEventListener("storage", hear);
  listeners.add(listener);
  return () => {
    removeEventListener("storage", hear);
    listeners.delete(listener);
  };
}

const listeners = new Set<() => void>();
