import { memo } from "react";
import { Screen } from "../ui/text.tsx";
import { isRule } from "./terminal-rows.ts";

/** Rows of a terminal as text that wraps and scrolls: for phones, and for people who want to read or copy. */
export function TerminalText({ rows }: { rows: readonly string[] }) {
  const last = rows.findLastIndex((row) => row.trim() !== "");
  return (
    <div>
      {rows.slice(0, last + 1).map((row, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place on the screen.
        <Row key={i} text={row} />
      ))}
    </div>
  );
}

const Row = memo(({ text }: { text: string }) => (
  <Screen
    text={text.trim() === "" ? " " : text.trimEnd()}
    className={isRule(text) ? "overflow-hidden" : "!whitespace-pre-wrap [overflow-wrap:anywhere]"}
  />
));
Row.displayName = "Row";
