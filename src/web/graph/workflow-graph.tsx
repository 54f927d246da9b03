import { lazy, Suspense } from "react";
import type { GraphView } from "../../api/workflows.ts";
import { Loading } from "../ui/states.tsx";

export interface WorkflowGraphProps {
  readonly graph: GraphView;
  /** The states that the task has been in, in order; the present one last. */
  readonly path?: readonly string[];
  /** The state in which the task is. */
  readonly current?: string;
  /** The states that the task can go to now; `missing`: what a gate still asks for, empty where the way is open. */
  readonly next?: readonly { readonly to: string; readonly missing: readonly string[] }[];
  /** States with something wrong, and what. */
  readonly marks?: Readonly<Record<string, { readonly level: "error" | "warning" | "note"; readonly text: string }>>;
  readonly chosen?: string | undefined;
  readonly onChoose?: (state: string) => void;
}

const LazyDrawing = lazy(() => import("./drawing.tsx").then(({ Drawing }) => ({ default: Drawing })));

/** A workflow drawn as states and arrows. What places them is loaded with the first drawing. */
export function WorkflowGraph(props: WorkflowGraphProps) {
  return (
    <Suspense fallback={<Loading what="the graph" />}>
      <LazyDrawing {...props} />
    </Suspense>
  );
}
