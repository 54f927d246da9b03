import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useLayoutEffect, useRef } from "react";
import type { RunView } from "../../api/agents.ts";
import { routes } from "../../api/routes.ts";
import type { TaskView } from "../../api/tasks.ts";
import { call } from "../data/client.ts";
import { queries } from "../data/queries.ts";
import { shortDuration } from "../text/time.ts";
import { visibleLine } from "../text/visible.ts";
import { Empty, Loaded } from "../ui/states.tsx";
import { Ago, Screen } from "../ui/text.tsx";

/** Milliseconds between two looks at a screen. */
const pollInterval = 1_000;

/** The task's runs, and what the chosen one shows. */
export function AgentPart({ task }: { task: TaskView }) {
  const runs = useQuery(queries.taskRuns(task.id));
  const { run } = useSearch({ from: "/tasks/$task" });
  return (
    <Loaded query={runs} what="the runs">
      {(all) => {
        if (all.length === 0) return <Empty title="No agent has worked on this task yet">{task.waiting}</Empty>;
        const newest = [...all].sort((a, b) => b.startedAt.localeCompare(a.startedAt));
        const chosen =
          newest.find(({ key }) => key === run) ?? newest.find(({ endedAt }) => endedAt === null) ?? newest[0];
        return (
          <div className="flex h-full flex-col">
            <ul className="flex shrink-0 gap-1 overflow-x-auto border-b border-line px-3 py-2">
              {newest.map((each) => (
                <li key={each.id}>
                  <RunLink run={each} isChosen={each.id === chosen?.id} />
                </li>
              ))}
            </ul>
            {chosen !== undefined && <RunScreen key={chosen.id} run={chosen} />}
          </div>
        );
      }}
    </Loaded>
  );
}

function RunLink({ run: { key, status, activity, duration, usage }, isChosen }: { run: RunView; isChosen: boolean }) {
  const cost = usage.cost === null ? "" : ` · $${usage.cost.toFixed(2)}`;
  return (
    <Link
      from="/tasks/$task"
      search={{ part: "agent", run: key }}
      replace
      aria-current={isChosen}
      className={`block rounded-md border px-2.5 py-1 whitespace-nowrap pointer-coarse:py-2.5 ${isChosen ? "border-accent bg-chosen" : "border-line bg-panel hover:bg-hover"}`}
    >
      <span className="font-mono font-medium">{key}</span>
      <span className="ml-2 text-xs text-muted">
        {status === "running" ? activity : status} · {shortDuration(duration)}
        {cost}
      </span>
    </Link>
  );
}

/** Its screen as text, read again every second while it runs. It scrolls, and never resizes the terminal. */
function RunScreen({ run }: { run: RunView }) {
  const isOver = run.endedAt !== null;
  const screen = useQuery({
    queryKey: ["task", run.task, "screen", run.key],
    queryFn: () => call(routes.getScreen, { params: { task: run.task }, query: { run: run.key, styled: "true" } }),
    refetchInterval: isOver ? false : pollInterval,
  });
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const text = screen.data?.text;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new text is what scrolls.
  useLayoutEffect(() => {
    if (isAtEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return (
    <>
      <p className="flex flex-wrap gap-x-3 px-4 py-1 text-sm text-muted">
        <span>{run.harness}</span>
        {run.model !== "" && run.model !== run.harness && <span>{run.model}</span>}
        {run.sandbox && <span>in a sandbox</span>}
        <span>
          started <Ago iso={run.startedAt} /> ago
        </span>
        {run.what !== "" && <span dir="auto">{visibleLine(run.what)}</span>}
        {run.error !== "" && <span className="text-bad">{visibleLine(run.error)}</span>}
      </p>
      <div
        ref={box}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < 24;
        }}
        className="mx-3 mb-3 min-h-48 flex-1 overflow-auto rounded-md border border-line bg-panel p-3"
      >
        <Loaded query={screen} what="the screen">
          {(shown) =>
            shown.text === "" ? (
              <p className="text-muted">It has shown nothing yet.</p>
            ) : (
              <Screen text={shown.text.trimEnd()} />
            )
          }
        </Loaded>
      </div>
    </>
  );
}
