import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, type RefObject, useEffect, useRef, useState } from "react";
import type { StretchView, TimelineTask } from "../../api/overview.ts";
import { costText } from "../text/money.ts";
import { localTime, shortDuration } from "../text/time.ts";
import { visibleLine } from "../text/visible.ts";
import { type Piece, placeOf, ticksOf } from "./fold.ts";
import { kinds, sumOf } from "./legend.tsx";

/** Columns: the task, then its line. On a phone they stand above each other. */
const columns = "md:grid md:grid-cols-[16rem_minmax(0,1fr)]";

/** A row for each task; only those that can be seen are drawn. */
export function Rows({
  tasks,
  pieces,
  chosen,
  onChoose,
  onOpen,
}: {
  tasks: readonly TimelineTask[];
  pieces: readonly Piece[];
  chosen: string | undefined;
  onChoose: (task: string) => void;
  onOpen: (task: string) => void;
}) {
  const body = useRef<HTMLDivElement>(null);
  const handlers = useRef({ onChoose, onOpen });
  handlers.current = { onChoose, onOpen };
  const onRow = useRef((task: string, isOpened: boolean) =>
    isOpened ? handlers.current.onOpen(task) : handlers.current.onChoose(task),
  ).current;
  const rows = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => body.current,
    estimateSize: () => 53,
    getItemKey: (i) => tasks[i]?.id ?? i,
    overscan: 6,
  });
  const at = tasks.findIndex(({ id }) => id === chosen);
  useEffect(() => {
    if (at !== -1) rows.scrollToIndex(at);
  }, [at, rows]);
  return (
    <div ref={body} className="relative min-h-0 flex-1 overflow-y-auto">
      <Axis pieces={pieces} />
      <ul className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, key, start }) => {
          const task = tasks[index];
          return (
            task !== undefined && (
              <li
                key={key}
                ref={rows.measureElement}
                data-index={index}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${start}px)` }}
              >
                <Row task={task} pieces={pieces} isChosen={task.id === chosen} onRow={onRow} />
              </li>
            )
          );
        })}
      </ul>
    </div>
  );
}

const percent = (part: number) => `${(100 * part).toFixed(3)}%`;

function Axis({ pieces }: { pieces: readonly Piece[] }) {
  const open = pieces.filter(({ isFolded }) => !isFolded);
  const isLong = open.some(({ from, until }) => until - from > 48 * 3_600_000) || days(pieces) > 1;
  const line = useRef<HTMLDivElement>(null);
  const width = useWidth(line);
  const longest = Math.max(...ticksOf(pieces).map(({ time, isFine }) => timeText(time, isLong, isFine).length), 5);
  const ticks = width === 0 ? [] : ticksOf(pieces, (longest * letterWidth + labelSpace) / width);
  return (
    <div className={`sticky top-0 z-10 border-b border-line bg-panel ${columns}`}>
      <span className="px-4 py-1 text-sm text-muted max-md:hidden">Task</span>
      <div ref={line} className="relative mx-2 h-7 overflow-hidden text-xs text-muted">
        {ticks.map(({ time, at, isFine }) => (
          <span
            key={time}
            className="absolute top-1.5 border-l border-line pl-1 whitespace-nowrap tabular-nums"
            style={{ left: percent(at) }}
          >
            {timeText(time, isLong, isFine)}
          </span>
        ))}
        {pieces.map(
          ({ from, until, at, width, isFolded }) =>
            isFolded && (
              <span
                key={from}
                title={`${shortDuration(until - from)} in which nothing worked, folded: ${localTime(new Date(from).toISOString())} to ${localTime(new Date(until).toISOString())}`}
                className="folded absolute inset-y-0 flex items-center justify-center overflow-hidden bg-panel text-[0.625rem] leading-none"
                style={{ left: percent(at), width: percent(width) }}
              >
                {shortDuration(until - from).split(" ")[0]}
              </span>
            ),
        )}
      </div>
    </div>
  );
}

/** Of a label at the axis, in pixels: a generous width of a letter, and the room around its text. */
const letterWidth = 7;
const labelSpace = 12;

/** The width of an element in pixels; 0 before it is drawn. */
function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (element.current === null) return;
    const watching = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0));
    watching.observe(element.current);
    return () => watching.disconnect();
  }, [element]);
  return width;
}

function days(pieces: readonly Piece[]): number {
  return new Set(pieces.flatMap(({ from, until }) => [from, until]).map((time) => new Date(time).toDateString())).size;
}

function timeText(time: number, isLong: boolean, isFine: boolean): string {
  const at = new Date(time);
  const clock = at.toLocaleTimeString(undefined, {
    ...{ hour: "2-digit", minute: "2-digit" },
    ...(isFine ? { second: "2-digit" as const } : {}),
  });
  return isLong ? `${at.toLocaleDateString(undefined, { day: "numeric", month: "short" })} ${clock}` : clock;
}

const Row = memo(function Row({
  task,
  pieces,
  isChosen,
  onRow,
}: {
  task: TimelineTask;
  pieces: readonly Piece[];
  isChosen: boolean;
  onRow: (task: string, isOpened: boolean) => void;
}) {
  const { id, project, number, summary, status, stretches } = task;
  const begin = pieces[0]?.from ?? 0;
  const cost = sumOf(stretches);
  return (
    <div className={`border-b border-line ${columns} ${isChosen ? "bg-chosen" : "hover:bg-hover"}`}>
      <button
        type="button"
        data-task={id}
        aria-pressed={isChosen}
        // The keyboard clicks too, without a count: Enter on the chosen row opens it.
        onClick={({ detail }) => onRow(id, isChosen && detail === 0)}
        className="block min-w-0 px-4 py-1.5 text-left max-md:w-full max-md:pb-0"
      >
        <span className="block truncate font-medium" dir="auto">
          {visibleLine(summary)}
        </span>
        <span className="flex gap-2 truncate text-xs text-muted">
          <span className="font-mono">
            {project}#{number}
          </span>
          <span className="truncate">{visibleLine(status)}</span>
          {cost !== "" && <span className="ml-auto tabular-nums">{cost}</span>}
        </span>
        <span className="sr-only">{inWords(stretches)}</span>
      </button>
      <div aria-hidden className="relative mx-2 h-full min-h-8">
        {pieces.map(
          ({ from, at, width, isFolded }) =>
            isFolded && (
              <span
                key={from}
                className="absolute inset-y-0 bg-line/40"
                style={{ left: percent(at), width: percent(width) }}
              />
            ),
        )}
        {stretches.map((stretch) => (
          <Bar key={`${stretch.from} ${stretch.kind}`} stretch={stretch} pieces={pieces} begin={begin} />
        ))}
      </div>
    </div>
  );
});

function Bar({ stretch, pieces, begin }: { stretch: StretchView; pieces: readonly Piece[]; begin: number }) {
  const { kind, state, dollars, unknown } = stretch;
  const [from, until] = [Date.parse(stretch.from), Date.parse(stretch.until)];
  if (until < begin) return null;
  const left = placeOf(pieces, from);
  const width = placeOf(pieces, until) - left;
  const cost = costText({ dollars, unknown });
  return (
    <span
      data-kind={kind}
      // Times in a person's language take long to write, and a page has a thousand bars.
      onPointerEnter={({ currentTarget }) => {
        currentTarget.title = wordsOf(stretch);
      }}
      className={`absolute top-1/2 flex min-w-0.5 -translate-y-1/2 items-center justify-center overflow-hidden text-[0.6875rem] leading-none whitespace-nowrap ${kinds[kind].look}`}
      style={{ left: percent(left), width: percent(width) }}
    >
      {kind === "idle" || kind === "queued" ? "" : label(width, visibleLine(state), cost)}
    </span>
  );
}

function wordsOf({ kind, state, from, until, runs, dollars, unknown }: StretchView): string {
  const cost = costText({ dollars, unknown });
  return [
    `${kinds[kind].name} in ${visibleLine(state)}, ${shortDuration(Date.parse(until) - Date.parse(from))}`,
    `from ${localTime(from)}`,
    ...(runs.length === 0 ? [] : [runs.map(visibleLine).join(", ")]),
    ...(cost === "" ? [] : [`cost ${cost}`]),
  ].join("\n");
}

/** As much as there is room for. */
function label(width: number, state: string, cost: string): string {
  if (width > 0.16) return cost === "" ? state : `${state} · ${cost}`;
  return width > 0.06 ? cost : "";
}

/** For those who do not see the line. */
function inWords(stretches: readonly StretchView[]): string {
  const sums = new Map<StretchView["kind"], number>();
  for (const { kind, from, until } of stretches)
    sums.set(kind, (sums.get(kind) ?? 0) + Date.parse(until) - Date.parse(from));
  return [...sums].map(([kind, length]) => `${kinds[kind].name} ${shortDuration(length)}`).join(", ");
}
