import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { RunView } from "../../api/agents.ts";
import { queries } from "../data/queries.ts";
import { useRowKeys } from "../keys/use-row-keys.ts";
import type { AgentsSearch } from "../search.ts";
import { Choice, PageHeader } from "../ui/page-header.tsx";
import { SearchField } from "../ui/search-field.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { Crew } from "./crew.tsx";
import { RunCard } from "./run-card.tsx";

/** Every running agent at once, each with what its terminal shows now; below them the named agents. */
export function Agents() {
  const search = useSearch({ from: "/agents" });
  const { project } = useSearch({ from: "__root__" });
  const navigate = useNavigate({ from: "/agents" });
  const runs = useQuery(queries.runs);
  const change = (next: { readonly [Name in keyof AgentsSearch]: AgentsSearch[Name] | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...next }) as AgentsSearch, replace: true });
  const shown = shownRuns(runs.data ?? [], search, project);
  const open = (id: string) => {
    const run = shown.find((each) => each.id === id);
    if (run === undefined) return;
    void navigate({ to: "/tasks/$task", params: { task: run.task }, search: { part: "agent", run: run.key } });
  };
  useRowKeys(
    shown.map(({ id }) => id),
    search.run,
    (run) => change({ run }),
    open,
  );
  const isFiltered = search.q !== undefined || search.show !== undefined;
  return (
    <div className="flex min-h-full flex-col">
      <PageHeader title="Agents">
        <SearchField value={search.q ?? ""} onChange={(q) => change({ q: q === "" ? undefined : q })} />
        <Choice
          label="Which agents"
          value={search.show ?? "all"}
          options={[
            ["all", "all running"],
            ["at-work", "at work"],
            ["needs-me", "need you"],
          ]}
          onChange={(show) => change({ show: show === "all" ? undefined : show })}
        />
        <Choice
          label="Order"
          value={search.sort ?? "task"}
          options={[
            ["task", "by task"],
            ["newest", "newest first"],
            ["activity", "those that need you first"],
          ]}
          onChange={(sort) => change({ sort: sort === "task" ? undefined : sort })}
        />
        <span className="ml-auto text-sm text-muted max-xl:hidden">Watching never changes the size of a terminal.</span>
      </PageHeader>
      <Loaded query={runs} what="the agents">
        {(all) =>
          shown.length === 0 ? (
            <Empty title={isFiltered && all.length > 0 ? "No running agent is like that" : "No agent is running"}>
              {isFiltered && all.length > 0
                ? `${all.length} others are running.`
                : "Agents appear here when a task starts them. Create a task with c."}
            </Empty>
          ) : (
            <ul className="grid gap-3 p-3 [grid-template-columns:repeat(auto-fill,minmax(min(100%,24rem),1fr))]">
              {shown.map((run) => (
                <RunCard
                  key={run.id}
                  run={run}
                  isChosen={run.id === search.run}
                  onChoose={() => change({ run: run.id })}
                  onOpen={() => open(run.id)}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      <Crew project={project} />
    </div>
  );
}

function shownRuns(runs: readonly RunView[], { q, show, sort }: AgentsSearch, project: string | undefined) {
  const words = (q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  return runs
    .filter((run) => run.endedAt === null && (project === undefined || run.project === project))
    .filter((run) => {
      const text = [`${run.project}#${run.number}`, run.summary, run.key, run.agent, run.harness, run.model].join(" ");
      return words.every((word) => text.toLowerCase().includes(word));
    })
    .filter((run) => show === undefined || (show === "needs-me" ? needsMe(run) : isAtWork(run)))
    .sort(orders[sort ?? "task"]);
}

function needsMe({ raised, activity }: RunView): boolean {
  return raised !== "" || activity === "asks";
}

function isAtWork({ activity }: RunView): boolean {
  return activity === "busy" || activity === "starting";
}

const byTask = (a: RunView, b: RunView) =>
  a.project.localeCompare(b.project) || a.number - b.number || a.key.localeCompare(b.key);
const rank = (run: RunView) => (needsMe(run) ? 0 : isAtWork(run) ? 1 : 2);

const orders: Readonly<Record<NonNullable<AgentsSearch["sort"]>, (a: RunView, b: RunView) => number>> = {
  task: byTask,
  newest: (a, b) => b.startedAt.localeCompare(a.startedAt) || byTask(a, b),
  activity: (a, b) => rank(a) - rank(b) || byTask(a, b),
};
