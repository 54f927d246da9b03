import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ListedWorkflow } from "../../api/workflows.ts";
import { queries } from "../data/queries.ts";
import { useRowKeys } from "../keys/use-row-keys.ts";
import type { WorkflowsSearch } from "../search.ts";
import { visibleLine } from "../text/visible.ts";
import { PageHeader } from "../ui/page-header.tsx";
import { SearchField } from "../ui/search-field.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { WorkflowPage } from "./workflow-page.tsx";

/** The workflows: built-in ones, the person's, those of projects; beside the list the chosen one. */
export function Workflows() {
  const search = useSearch({ from: "/workflows" });
  const { project } = useSearch({ from: "__root__" });
  const navigate = useNavigate({ from: "/workflows" });
  const workflows = useQuery(queries.workflows(project));
  const change = (
    next: { readonly [Name in keyof WorkflowsSearch]: WorkflowsSearch[Name] | undefined },
    replace = true,
  ) => void navigate({ search: (before) => ({ ...before, ...next }) as WorkflowsSearch, replace });
  const words = (search.q ?? "").toLowerCase();
  const shown = (workflows.data ?? []).filter((each) => keyOf(each).toLowerCase().includes(words));
  const choose = (workflow: string | undefined, replace = true) => change({ workflow, state: undefined }, replace);
  useRowKeys(shown.map(keyOf), search.workflow, choose, (workflow) => choose(workflow, false));
  const chosen = workflows.data?.find((each) => keyOf(each) === search.workflow);
  return (
    <div className="flex h-full flex-col">
      <PageHeader title="Workflows">
        <SearchField value={search.q ?? ""} onChange={(q) => change({ q: q === "" ? undefined : q })} />
      </PageHeader>
      <Loaded query={workflows} what="the workflows">
        {() => (
          <div className="flex min-h-0 flex-1">
            <ul
              aria-label="Workflows"
              className={`w-full shrink-0 overflow-y-auto border-r border-line bg-panel md:w-64 ${search.workflow === undefined ? "" : "max-md:hidden"}`}
            >
              {shown.length === 0 && <li className="p-4 text-muted">No workflow has these words.</li>}
              {shown.map((each) => (
                <li key={keyOf(each)} className="border-b border-line">
                  <Entry
                    workflow={each}
                    isChosen={keyOf(each) === search.workflow}
                    onClick={() => choose(keyOf(each), false)}
                  />
                </li>
              ))}
            </ul>
            <div className={`min-w-0 flex-1 overflow-y-auto ${search.workflow === undefined ? "max-md:hidden" : ""}`}>
              {search.workflow === undefined ? (
                <Empty title="Choose a workflow">It is shown as a graph and as text, with what verify finds.</Empty>
              ) : chosen === undefined ? (
                <Empty title="There is no such workflow">
                  <button type="button" className="text-accent underline" onClick={() => choose(undefined)}>
                    Show the others
                  </button>
                </Empty>
              ) : (
                <WorkflowPage
                  key={search.workflow}
                  listed={chosen}
                  view={search.view ?? "graph"}
                  state={search.state}
                  onView={(view) => change({ view: view === "graph" ? undefined : view })}
                  onState={(state) => change({ state })}
                  onBack={() => choose(undefined)}
                />
              )}
            </div>
          </div>
        )}
      </Loaded>
    </div>
  );
}

/** A project's own workflow hides another one of the same name. */
function keyOf({ project, name }: ListedWorkflow): string {
  return project === "" ? name : `${project}/${name}`;
}

const origins = { "built-in": "built in", user: "yours", project: "of a project", gone: "its file is gone" } as const;

function Entry({
  workflow: { name, from, project, openTasks, otherText, trusted },
  isChosen,
  onClick,
}: {
  workflow: ListedWorkflow;
  isChosen: boolean;
  onClick: () => void;
}) {
  return (
    <button
      type="button"
      aria-current={isChosen}
      onClick={onClick}
      className={`block w-full border-l-3 px-3 py-2 text-left pointer-coarse:py-3 ${isChosen ? "border-accent bg-chosen" : "border-transparent hover:bg-hover"}`}
    >
      <span className="flex items-baseline gap-2">
        <span className="truncate font-medium">{visibleLine(name)}</span>
        <span className="ml-auto text-xs whitespace-nowrap text-muted">
          {project === "" ? origins[from] : visibleLine(project)}
        </span>
      </span>
      <span className="block text-sm text-muted">
        {openTasks === 0 ? "no open task" : openTasks === 1 ? "1 open task" : `${openTasks} open tasks`}
        {otherText > 0 && `, ${otherText} with another text`}
        {!trusted && <span className="text-warn"> · not trusted</span>}
      </span>
    </button>
  );
}
