import { lines, mermaidIds, mermaidText } from "./mermaid.ts";

/** A way that a task took, or could take, through a workflow. */
export interface Route {
  readonly created: string;
  readonly steps: readonly RouteStep[];
  /** The last steps form a circle of this length; 0 where there is none. */
  readonly circle: number;
}

interface RouteStep {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

/** The states on the way, joined by arrows; a circle stands on a line of its own, marked with ↻. */
export function routeText(route: Route): readonly string[] {
  const { created, steps, circle } = route;
  const before = steps.slice(0, steps.length - circle);
  const way = distinct([created, ...before.map((step) => step.to)]).join(" → ");
  if (circle === 0) return [way];
  const start = before.at(-1)?.to ?? created;
  const around = distinct([start, ...steps.slice(-circle).map((step) => step.to)]);
  return [way, `↻ ${(around.length === 1 ? [start, start] : around).join(" → ")} → …`];
}

/** The same as a Mermaid state diagram whose arrows carry the number and the text of the step. */
export function routeMermaid(route: Route): string {
  const { created, steps, circle } = route;
  const ids = mermaidIds(distinct([created, ...steps.map((step) => step.to)]));
  const id = (name: string) => ids.get(name) ?? name;
  const isAround = (index: number) => index >= steps.length - circle;
  const stays = steps.every((step, i) => !isAround(i) || step.from === step.to);
  return lines([
    "stateDiagram-v2",
    ...[...ids].map(([name, each]) => `  state "${mermaidText(name)}" as ${each}`),
    `  [*] --> ${id(created)}`,
    ...steps.flatMap((step, i) => {
      // A step that moves nothing is worth an arrow only where it is the circle.
      if (step.from === step.to && !(isAround(i) && stays)) return [];
      const mark = isAround(i) ? "↻ " : "";
      return [`  ${id(step.from)} --> ${id(step.to)} : ${mark}${i + 1}. ${mermaidText(step.text)}`];
    }),
  ]);
}

function distinct(states: readonly string[]): readonly string[] {
  return states.filter((state, i) => state !== states[i - 1]);
}
