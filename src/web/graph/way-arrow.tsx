import { visibleLine } from "../text/visible.ts";
import { type Look, labelPadding, labelWidth, lockWidth, type PlacedWay, type Point } from "./layout.ts";

const lineHeight = 14;

/** An arrow between two states, with its label. Its title says everything that is known about the ways. */
export function WayArrow({ way }: { way: PlacedWay }) {
  const { look, points, label } = way;
  const { line, head } = arrowLooks[look];
  return (
    <g data-look={look}>
      <title>{titleOf(way)}</title>
      <path d={curve(points)} className={`fill-none ${line}`} />
      <path d={arrowHead(points)} className={head} />
      {label.length > 0 && (way.move === undefined ? <Words way={way} /> : <Takers way={way} />)}
    </g>
  );
}

const arrowLooks: Readonly<Record<Look, { readonly line: string; readonly head: string }>> = {
  plain: { line: "stroke-muted/60", head: "fill-muted/60" },
  escalation: { line: "stroke-muted/50 [stroke-dasharray:3_3]", head: "fill-muted/50" },
  taken: { line: "stroke-accent stroke-2", head: "fill-accent" },
  open: { line: "stroke-good stroke-2", head: "fill-good" },
  closed: { line: "stroke-warn stroke-2 [stroke-dasharray:6_4]", head: "fill-warn" },
};

/** What the ways say, on lines of their own over the arrow. */
function Words({ way: { label, labelAt } }: { way: PlacedWay }) {
  return (
    <text
      textAnchor="middle"
      className="fill-muted text-[11px]"
      paintOrder="stroke"
      stroke="var(--color-panel)"
      strokeWidth="3"
    >
      {label.map((each, i) => (
        <tspan
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one text have no other identity.
          key={i}
          x={labelAt.x}
          y={labelAt.y + 4 + (i - (label.length - 1) / 2) * lineHeight}
        >
          {visibleLine(each)}
        </tspan>
      ))}
    </text>
  );
}

/** Who may take the way out of the task's state; with a lock where a gate is closed. */
function Takers({ way: { label, labelAt, look } }: { way: PlacedWay }) {
  const width = labelWidth(label, look);
  const isClosed = look === "closed";
  return (
    <g transform={`translate(${labelAt.x - width / 2} ${labelAt.y - 9})`}>
      <rect width={width} height="18" rx="5" className={`fill-panel ${isClosed ? "stroke-warn" : "stroke-good"}`} />
      {isClosed && (
        <path
          d="M6 9h8v5H6zM7.5 9V7a2.5 2.5 0 0 1 5 0v2"
          className="fill-none stroke-warn"
          strokeWidth="1.4"
          strokeLinejoin="round"
        />
      )}
      <text
        x={labelPadding + (isClosed ? lockWidth : 0)}
        y="13"
        className={`text-[11px] ${isClosed ? "fill-warn" : "fill-good"}`}
      >
        {visibleLine(label.join(" "))}
      </text>
    </g>
  );
}

function titleOf({ from, to, ways, taken, move }: PlacedWay): string {
  const labels = ways.map(({ label }) => label).filter((label) => label !== "");
  const count = taken === 0 ? [] : [taken === 1 ? "taken once" : `taken ${taken} times`];
  return [`${from} → ${to}`, ...labels, ...count, ...(move?.missing ?? [])].map(visibleLine).join("\n");
}

/** A soft line through the points. */
function curve(points: readonly Point[]): string {
  const [first, second, ...others] = points;
  const last = points.at(-1);
  if (first === undefined || second === undefined || last === undefined) return "";
  if (others.length === 0) return `M${first.x} ${first.y}L${last.x} ${last.y}`;
  const bends = points.slice(1, -1).map((point, i) => {
    const after = points[i + 2] ?? last;
    const end = after === last ? last : { x: (point.x + after.x) / 2, y: (point.y + after.y) / 2 };
    return `Q${point.x} ${point.y} ${end.x} ${end.y}`;
  });
  return `M${first.x} ${first.y}${bends.join("")}`;
}

function arrowHead(points: readonly Point[]): string {
  const [tip, before] = [points.at(-1), points.at(-2)];
  if (tip === undefined || before === undefined) return "";
  const angle = Math.atan2(tip.y - before.y, tip.x - before.x);
  const corner = (turn: number) => `${tip.x - 9 * Math.cos(angle + turn)} ${tip.y - 9 * Math.sin(angle + turn)}`;
  return `M${tip.x} ${tip.y}L${corner(0.42)}L${corner(-0.42)}Z`;
}
