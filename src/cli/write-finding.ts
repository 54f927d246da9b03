import { routeText } from "../engine/draw/route.ts";
import type { Finding } from "../engine/verify/finding.ts";
import type { Workflow } from "../engine/workflow.ts";
import type { Context } from "./context.ts";
import { routeOf } from "./counterexample.ts";
import { wrap } from "./wrap.ts";

/** A finding with its fix and the shortest way to see it happen. */
export function writeFinding(workflow: Workflow, finding: Finding, { columns, paint }: Context): readonly string[] {
  const colour = { error: paint.red, warning: paint.yellow, note: paint.dim }[finding.level];
  const title = `${finding.level} ${finding.code}`;
  const head = wrap(`${title}: ${finding.message}`, columns, "  ").replace(title, () => colour(title));
  const fix = finding.fix === "" ? [] : [`  ${paint.bold("fix")}    ${wrap(finding.fix, columns - 9, " ".repeat(9))}`];
  return [
    head,
    ...fix,
    ...(finding.example === undefined ? [] : writeExample(workflow, finding.example, columns, paint)),
  ];
}

function writeExample(
  workflow: Workflow,
  example: NonNullable<Finding["example"]>,
  columns: number,
  paint: Context["paint"],
): readonly string[] {
  const { route, followed } = routeOf(workflow, example);
  const [way = "", circle] = routeText(route).map((line) => wrap(line, columns - 9, " ".repeat(9)));
  const settings = Object.entries(example.settings).map(([name, value]) => `${name}: ${String(value)}`);
  const variant = [...(example.preset === "" ? [] : [`preset ${example.preset}`]), ...settings];
  const width = String(route.steps.length).length;
  const indent = " ".repeat(width + 11);
  return [
    ...(variant.length === 0
      ? []
      : [`  ${paint.bold("with")}   ${wrap(variant.join(", "), columns - 9, " ".repeat(9))}`]),
    `  ${paint.bold("route")}  ${way}`,
    ...(circle === undefined ? [] : [`         ${circle}`]),
    ...(route.steps.length === 0 ? [] : [`  ${paint.bold("steps")}`]),
    ...route.steps.map(({ from, to, text }, i) => {
      const isAround = i >= route.steps.length - route.circle;
      const number = `${isAround ? "↻" : " "} ${String(i + 1).padStart(width)}.`;
      const isHeld = followed.steps[i]?.held !== "";
      const moved = from === to ? (isHeld ? " (held for a person)" : "") : ` (${from} → ${to})`;
      return `       ${number} ${wrap(`${text}${moved}`, columns - indent.length, indent)}`;
    }),
  ];
}
