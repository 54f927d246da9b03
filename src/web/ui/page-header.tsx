import type { ReactNode } from "react";

/** The title of a screen, and beside it what the screen can be filtered and sorted by. */
export function PageHeader({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <header className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line bg-panel px-4 py-2">
      <h1 className="mr-2 font-semibold">{title}</h1>
      {children}
    </header>
  );
}

/** One of several values. The first one is there without a choice. */
export function Choice<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: Value;
  options: readonly (readonly [value: Value, name: string])[];
  onChange: (value: Value) => void;
}) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value as Value)}
      className="max-w-full rounded-md border border-line bg-panel px-2 py-1 pointer-coarse:min-h-11"
    >
      {options.map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </select>
  );
}
