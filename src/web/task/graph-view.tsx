import { useId, useMemo } from "react";
import type { TaskGraph } from "../../api/task-views.ts";
import { visibleLine } from "../text/visible.ts";
import { drawnOf, layOut, type PlacedState, type PlacedWay, type Point, stepsOf } from "./graph-layout.ts";

/** The workflow as a drawing: the path that the task has taken, where it is, and which ways out are open or closed. */
export function GraphView({ graph, isNarrow }: { graph: TaskGraph; isNarrow: boolean }) {
  const id = useId();
  const { layout, everywhere } = useMemo(() => {
    const drawn = drawnOf(graph);
    return { layout: layOut(drawn.states, drawn.ways, isNarrow ? "TB" : "LR"), everywhere: drawn.everywhere };
  }, [graph, isNarrow]);
  const steps = stepsOf(graph.path);
  const stateOf = new Map(graph.graph.states.map((each) => [each.name, each]));
  // What the task does now is drawn over the rest.
  const sorted = [...layout.ways].sort((a, b) => rankOf(graph, a) - rankOf(graph, b));
  return (
    <>
      <section
        aria-label="Graph"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable with the keyboard.
        tabIndex={0}
        className="max-h-[26rem] overflow-auto md:max-h-[20rem]"
      >
        <svg
          role="img"
          aria-label={summaryOf(graph)}
          viewBox={`0 0 ${layout.width} ${layout.height}`}
          style={{ width: layout.width, minWidth: layout.width * 0.72, maxWidth: "100%" }}
          className="mx-auto block h-auto"
        >
          <defs>
            {(["line", "taken", "open", "closed"] as const).map((kind) => (
              <marker
                key={kind}
                id={`${id}${kind}`}
                viewBox="0 0 8 8"
                refX="7"
                refY="4"
                markerWidth="7"
                markerHeight="7"
                markerUnits="userSpaceOnUse"
                orient="auto"
              >
                <path d="M0 0 8 4 0 8z" className={arrowHeads[kind]} />
              </marker>
            ))}
          </defs>
          {sorted.map((way) => {
            const kind = kindOf(graph, way, steps);
            const move = way.from === graph.status ? graph.moves.find(({ to }) => to === way.to) : undefined;
            const count = steps.get(`${way.from} ${way.to}`)?.count ?? 0;
            return (
              <g key={`${way.from} ${way.to}`}>
                <title>{wayTitle(graph, way, count)}</title>
                <path
                  d={curveOf(way.points)}
                  className={`fill-none ${arrowLines[kind]}`}
                  strokeWidth={kind === "line" ? 1.2 : 2.2}
                  strokeDasharray={kind === "closed" ? "5 4" : undefined}
                  markerEnd={`url(#${id}${kind})`}
                />
                {way.label !== undefined && move !== undefined && (
                  <WayLabel at={way.label} text={move.by.join(", ")} isOpen={move.open} />
                )}
              </g>
            );
          })}
          {layout.states.map((placed) => {
            const visits = graph.path.filter(({ state }) => state === placed.name).length;
            return (
              <StateBox
                key={placed.name}
                placed={placed}
                state={stateOf.get(placed.name)}
                isHere={placed.name === graph.status}
                visits={visits}
              />
            );
          })}
        </svg>
      </section>
      <p className="mt-1 flex flex-wrap gap-x-4 gap-y-0.5 text-xs text-muted">
        <span>
          <b className="text-accent">━</b> path taken
        </span>
        <span>
          <b className="text-good">━</b> open way
        </span>
        <span>
          <b className="text-warn">┅</b> closed way
        </span>
        {everywhere.length > 0 && <span>From every state: {visibleLine(everywhere.join(", "))}</span>}
      </p>
    </>
  );
}

type Kind = "line" | "taken" | "open" | "closed";

const arrowLines: Readonly<Record<Kind, string>> = {
  line: "stroke-muted opacity-45",
  taken: "stroke-accent",
  open: "stroke-good",
  closed: "stroke-warn",
};
const arrowHeads: Readonly<Record<Kind, string>> = {
  line: "fill-muted opacity-60",
  taken: "fill-accent",
  open: "fill-good",
  closed: "fill-warn",
};

function kindOf({ status, moves }: TaskGraph, { from, to }: PlacedWay, steps: ReturnType<typeof stepsOf>): Kind {
  const move = from === status ? moves.find((each) => each.to === to) : undefined;
  if (move !== undefined) return move.open ? "open" : "closed";
  return steps.has(`${from} ${to}`) ? "taken" : "line";
}

function rankOf({ status, path }: TaskGraph, { from, to }: PlacedWay): number {
  if (from === status) return 2;
  return path.some(({ state }, i) => state === to && path[i - 1]?.state === from) ? 1 : 0;
}

function StateBox({
  placed: { name, x, y, width, height },
  state,
  isHere,
  visits,
}: {
  placed: PlacedState;
  state: TaskGraph["graph"]["states"][number] | undefined;
  isHere: boolean;
  visits: number;
}) {
  const [left, top] = [x - width / 2, y - height / 2];
  const look = isHere
    ? "fill-chosen stroke-accent"
    : visits > 0
      ? "fill-panel stroke-accent"
      : "fill-panel stroke-line";
  const below = isHere ? "● it is here" : state === undefined ? "no longer a state" : belowOf(state);
  return (
    <g>
      <title>{[name, state?.waits, state?.ask].filter((each) => each !== undefined && each !== "").join(" – ")}</title>
      <rect x={left} y={top} width={width} height={height} rx="8" className={look} strokeWidth={isHere ? 2.5 : 1.3} />
      {state?.terminal === true && (
        <rect
          x={left + 3}
          y={top + 3}
          width={width - 6}
          height={height - 6}
          rx="6"
          className={`fill-none ${isHere || visits > 0 ? "stroke-accent" : "stroke-line"}`}
        />
      )}
      <text x={x} y={y - 3} textAnchor="middle" className="fill-ink text-[13px] font-semibold">
        {visibleLine(name)}
        {visits > 1 && <tspan className="fill-accent font-normal"> ×{visits}</tspan>}
      </text>
      <text x={x} y={y + 13} textAnchor="middle" className={`text-[11px] ${isHere ? "fill-accent" : "fill-muted"}`}>
        {below.length * 6 > width - 8 ? `${below.slice(0, Math.floor((width - 14) / 6))}…` : below}
      </text>
    </g>
  );
}

const kinds: Readonly<Record<string, string>> = {
  human: "a person",
  slot: "a free slot",
  time: "a time",
  fan_out: "its parts",
};

function belowOf({ terminal, outcome, role, kind, waits }: TaskGraph["graph"]["states"][number]): string {
  if (terminal) return outcome ?? "end";
  return kinds[kind] ?? (role !== "" ? role : waits);
}

/** Who may take a way out; with a lock where a gate is closed. */
function WayLabel({ at, text, isOpen }: { at: Point; text: string; isOpen: boolean }) {
  const width = text.length * 6.9 + (isOpen ? 14 : 26);
  return (
    <g transform={`translate(${at.x - width / 2} ${at.y - 9})`}>
      <rect width={width} height="18" rx="5" className={`fill-panel ${isOpen ? "stroke-good" : "stroke-warn"}`} />
      {!isOpen && (
        <path
          d="M6 9h8v5H6zM7.5 9V7a2.5 2.5 0 0 1 5 0v2"
          className="fill-none stroke-warn"
          strokeWidth="1.4"
          strokeLinejoin="round"
        />
      )}
      <text x={isOpen ? 5 : 17} y="13" className={`text-[11px] ${isOpen ? "fill-good" : "fill-warn"}`}>
        {visibleLine(text)}
      </text>
    </g>
  );
}

function wayTitle({ graph, status, moves }: TaskGraph, { from, to }: PlacedWay, count: number): string {
  const labels = graph.ways.filter((way) => way.from === from && way.to === to).map(({ label }) => label);
  const move = from === status ? moves.find((each) => each.to === to) : undefined;
  const taken = count === 0 ? [] : [count === 1 ? "taken once" : `taken ${count} times`];
  const missing = move === undefined || move.open ? [] : move.missing;
  return [`${from} → ${to}`, ...labels.filter((each) => each !== ""), ...taken, ...missing].map(visibleLine).join("\n");
}

/** The drawing in words. */
function summaryOf({ workflow, status, path, moves }: TaskGraph): string {
  const before = path.slice(0, -1).map(({ state }) => state);
  const ways = moves.map(
    ({ to, by, open, missing }) => `${to} by ${by.join(" or ")}, ${open ? "open" : `closed: ${missing.join(" ")}`}`,
  );
  const came = before.length === 0 ? "" : ` It came through ${before.join(", ")}.`;
  const next = ways.length === 0 ? "" : ` Ways out: ${ways.join("; ")}.`;
  return visibleLine(`Graph of the workflow ${workflow}. The task is in ${status}.${came}${next}`);
}

/** A soft line through the points. */
function curveOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  const last = rest.at(-1);
  if (first === undefined || last === undefined) return "";
  const bends = rest.slice(0, -1).map((point, i) => {
    const next = rest[i + 1] ?? last;
    const end = i === rest.length - 2 ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${point.x} ${point.y} ${end.x} ${end.y}`;
  });
  return `M${first.x} ${first.y}${bends.length === 0 ? `L${last.x} ${last.y}` : bends.join("")}`;
}
