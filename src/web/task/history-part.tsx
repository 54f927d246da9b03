import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";
import type { EventView } from "../../api/tasks.ts";
import { queries } from "../data/queries.ts";
import { describeEvent } from "../text/describe-event.ts";
import { localTime } from "../text/time.ts";
import { visible } from "../text/visible.ts";
import { Empty, Loaded } from "../ui/states.tsx";
import { Ago } from "../ui/text.tsx";

/** The task's events, the newest first. New ones come by themselves. */
export function HistoryPart({ task }: { task: string }) {
  const events = useQuery(queries.events(task));
  return (
    <Loaded query={events} what="the history">
      {(all) => (all.length === 0 ? <Empty title="Nothing has happened yet" /> : <EventList events={all} />)}
    </Loaded>
  );
}

function EventList({ events }: { events: readonly EventView[] }) {
  const newest = useMemo(() => [...events].reverse(), [events]);
  const box = useRef<HTMLDivElement>(null);
  const lines = useVirtualizer({
    count: newest.length,
    getScrollElement: () => box.current,
    estimateSize: () => 32,
    getItemKey: (i) => newest[i]?.position ?? i,
    overscan: 10,
  });
  return (
    <div ref={box} className="h-full overflow-y-auto">
      <div className="relative" style={{ height: lines.getTotalSize() }}>
        {lines.getVirtualItems().map(({ key, index, start }) => {
          const event = newest[index];
          if (event === undefined) return null;
          return (
            <div
              key={key}
              data-index={index}
              ref={lines.measureElement}
              className="absolute inset-x-0 top-0 flex gap-3 border-b border-line px-4 py-1"
              style={{ transform: `translateY(${start}px)` }}
            >
              <span title={localTime(event.at)} className="w-14 shrink-0 text-sm text-muted">
                <Ago iso={event.at} />
              </span>
              <span className="w-20 shrink-0 truncate text-sm text-muted md:w-28">{visible(event.by)}</span>
              <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                <span className="mr-2 font-mono text-sm font-medium">{event.type}</span>
                <span className="line-clamp-3 text-muted md:inline" dir="auto">
                  {visible(describeEvent(event))}
                </span>
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
