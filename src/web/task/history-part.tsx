import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import type { EventView } from "../../api/tasks.ts";
import { problemsOf } from "../data/client.ts";
import { loadEarlierEvents, queries } from "../data/queries.ts";
import { describeEvent } from "../text/describe-event.ts";
import { localTime } from "../text/time.ts";
import { visible } from "../text/visible.ts";
import { Button } from "../ui/button.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { Ago } from "../ui/text.tsx";
import { tellPerson } from "../ui/toasts.tsx";

/** The task's events, the newest first. New ones come by themselves, earlier ones when they are asked for. */
export function HistoryPart({ task }: { task: string }) {
  const events = useQuery(queries.events(task));
  return (
    <Loaded query={events} what="the history">
      {(all) =>
        all.length === 0 ? <Empty title="Nothing has happened yet" /> : <EventList task={task} events={all} />
      }
    </Loaded>
  );
}

function EventList({ task, events }: { task: string; events: readonly EventView[] }) {
  const [kind, setKind] = useState("");
  const kinds = useMemo(() => [...new Set(events.map(kindOf))].sort(), [events]);
  const newest = useMemo(
    () => events.filter((event) => kind === "" || kindOf(event) === kind).reverse(),
    [events, kind],
  );
  const box = useRef<HTMLDivElement>(null);
  const lines = useVirtualizer({
    count: newest.length,
    getScrollElement: () => box.current,
    estimateSize: () => 32,
    getItemKey: (i) => newest[i]?.position ?? i,
    overscan: 10,
  });
  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-1.5 text-sm">
        <label className="inline-flex items-center gap-2">
          <span className="text-muted">Show</span>
          <select
            value={kinds.includes(kind) ? kind : ""}
            onChange={({ target }) => setKind(target.value)}
            className="rounded-md border border-line bg-panel px-2 py-0.5 pointer-coarse:min-h-11"
          >
            <option value="">everything</option>
            {kinds.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <span className="text-muted">
          {newest.length} {newest.length === 1 ? "event" : "events"}
        </span>
        <Earlier task={task} events={events} />
      </div>
      <div
        ref={box}
        role="log"
        aria-label="History"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable with the keyboard.
        tabIndex={0}
        className="min-h-0 flex-1 overflow-y-auto"
      >
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
    </div>
  );
}

/** Reads a page of earlier events. A task's first event has its first revision. */
function Earlier({ task, events }: { task: string; events: readonly EventView[] }) {
  const client = useQueryClient();
  const [state, setState] = useState<"more" | "reading" | "all">("more");
  if (state === "all" || (events[0]?.revision ?? 1) <= 1) return <span className="text-muted">from the beginning</span>;
  const read = async () => {
    setState("reading");
    try {
      setState((await loadEarlierEvents(client, task)) ? "more" : "all");
    } catch (error) {
      setState("more");
      tellPerson(problemsOf(error)[0]?.text ?? "", "", "bad");
    }
  };
  return (
    <Button look="quiet" disabled={state === "reading"} onClick={() => void read()}>
      {state === "reading" ? "Reading …" : "Show earlier events"}
    </Button>
  );
}

function kindOf({ type }: EventView): string {
  return type.slice(0, type.indexOf("."));
}
