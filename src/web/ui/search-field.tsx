import { useRef, useState } from "react";
import { useKeys } from "../keys/use-keys.ts";

/** Searches while the person writes, a moment after the last key. */
export function SearchField({ value, onChange }: { value: string; onChange: (q: string) => void }) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const field = useRef<HTMLInputElement>(null);
  useKeys({ search: () => field.current?.focus() });
  return (
    <input
      ref={field}
      type="search"
      aria-label="Search"
      placeholder="Search  /"
      value={text}
      onChange={(event) => {
        const next = event.target.value;
        setText(next);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => onChange(next.trim()), 200);
      }}
      className="w-44 rounded-md border border-line bg-panel px-2 py-1"
    />
  );
}
