import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { RunView } from "../../api/agents.ts";
import { routes } from "../../api/routes.ts";
import type { TaskView } from "../../api/tasks.ts";
import { call } from "../data/client.ts";
import { queries } from "../data/queries.ts";
import { shortDuration } from "../text/time.ts";
import { visibleLine } from "../text/visible.ts";
import { Button } from "../ui/button.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { Ago, Plain, Screen } from "../ui/text.tsx";
import { TerminalView } from "./terminal-view.tsx";

/** The task's runs, and the terminal or the output of the chosen one. */
export function AgentPart({ task }: { task: TaskView }) {
  const runs = useInfiniteQuery(queries.taskRuns(task.id));
  const { run } = useSearch({ from: "/tasks/$task" });
  const navigate = useNavigate({ from: "/tasks/$task" });
  // Another run that begins does not take the place of the one that the person looks at, or types into.
  const [shown, setShown] = useState("");
  return (
    <Loaded query={runs} what="the runs">
      {({ pages }) => {
        const newest = pages.flatMap((page) => [...page.runs].reverse());
        if (newest.length === 0) return <Empty title="No agent has worked on this task yet">{task.waiting}</Empty>;
        const wanted = newest.find(({ key }) => key === run);
        const live = newest.find(({ endedAt }) => endedAt === null);
        const chosen = wanted ?? newest.find(({ id }) => id === shown) ?? live ?? newest[0];
        if (chosen !== undefined && chosen.id !== shown) setShown(chosen.id);
        return (
          <div className="flex h-full flex-col">
            <ul aria-label="Runs" className="flex shrink-0 gap-1 overflow-x-auto border-b border-line px-3 py-2">
              {newest.map((each) => (
                <li key={each.id}>
                  <RunLink run={each} isChosen={each.id === chosen?.id} />
                </li>
              ))}
              {runs.hasNextPage && (
                <li>
                  <Button look="quiet" disabled={runs.isFetchingNextPage} onClick={() => void runs.fetchNextPage()}>
                    Earlier runs
                  </Button>
                </li>
              )}
            </ul>
            {run !== undefined && wanted === undefined && (
              <p role="status" className="px-4 py-1 text-sm text-warn">
                {visibleLine(run)} is not among these runs{runs.hasNextPage ? "; it may be an earlier one" : ""}.
              </p>
            )}
            {chosen !== undefined && (
              <ChosenRun
                key={chosen.id}
                run={chosen}
                onNext={(next) => void navigate({ search: { part: "agent", run: next }, replace: true })}
              />
            )}
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

function ChosenRun({ run, onNext }: { run: RunView; onNext: (run: string) => void }) {
  // One that ends while it is watched keeps what was on its screen.
  const [wasLive] = useState(run.endedAt === null);
  return (
    <>
      <p className="flex flex-wrap gap-x-3 px-4 pt-1.5 text-sm text-muted">
        <span>{run.harness}</span>
        {run.model !== "" && run.model !== run.harness && <span>{run.model}</span>}
        {run.sandbox && <span>in a sandbox</span>}
        <span>
          started <Ago iso={run.startedAt} /> ago
        </span>
        {run.what !== "" && <span dir="auto">{visibleLine(run.what)}</span>}
        {run.error !== "" && <span className="text-bad">{visibleLine(run.error)}</span>}
      </p>
      {run.activity === "waiting" ? (
        <Empty title={`${run.key} has not started`}>{visibleLine(run.what)}</Empty>
      ) : wasLive ? (
        <TerminalView run={run} onNext={onNext} />
      ) : (
        <EndedRun run={run} />
      )}
    </>
  );
}

/** What a run has said and printed that is over. */
function EndedRun({ run }: { run: RunView }) {
  const screen = useQuery({
    queryKey: ["task", run.task, "screen", run.key],
    queryFn: () => call(routes.getScreen, { params: { task: run.task }, query: { run: run.key, styled: "true" } }),
  });
  return (
    <div className="mx-3 my-2 min-h-48 flex-1 space-y-2 overflow-auto rounded-md border border-line bg-panel p-3">
      {run.report !== "" && (
        <section aria-label="Its report" className="border-l-3 border-line pl-3">
          <Plain text={run.report} />
        </section>
      )}
      <Loaded query={screen} what="its output">
        {({ text }) =>
          text.trim() === "" ? (
            <p className="text-muted">
              {run.key} is over, and its terminal with it. What it wrote is in the task file and in the history.
            </p>
          ) : (
            <Screen text={text.trimEnd()} className="!whitespace-pre-wrap [overflow-wrap:anywhere]" />
          )
        }
      </Loaded>
    </div>
  );
}
