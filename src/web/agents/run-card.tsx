import { useEffect, useRef } from "react";
import type { RunView } from "../../api/agents.ts";
import { costText, shortNumber } from "../text/money.ts";
import { visibleLine } from "../text/visible.ts";
import { Ago } from "../ui/text.tsx";
import { Preview } from "./preview.tsx";

const activities: Readonly<Record<RunView["activity"], readonly [word: string, look: string]>> = {
  waiting: ["waits for a seat", "bg-sunken text-muted"],
  starting: ["starts", "bg-note-soft text-note"],
  busy: ["works", "bg-note-soft text-note"],
  idle: ["idle", "bg-sunken text-muted"],
  asks: ["asks you", "bg-warn-soft text-warn"],
  unknown: ["unknown", "bg-sunken text-muted"],
  ended: ["ended", "bg-sunken text-muted"],
};

/** A running agent: whose task, what it does, and its terminal. */
export function RunCard({
  run,
  isChosen,
  onChoose,
  onOpen,
}: {
  run: RunView;
  isChosen: boolean;
  onChoose: () => void;
  onOpen: () => void;
}) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen) item.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  const [word, look] = run.raised === "" ? activities[run.activity] : activities.asks;
  const name = `${run.project}#${run.number}`;
  const { inputTokens, outputTokens, cost } = run.usage;
  const hasUsed = inputTokens + outputTokens > 0;
  return (
    <li
      ref={item}
      data-run={run.id}
      className={`min-w-0 overflow-hidden rounded-lg border bg-panel ${isChosen ? "border-accent outline-2 outline-accent" : "border-line"}`}
    >
      <button
        type="button"
        onClick={onOpen}
        onFocus={onChoose}
        className="block w-full px-3 py-2 text-left hover:bg-hover"
      >
        <span className="flex items-center gap-2 text-xs text-muted">
          <span className="font-mono">{name}</span>
          <span className="min-w-0 truncate font-mono">{run.agent === "" ? run.key : `${run.agent} · ${run.key}`}</span>
          <span className={`ml-auto rounded px-1.5 leading-5 font-medium whitespace-nowrap ${look}`}>{word}</span>
          <Ago iso={run.since} />
        </span>
        <span className="mt-0.5 block truncate font-medium" dir="auto">
          {visibleLine(run.summary)}
        </span>
        <span className="block truncate text-sm text-muted" dir="auto">
          {visibleLine(run.raised === "" ? run.what : run.raised) || "\u00a0"}
        </span>
      </button>
      <Preview task={run.task} run={run.key} title={`The terminal of ${name}, ${run.key}`} />
      <p className="flex flex-wrap gap-x-3 border-t border-line px-3 py-1 text-xs text-muted">
        <span>{visibleLine(run.harness)}</span>
        {run.model !== "" && run.model !== run.harness && <span>{visibleLine(run.model)}</span>}
        {run.sandbox && <span>in a sandbox</span>}
        {run.watchers > 0 && <span>somebody is attached</span>}
        {hasUsed && (
          <span className="ml-auto tabular-nums">
            {shortNumber(inputTokens + outputTokens)} tokens ·{" "}
            {cost === null ? "cost unknown" : costText({ dollars: cost, unknown: 0 })}
          </span>
        )}
      </p>
    </li>
  );
}
