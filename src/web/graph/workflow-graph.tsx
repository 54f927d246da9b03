import { lazy, Suspense, useState } from "react";
import type { GraphView } from "../../api/workflows.ts";
import { Loading } from "../ui/states.tsx";
import type { Course, Direction } from "./layout.ts";
import type { StateMark } from "./state-box.tsx";

export interface WorkflowGraphProps {
  /** The workflow's name. */
  readonly name: string;
  readonly graph: GraphView;
  readonly direction: Direction;
  /** The task whose way through the workflow is shown. */
  readonly course?: Course;
  /** By the names of states. */
  readonly marks?: Readonly<Record<string, StateMark>>;
  readonly chosen?: string | undefined;
  readonly onChoose?: (state: string) => void;
}

const LazyDrawing = lazy(() => import("./drawing.tsx").then(({ Drawing }) => ({ default: Drawing })));

/** A workflow with more states is drawn only when a person asks for it. */
const maxStates = 80;

/** A workflow drawn as states and arrows. The library that places them is loaded with the first drawing. */
export function WorkflowGraph(props: WorkflowGraphProps) {
  const [isWanted, setWanted] = useState(false);
  const { length } = props.graph.states;
  if (length > maxStates && !isWanted)
    return (
      <button type="button" className="text-accent underline" onClick={() => setWanted(true)}>
        Draw all {length} states
      </button>
    );
  return (
    <Suspense fallback={<Loading what="the graph" />}>
      <LazyDrawing {...props} />
    </Suspense>
  );
}
