import { useEffect, useMemo, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { dollarText, shortNumber } from "../text/money.ts";
import { visibleLine } from "../text/visible.ts";
import type { Series } from "./series.ts";

const height = 260;
/** Colours and dashes: neither alone has to tell seven lines apart. */
const looks = [
  ["accent", []],
  ["note", [8, 4]],
  ["good", [2, 3]],
  ["warn", [10, 3, 2, 3]],
  ["bad", [5, 5]],
  ["muted", []],
  ["ink", [2, 6]],
] as const;

/** Bars for one line of days, lines for several. A cost that is unknown is a hole. */
export function Chart({ series, measure }: { series: Series; measure: "cost" | "tokens" }) {
  const box = useRef<HTMLDivElement>(null);
  const write = (value: number | null) =>
    value === null ? "unknown" : measure === "cost" ? dollarText(value) : shortNumber(value);
  const data = useMemo<uPlot.AlignedData>(
    () => [series.days.map(secondsOf), ...series.lines.map(({ values }) => [...values])],
    [series],
  );
  const unknown = series.unknown.reduce((sum, each) => sum + each, 0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chart is made anew for other data or another measure.
  useEffect(() => {
    const place = box.current;
    if (place === null) return;
    let chart: uPlot | undefined;
    const draw = () => {
      chart?.destroy();
      chart = new uPlot(optionsFor(place, series, write), data, place);
    };
    draw();
    const resizing = new ResizeObserver(() => chart?.setSize({ width: place.clientWidth, height }));
    resizing.observe(place);
    // The canvas does not follow the page's colours by itself.
    const theming = new MutationObserver(draw);
    theming.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", draw);
    return () => {
      system.removeEventListener("change", draw);
      theming.disconnect();
      resizing.disconnect();
      chart?.destroy();
    };
  }, [data, measure]);
  return (
    <figure aria-label={`${measure === "cost" ? "Cost" : "Tokens"} by day; the table has the same numbers`}>
      <div ref={box} className="min-w-0 [&_.u-legend]:text-left [&_.u-legend]:text-sm" />
      {measure === "cost" && unknown > 0 && (
        <figcaption className="mt-1 text-sm text-warn">
          {unknown === 1 ? "1 run has" : `${unknown} runs have`} no known cost: the real sums are higher.
        </figcaption>
      )}
    </figure>
  );
}

function optionsFor(
  place: HTMLElement,
  { days, lines }: Series,
  write: (value: number | null) => string,
): uPlot.Options {
  const colour = colourReader(place);
  const isBars = lines.length === 1 || days.length < 3;
  const axis = { stroke: colour("muted"), grid: { stroke: colour("line"), width: 1 }, ticks: { show: false } };
  return {
    width: place.clientWidth,
    height,
    scales: {
      x: { time: true, range: () => [secondsOf(days[0]) - 43_200, secondsOf(days.at(-1)) + 43_200] },
      y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    axes: [
      { ...axis, space: 70, incrs: [1, 2, 7, 14, 30, 90, 365].map((days) => days * 86_400) },
      { ...axis, size: 62, values: (_, all) => all.map((each) => write(each)) },
    ],
    legend: { live: true },
    cursor: { drag: { x: false, y: false } },
    series: [
      { label: "Day", value: (_, at) => (at === null ? "all days" : new Date(at * 1000).toLocaleDateString()) },
      ...lines.map(({ name, values }, i): uPlot.Series => {
        const [own, dash] = looks[i % looks.length] ?? looks[0];
        const bars = uPlot.paths.bars?.({ size: [0.6, 40], align: lines.length === 1 ? 0 : i % 2 === 0 ? -1 : 1 });
        return {
          label: visibleLine(name),
          stroke: colour(own),
          width: 2,
          dash: [...dash],
          // Without the pointer on the chart, no day is chosen.
          value: (_, value, __, at) => write(at === null ? sumOf(values) : value),
          ...(isBars && bars !== undefined ? { paths: bars, fill: colour(own), points: { show: false } } : {}),
        };
      }),
    ],
  };
}

/** What is known of all days; null if nothing is. */
function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((each) => each !== null);
  return known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0);
}

/** The beginning of a day, as the person's own clock has it. */
function secondsOf(day = ""): number {
  return Date.parse(`${day}T00:00:00`) / 1000;
}

/** Colours of the page as the canvas needs them: computed, because they differ in light and dark. */
function colourReader(place: HTMLElement): (name: string) => string {
  return (name) => {
    const probe = document.createElement("span");
    probe.style.color = `var(--color-${name})`;
    place.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}
