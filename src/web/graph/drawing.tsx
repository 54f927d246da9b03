import { type KeyboardEvent, useMemo } from "react";
import { visibleLine } from "../text/visible.ts";
import { noteOf, type PlacedState, type PlacedWay, type Point, placeGraph } from "./place-graph.ts";
import type { WorkflowGraphProps } from "./workflow-graph.tsx";

/** How small a wide drawing may become before it scrolls. */
const minScale = 0.65;

type Look = "taken" | "open" | "closed" | "plain" | "escalation";

/** States and arrows as SVG: where the task is, how it came there, and which ways are open or wait for a gate. */
export function Drawing({ graph, path = [], current, next = [], marks = {}, chosen, onChoose }: WorkflowGraphProps) {
  const steps = useMemo(() => path.slice(1).map((to, i) => [path[i] ?? "", to] as const), [path]);
  // A path that is another array but the same steps places nothing anew.
  const stepsKey = JSON.stringify(steps);
  const placed = useMemo(() => placeGraph(graph, JSON.parse(stepsKey) as [string, string][]), [graph, stepsKey]);
  const { width, height } = placed;
  const visited = new Set(path);
  const lookOf = ({ from, to, ways }: PlacedWay): Look => {
    const way = from === current ? next.find((each) => each.to === to) : undefined;
    if (way !== undefined) return way.missing.length === 0 ? "open" : "closed";
    if (steps.some(([a, b]) => a === from && b === to)) return "taken";
    return ways.every(({ implied }) => implied === "escalation") ? "escalation" : "plain";
  };
  const missingOn = ({ from, to }: PlacedWay) =>
    from === current ? (next.find((each) => each.to === to)?.missing ?? []) : [];
  // Lines that say something are drawn over those that only exist.
  const ways = [...placed.ways].sort((a, b) => weight[lookOf(a)] - weight[lookOf(b)]);
  return (
    <figure
      aria-label={`Workflow of ${placed.states.length} states${current === undefined ? "" : `, now in ${current}`}`}
      className="min-w-0"
    >
      <div className="overflow-auto">
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: the figure has the label; a title here would be a tooltip of everything. */}
        <svg
          viewBox={`0 0 ${width} ${height}`}
          className="mx-auto block"
          style={{ width: `clamp(${Math.round(width * minScale)}px, 100%, ${Math.round(width)}px)` }}
        >
          {ways.map((way) => (
            <WayLine key={`${way.from} ${way.to}`} way={way} look={lookOf(way)} missing={missingOn(way)} />
          ))}
          {placed.states.map((each) => (
            <StateBox
              key={each.state.name}
              placed={each}
              isCurrent={each.state.name === current}
              isVisited={visited.has(each.state.name)}
              isChosen={each.state.name === chosen}
              mark={Object.hasOwn(marks, each.state.name) ? marks[each.state.name] : undefined}
              onChoose={onChoose}
            />
          ))}
        </svg>
      </div>
      {placed.everywhere.length > 0 && (
        <figcaption className="mt-2 text-center text-xs text-muted">
          From every state:{" "}
          {placed.everywhere.map(({ to, label }) => `to ${visibleLine(to)} (${visibleLine(label)})`).join(", ")}
        </figcaption>
      )}
    </figure>
  );
}

const weight: Readonly<Record<Look, number>> = { escalation: 0, plain: 1, taken: 2, closed: 3, open: 4 };

const lineLooks: Readonly<Record<Look, readonly [line: string, head: string, text: string]>> = {
  plain: ["stroke-muted/60", "fill-muted/60", "fill-muted"],
  escalation: ["stroke-muted/50 [stroke-dasharray:3_3]", "fill-muted/50", "fill-muted"],
  taken: ["stroke-accent stroke-2", "fill-accent", "fill-accent"],
  open: ["stroke-good stroke-2", "fill-good", "fill-good font-semibold"],
  closed: ["stroke-warn stroke-2 [stroke-dasharray:6_4]", "fill-warn", "fill-warn"],
};

function WayLine({ way, look, missing }: { way: PlacedWay; look: Look; missing: readonly string[] }) {
  const [line, head, text] = lineLooks[look];
  const { points, labelAt, label } = way;
  const title = [`${way.from} → ${way.to}`, ...way.ways.map((each) => each.label), ...missing];
  return (
    <g data-look={look}>
      <title>{title.map(visibleLine).join("\n")}</title>
      <path d={curve(points)} className={`fill-none ${line}`} />
      <path d={arrowHead(points)} className={head} />
      {label.length > 0 && (
        <text
          textAnchor="middle"
          className={`text-[11px] ${text}`}
          paintOrder="stroke"
          stroke="var(--color-panel)"
          strokeWidth="3"
        >
          {label.map((each, i) => (
            <tspan
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one text have no other identity.
              key={i}
              x={labelAt.x}
              y={labelAt.y + 4 + (i - (label.length - 1) / 2) * 14}
            >
              {visibleLine(each)}
            </tspan>
          ))}
        </text>
      )}
      {look === "closed" && <Gate at={midpoint(points)} />}
    </g>
  );
}

/** A bar across the way, as at a level crossing. */
function Gate({ at }: { at: Point }) {
  return (
    <g transform={`translate(${at.x - 8} ${at.y - 8})`}>
      <circle cx="8" cy="8" r="8" className="fill-warn-soft stroke-warn" />
      <path d="M4 8h8" className="stroke-warn stroke-2" />
    </g>
  );
}

interface StateBoxProps {
  readonly placed: PlacedState;
  readonly isCurrent: boolean;
  readonly isVisited: boolean;
  readonly isChosen: boolean;
  readonly mark: { readonly level: "error" | "warning" | "note"; readonly text: string } | undefined;
  readonly onChoose: ((state: string) => void) | undefined;
}

function StateBox({ placed, isCurrent, isVisited, isChosen, mark, onChoose }: StateBoxProps) {
  const { state, at, width, height } = placed;
  const note = noteOf(state);
  const words = [state.name, state.waits, state.ask, mark?.text ?? ""].filter((each) => each !== "").map(visibleLine);
  const box = isCurrent
    ? "fill-chosen stroke-accent stroke-[2.5]"
    : isVisited
      ? "fill-panel stroke-accent"
      : "fill-panel stroke-muted/60";
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onChoose?.(state.name);
  };
  const buttons =
    onChoose === undefined
      ? {}
      : {
          ...{ role: "button", tabIndex: 0, "aria-pressed": isChosen },
          ...{ onClick: () => onChoose(state.name), onKeyDown: pressed, className: "cursor-pointer" },
        };
  return (
    <g {...buttons} data-state={state.name} transform={`translate(${at.x - width / 2} ${at.y - height / 2})`}>
      <title>{words.join("\n")}</title>
      <rect width={width} height={height} rx={state.terminal ? height / 2 : 8} className={box} />
      {state.terminal && (
        <rect
          x="3"
          y="3"
          width={width - 6}
          height={height - 6}
          rx={height / 2 - 3}
          className="fill-none stroke-muted/60"
        />
      )}
      {isChosen && (
        <rect
          x="-4"
          y="-4"
          width={width + 8}
          height={height + 8}
          rx="11"
          className="fill-none stroke-accent [stroke-dasharray:4_3]"
        />
      )}
      <text
        x={width / 2}
        y={note === "" ? height / 2 + 4.5 : height / 2 - 3}
        textAnchor="middle"
        className={`text-[13px] ${isCurrent ? "fill-ink font-bold" : "fill-ink font-medium"}`}
      >
        {visibleLine(state.name)}
      </text>
      {note !== "" && (
        <text x={width / 2} y={height / 2 + 13} textAnchor="middle" className="fill-muted text-[11px]">
          {visibleLine(note)}
        </text>
      )}
      {mark !== undefined && <Mark level={mark.level} x={width} />}
    </g>
  );
}

const markLooks = { error: "fill-bad", warning: "fill-warn", note: "fill-note" } as const;

function Mark({ level, x }: { level: keyof typeof markLooks; x: number }) {
  return (
    <g transform={`translate(${x} 0)`}>
      <circle r="8" className={`${markLooks[level]} stroke-panel stroke-2`} />
      <text textAnchor="middle" y="4" className="fill-on-accent text-[11px] font-bold">
        {level === "note" ? "i" : "!"}
      </text>
    </g>
  );
}

/** A line through the points with round corners. */
function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  const parts = rest.map((point, i) => {
    const after = rest[i + 1];
    if (after === undefined) return `L${point.x} ${point.y}`;
    return `Q${point.x} ${point.y} ${(point.x + after.x) / 2} ${(point.y + after.y) / 2}`;
  });
  return `M${first.x} ${first.y}${parts.join("")}`;
}

function arrowHead(points: readonly Point[]): string {
  const [tip, before] = [points.at(-1), points.at(-2)];
  if (tip === undefined || before === undefined) return "";
  const angle = Math.atan2(tip.y - before.y, tip.x - before.x);
  const corner = (turn: number) => `${tip.x - 9 * Math.cos(angle + turn)} ${tip.y - 9 * Math.sin(angle + turn)}`;
  return `M${tip.x} ${tip.y}L${corner(0.42)}L${corner(-0.42)}Z`;
}

function midpoint(points: readonly Point[]): Point {
  const [a, b] = [points.at(-2), points.at(-1)];
  if (a === undefined || b === undefined) return { x: 0, y: 0 };
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}
