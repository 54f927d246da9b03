import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { TaskGraph } from "../../api/task-views.ts";
import { queries } from "../data/queries.ts";
import { WorkflowGraph } from "../graph/workflow-graph.tsx";
import { shortDuration } from "../text/time.ts";
import { visibleLine } from "../text/visible.ts";
import { Loaded } from "../ui/states.tsx";
import { Ago, Line, Plain } from "../ui/text.tsx";
import { useIsNarrow } from "./use-is-narrow.ts";

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
  return (
    <div className="border-t border-line px-3 py-2">
      <Loaded query={graph} what="the workflow">
        {(shown) => (
          <>
            <div className="flex max-h-[28rem] flex-col md:max-h-[22rem]">
              <WorkflowGraph
                name={shown.workflow}
                graph={shown.graph}
                course={shown}
                direction={isNarrow ? "down" : "across"}
              />
            </div>
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
