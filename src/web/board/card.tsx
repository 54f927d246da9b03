import { type DragEvent, memo } from "react";
import { useLiveRun } from "../data/live-runs.ts";
import type { Row } from "../data/queries.ts";
import { Lines } from "../tasks/changed-files.tsx";
import { visibleLine } from "../text/visible.ts";
import { signalOf } from "../ui/status.tsx";
import { Ago } from "../ui/text.tsx";

interface CardProps {
  row: Row;
  isChosen: boolean;
  isPicked: boolean;
  onChoose: (id: string) => void;
  onOpen: (id: string) => void;
  onDrag: (row: Row | undefined) => void;
}

const edges = {
  warn: "border-l-warn",
  bad: "border-l-bad",
  good: "border-l-good",
  moves: "border-l-note",
  over: "border-l-line",
} as const;

/** A task at a glance: what it is, who works or waits, since when, and what it has cost. */
export const Card = memo(function Card({ row, isChosen, isPicked, onChoose, onOpen, onDrag }: CardProps) {
  const { tone, word } = signalOf(row);
  const start = (event: DragEvent) => {
    event.dataTransfer.setData("text/plain", row.id);
    event.dataTransfer.effectAllowed = "move";
    onDrag(row);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a button cannot be dragged in every browser.
    <div
      role="button"
      id={`card-${row.id}`}
      tabIndex={isChosen ? 0 : -1}
      aria-pressed={isPicked}
      draggable
      onDragStart={start}
      onDragEnd={() => onDrag(undefined)}
      onFocus={() => onChoose(row.id)}
      onClick={() => onOpen(row.id)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || isPicked) return;
        event.preventDefault();
        onOpen(row.id);
      }}
      className={`cursor-pointer rounded-md border border-l-3 bg-panel px-2.5 py-2 shadow-xs hover:bg-hover ${edges[tone]} ${isChosen ? "border-accent bg-chosen" : "border-line"} ${isPicked ? "outline-2 outline-accent outline-dashed" : ""}`}
    >
      <div className="flex items-center gap-2 text-xs text-muted">
        <span className="font-mono">
          {row.project}#{row.number}
        </span>
        <span className={tones[tone]}>{word}</span>
        <Ago iso={row.since} className="ml-auto" />
      </div>
      <div className="mt-0.5 line-clamp-2 font-medium" dir="auto">
        {visibleLine(row.summary)}
      </div>
      <Doing row={row} />
      <Facts row={row} />
    </div>
  );
});

const tones = {
  warn: "font-semibold text-warn",
  bad: "font-semibold text-bad",
  good: "text-good",
  moves: "sr-only",
  over: "",
} as const;

/** What is asked of the person, else what its agent does, as the stream tells it. */
function Doing({ row }: { row: Row }) {
  const run = useLiveRun(row.id);
  const doing = row.ask?.text ?? (run === undefined || run.what === "" ? row.doing : run.what);
  if (doing === "") return null;
  return (
    <div className={`mt-0.5 line-clamp-1 text-sm ${row.ask === null ? "text-muted" : "text-warn"}`} dir="auto">
      {visibleLine(doing)}
    </div>
  );
}

function Facts({ row: { cost, lines, commits, checks, labels } }: { row: Row }) {
  const dollars =
    cost.dollars === null || (cost.dollars === 0 && cost.tokens === 0)
      ? ""
      : `${cost.unknown > 0 ? "≥ " : ""}$${cost.dollars.toFixed(2)}`;
  const hasLines = lines !== null && lines.added + lines.removed > 0;
  if (dollars === "" && !hasLines && checks === null && labels.length === 0) return null;
  return (
    <div className="mt-1 flex flex-wrap items-center gap-x-2.5 gap-y-0.5 text-xs text-muted">
      {hasLines && <Lines added={lines.added} deleted={lines.removed} />}
      {commits !== null && commits > 0 && <span>{commits === 1 ? "1 commit" : `${commits} commits`}</span>}
      {dollars !== "" && <span className="tabular-nums">{dollars}</span>}
      {checks !== null && checks !== "none" && <span>checks {checks}</span>}
      {labels.map((label) => (
        <span key={label} className="rounded bg-sunken px-1">
          {visibleLine(label)}
        </span>
      ))}
    </div>
  );
}
