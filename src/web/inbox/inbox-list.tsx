import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import type { Row } from "../data/queries.ts";
import { visibleLine } from "../text/visible.ts";
import { Status } from "../ui/status.tsx";
import { Ago } from "../ui/text.tsx";

/** Only the rows that can be seen are drawn. */
export function InboxList({
  rows,
  chosen,
  choose,
}: {
  rows: readonly Row[];
  chosen: string | undefined;
  choose: (id: string) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const lines = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => 90,
    getItemKey: (i) => rows[i]?.id ?? i,
    overscan: 4,
  });
  const at = rows.findIndex(({ id }) => id === chosen);
  useEffect(() => {
    if (at !== -1) lines.scrollToIndex(at, { align: "auto" });
  }, [at, lines]);
  return (
    <div ref={box} className="min-h-0 flex-1 overflow-y-auto">
      <ul className="relative" style={{ height: lines.getTotalSize() }}>
        {lines.getVirtualItems().map(({ key, index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <li
              key={key}
              data-index={index}
              ref={lines.measureElement}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              className="absolute inset-x-0 top-0 border-b border-line"
              style={{ transform: `translateY(${start}px)` }}
            >
              <InboxRow row={row} isChosen={row.id === chosen} choose={() => choose(row.id)} />
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function InboxRow({ row, isChosen, choose }: { row: Row; isChosen: boolean; choose: () => void }) {
  return (
    <button
      type="button"
      aria-current={isChosen}
      onClick={choose}
      className={`block w-full border-l-3 px-3 py-2 text-left pointer-coarse:py-3 ${isChosen ? "border-accent bg-chosen" : "border-transparent hover:bg-hover"}`}
    >
      <span className="flex items-center gap-2 text-xs text-muted">
        <span className="font-mono">
          {row.project}#{row.number}
        </span>
        <Status task={row} />
        <Ago iso={row.ask?.since ?? row.since} className="ml-auto" />
      </span>
      <span className={`mt-0.5 line-clamp-2 [overflow-wrap:anywhere] ${row.unread ? "font-semibold" : ""}`} dir="auto">
        {row.unread && (
          <span title="Not seen yet" className="mr-1.5 inline-block size-2 rounded-full bg-accent align-middle" />
        )}
        {visibleLine(row.summary)}
      </span>
      <span className="line-clamp-2 text-sm text-muted" dir="auto">
        {visibleLine(row.ask?.text ?? "")}
      </span>
    </button>
  );
}
