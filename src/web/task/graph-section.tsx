import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { TaskGraph } from "../../api/task-views.ts";
import { queries } from "../data/queries.ts";
import { shortDuration } from "../text/time.ts";
import { visibleLine } from "../text/visible.ts";
import { Loaded, Loading } from "../ui/states.tsx";
import { Ago, Line, Plain } from "../ui/text.tsx";
import { useIsNarrow } from "./use-is-narrow.ts";

const GraphView = lazy(() => import("./graph-view.tsx").then(({ GraphView }) => ({ default: GraphView })));

/** Workflows with more states are drawn only when a person asks for it. */
const maxDrawn = 80;

/** The task's way through its workflow, as a drawing and in words. A narrow screen shows it when it is asked for. */
export function GraphSection({ task, status }: { task: string; status: string }) {
  const isNarrow = useIsNarrow();
  const [isOpen, setOpen] = useState(!isNarrow);
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      className="rounded-md border border-line bg-panel"
    >
      <summary className="px-3 py-1.5 text-sm font-semibold text-muted pointer-coarse:py-3">
        Way through the workflow: <span className="text-ink">{visibleLine(status)}</span>
      </summary>
      {isOpen && <Graph task={task} isNarrow={isNarrow} />}
    </details>
  );
}

function Graph({ task, isNarrow }: { task: string; isNarrow: boolean }) {
  const graph = useQuery(queries.graph(task));
  const [isWanted, setWanted] = useState(false);
  return (
    <div className="border-t border-line px-3 py-2">
      <Loaded query={graph} what="the workflow">
        {(shown) => (
          <>
            {shown.graph.states.length <= maxDrawn || isWanted ? (
              <Suspense fallback={<Loading what="the drawing" />}>
                <GraphView graph={shown} isNarrow={isNarrow} />
              </Suspense>
            ) : (
              <button type="button" className="text-accent underline" onClick={() => setWanted(true)}>
                Draw all {shown.graph.states.length} states
              </button>
            )}
            <InWords graph={shown} />
          </>
        )}
      </Loaded>
    </div>
  );
}

/** What the drawing shows, for people who read rather than look. */
function InWords({ graph: { path, isCut, moves, status } }: { graph: TaskGraph }) {
  return (
    <details className="mt-1">
      <summary className="text-sm text-muted pointer-coarse:py-2">In words</summary>
      <div className="grid gap-4 py-1 md:grid-cols-2">
        <section aria-label="The path so far">
          <h2 className="text-sm font-semibold text-muted">The path so far</h2>
          {isCut && <p className="text-sm text-muted">Only the last stays are listed. The history has all.</p>}
          <ol className="list-decimal pl-5">
            {path.map(({ state, since, until, by, reason }) => (
              <li key={since + state}>
                <Line text={state} className="font-medium" />{" "}
                <span className="text-sm text-muted">
                  by {visibleLine(by)},{" "}
                  {until === null ? (
                    <>
                      here for <Ago iso={since} />
                    </>
                  ) : (
                    `for ${shortDuration(Date.parse(until) - Date.parse(since))}`
                  )}
                </span>
                {reason !== "" && <Plain text={reason} className="text-sm text-muted" />}
              </li>
            ))}
          </ol>
        </section>
        <section aria-label="Ways out">
          <h2 className="text-sm font-semibold text-muted">Ways out of {visibleLine(status)}</h2>
          {moves.length === 0 && <p className="text-muted">None: the task is over.</p>}
          <ul className="list-disc pl-5">
            {moves.map(({ to, by, open, missing }) => (
              <li key={to}>
                <Line text={to} className="font-medium" />{" "}
                <span className="text-sm text-muted">
                  {by.join(", ")}: {open ? "open" : "closed"}
                </span>
                {missing.map((each) => (
                  <Plain key={each} text={each} className="text-sm text-muted" />
                ))}
              </li>
            ))}
          </ul>
        </section>
      </div>
    </details>
  );
}
