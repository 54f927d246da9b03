import { useEffect, useMemo, useRef } from "react";
import { visibleLine } from "../text/visible.ts";
import { type Course, type Layout, type Look, layOut, looks } from "./layout.ts";
import { StateBox } from "./state-box.tsx";
import { WayArrow } from "./way-arrow.tsx";
import type { WorkflowGraphProps } from "./workflow-graph.tsx";

/** How small a wide drawing may become before it scrolls. */
const minScale = 0.7;

/** States and arrows as SVG, in a box that scrolls; below it what the colours mean, and the ways that have no arrow. */
export function Drawing({ name, graph, direction, course, marks = {}, chosen, onChoose }: WorkflowGraphProps) {
  const layout = useMemo(() => layOut(graph, direction, course), [graph, direction, course]);
  const { width, height } = layout;
  const box = useRef<HTMLElement>(null);
  // A drawing that is larger than its box begins with the state in which the task is.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another state scrolls, so that a person's scrolling lasts.
  useEffect(() => {
    const current = layout.states.find(({ isCurrent }) => isCurrent);
    const { current: element } = box;
    if (current === undefined || element === null) return;
    const scale = element.scrollWidth / width;
    element.scrollTo({
      left: current.at.x * scale - element.clientWidth / 2,
      top: current.at.y * scale - element.clientHeight / 2,
    });
  }, [course?.status, direction]);
  const ways = [...layout.ways].sort((a, b) => looks.indexOf(a.look) - looks.indexOf(b.look));
  return (
    <figure className="flex min-h-0 min-w-0 flex-col">
      <section
        ref={box}
        aria-label="Graph"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable with the keyboard.
        tabIndex={0}
        className="min-h-0 overflow-auto"
      >
        <svg
          // A picture has no buttons inside, so a drawing whose states can be chosen is a group.
          role={onChoose === undefined ? "img" : "group"}
          aria-label={descriptionOf(name, layout, course)}
          viewBox={`0 0 ${width} ${height}`}
          className="mx-auto block h-auto"
          style={{ width: `clamp(${Math.round(width * minScale)}px, 100%, ${Math.round(width)}px)` }}
        >
          {ways.map((way) => (
            <WayArrow key={`${way.from} ${way.to}`} way={way} />
          ))}
          {layout.states.map((each) => (
            <StateBox
              key={each.name}
              placed={each}
              isChosen={each.name === chosen}
              mark={Object.hasOwn(marks, each.name) ? marks[each.name] : undefined}
              onChoose={onChoose}
            />
          ))}
        </svg>
      </section>
      <Legend layout={layout} />
    </figure>
  );
}

const legend: readonly (readonly [look: Look, sign: string, className: string, words: string])[] = [
  ["taken", "━", "text-accent", "path taken"],
  ["open", "━", "text-good", "open way"],
  ["closed", "┅", "text-warn", "closed way"],
  ["escalation", "┅", "text-muted", "taken by the engine after failures"],
];

/** Only what the drawing has is explained. */
function Legend({ layout: { ways, everywhere } }: { layout: Layout }) {
  const drawn = new Set(ways.map(({ look }) => look));
  return (
    <figcaption className="mt-1 flex flex-wrap gap-x-4 gap-y-0.5 text-xs text-muted">
      {legend.map(
        ([look, sign, className, words]) =>
          drawn.has(look) && (
            <span key={look}>
              <b aria-hidden className={className}>
                {sign}
              </b>{" "}
              {words}
            </span>
          ),
      )}
      {everywhere.length > 0 && (
        <span>
          From every state:{" "}
          {everywhere.map(({ to, label }) => visibleLine(label === "" ? to : `${to} (${label})`)).join(", ")}
        </span>
      )}
    </figcaption>
  );
}

/** What the drawing shows, in words. */
function descriptionOf(name: string, { states }: Layout, course: Course | undefined): string {
  const graph = `Graph of the workflow ${name}, ${states.length} states.`;
  if (course === undefined) return visibleLine(graph);
  const before = course.path.slice(0, -1).map(({ state }) => state);
  const came = before.length === 0 ? "" : ` It came through ${before.join(", ")}.`;
  const ways = course.moves.map(
    ({ to, by, open, missing }) => `${to} by ${by.join(" or ")}, ${open ? "open" : `closed: ${missing.join(" ")}`}`,
  );
  const next = ways.length === 0 ? "" : ` Ways out: ${ways.join("; ")}.`;
  return visibleLine(`${graph} The task is in ${course.status}.${came}${next}`);
}
