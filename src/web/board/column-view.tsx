import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import type { Row } from "../data/queries.ts";
import { visibleLine } from "../text/visible.ts";
import { Card } from "./card.tsx";
import type { Column } from "./columns.ts";

export interface CardHandlers {
  onChoose: (id: string) => void;
  onOpen: (id: string) => void;
  onDrag: (row: Row | undefined) => void;
}

/** Only the cards that can be seen are drawn. An empty column is narrow, but takes cards. */
export function ColumnView({
  column: { name, rows },
  chosen,
  picked,
  isTarget,
  onDrop,
  ...handlers
}: {
  column: Column;
  chosen: string | undefined;
  picked: Row | undefined;
  /** The picked card would be put here. */
  isTarget: boolean;
  onDrop: (to: string) => void;
} & CardHandlers) {
  const body = useRef<HTMLDivElement>(null);
  const cards = useVirtualizer({
    count: rows.length,
    getScrollElement: () => body.current,
    estimateSize: () => 96,
    getItemKey: (i) => rows[i]?.id ?? i,
    gap: 6,
    overscan: 4,
  });
  const at = rows.findIndex(({ id }) => id === chosen);
  useEffect(() => {
    if (at !== -1) cards.scrollToIndex(at);
  }, [at, cards]);
  const isEmpty = rows.length === 0;
  const canTake = picked !== undefined && picked.status !== name;
  return (
    <section
      aria-label={`${name}, ${rows.length} tasks`}
      onDragOver={(event) => {
        if (!canTake) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = "move";
      }}
      onDrop={(event) => {
        event.preventDefault();
        onDrop(name);
      }}
      className={`flex h-full shrink-0 flex-col rounded-lg border ${isEmpty ? "w-10 hover:w-14" : "w-68"} ${isTarget ? "border-accent bg-chosen" : canTake ? "border-dashed border-muted bg-sunken" : "border-transparent bg-sunken"}`}
    >
      <h2
        className={`flex gap-2 px-2.5 py-1.5 text-sm font-semibold ${isEmpty ? "h-full items-center text-muted [writing-mode:vertical-rl]" : "items-baseline"}`}
      >
        <span className="truncate">{visibleLine(name)}</span>
        <span className="font-normal text-muted tabular-nums">{rows.length}</span>
      </h2>
      <div ref={body} className={`min-h-0 flex-1 overflow-y-auto px-1.5 pb-2 ${isEmpty ? "hidden" : ""}`}>
        <div className="relative" style={{ height: cards.getTotalSize() }}>
          {cards.getVirtualItems().map(({ key, index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <div
                key={key}
                data-index={index}
                ref={cards.measureElement}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${start}px)` }}
              >
                <Card row={row} isChosen={row.id === chosen} isPicked={row.id === picked?.id} {...handlers} />
              </div>
            );
          })}
        </div>
      </div>
    </section>
  );
}
