import { useState } from "react";
import { visibleLine } from "../text/visible.ts";

/** A command that does the same in a terminal; a click copies it. */
export function Command({
  text,
  className = "",
  isWhole = false,
}: {
  text: string;
  className?: string;
  /** Written on several lines where one has no room for it, instead of being cut. */
  isWhole?: boolean;
}) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => {
    void navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button
      type="button"
      onClick={copy}
      title="Copy this command"
      className={`block max-w-full ${isWhole ? "[overflow-wrap:anywhere]" : "truncate"} rounded bg-sunken px-2 py-0.5 text-left font-mono text-xs text-muted hover:text-ink ${className}`}
    >
      {isCopied ? "copied" : `$ ${visibleLine(text)}`}
    </button>
  );
}
