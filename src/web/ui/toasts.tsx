import { useEffect, useSyncExternalStore } from "react";
import { Command } from "./command.tsx";
import { Plain } from "./text.tsx";

interface Toast {
  readonly id: number;
  readonly text: string;
  /** The command that does the same. */
  readonly command: string;
  readonly tone: Tone;
}

/** wait: nothing is wrong, but it is not done yet. */
export type Tone = "good" | "wait" | "bad";

const looks: Readonly<Record<Tone, readonly [sign: string, look: string]>> = {
  good: ["✓", "text-good"],
  wait: ["…", "text-warn"],
  bad: ["✗", "text-bad"],
};

let toasts: readonly Toast[] = [];
let count = 0;
const listeners = new Set<() => void>();
const lifetime = 8_000;

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const each of listeners) each();
}

/** Says what was done, and with which command it can be done elsewhere. */
export function tellPerson(text: string, command = "", tone: Tone = "good"): void {
  change([...toasts.slice(-3), { id: ++count, text, command, tone }]);
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <output
      aria-live="polite"
      // Below the header: at the bottom they would cover the buttons that a person needs next.
      className="pointer-events-none fixed inset-x-3 top-14 z-30 flex flex-col items-end gap-2"
    >
      {shown.map((toast) => (
        <OneToast key={toast.id} toast={toast} />
      ))}
    </output>
  );
}

function OneToast({ toast: { id, text, command, tone } }: { toast: Toast }) {
  const [sign, look] = looks[tone];
  const close = () => change(toasts.filter((each) => each.id !== id));
  useEffect(() => {
    const timer = setTimeout(() => change(toasts.filter((each) => each.id !== id)), lifetime);
    return () => clearTimeout(timer);
  }, [id]);
  return (
    <div className="pointer-events-auto w-full max-w-md rounded-md border border-line bg-raised px-3 py-2 shadow-lg">
      <div className="flex items-start gap-2">
        <span aria-hidden className={look}>
          {sign}
        </span>
        <Plain text={text} className="min-w-0 flex-1" />
        <button type="button" onClick={close} aria-label="Close" className="text-muted hover:text-ink">
          ×
        </button>
      </div>
      {command !== "" && <Command text={command} className="mt-1.5" />}
    </div>
  );
}
