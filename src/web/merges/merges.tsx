import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { EndedMergeView, MergeQueueView } from "../../api/overview.ts";
import { queries } from "../data/queries.ts";
import { useRowKeys } from "../keys/use-row-keys.ts";
import type { MergesSearch } from "../search.ts";
import { visibleLine } from "../text/visible.ts";
import { Button } from "../ui/button.tsx";
import { Choice, PageHeader } from "../ui/page-header.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { ChosenMerge } from "./chosen-merge.tsx";
import { EndedRow, QueuedRow } from "./merge-rows.tsx";

/** The merge queue of each branch in its order, and what has ended: merged, or why not. */
export function Merges() {
  const search = useSearch({ from: "/merges" });
  const { project } = useSearch({ from: "__root__" });
  const navigate = useNavigate({ from: "/merges" });
  const merges = useInfiniteQuery(queries.merges(project));
  const change = (next: { readonly [Name in keyof MergesSearch]: MergesSearch[Name] | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...next }) as MergesSearch, replace: true });
  const all = merges.data?.pages.flatMap(({ ended }) => ended) ?? [];
  const queues = (merges.data?.pages[0]?.queues ?? []).filter((each) => isOf(each, search.target));
  const ended = all.filter((each) => isOf(each, search.target) && isShown(each, search.show));
  const targets = [...new Set([...(merges.data?.pages[0]?.queues ?? []), ...all].map(targetOf))].sort();
  const queued = queues.flatMap(({ entries }) => entries.map(({ task }) => task));
  const ids = [...queued, ...ended.map(({ task }) => task)];
  useRowKeys(
    [...new Set(ids)],
    search.task,
    (task) => change({ task }),
    (task) => void navigate({ to: "/tasks/$task", params: { task } }),
  );
  const chosen = (task: string) => change({ task });
  const isFiltered = search.show !== undefined || search.target !== undefined;
  return (
    <div className="flex h-full flex-col">
      <PageHeader title="Merge line">
        <Choice
          label="Which have ended"
          value={search.show ?? "all"}
          options={[
            ["all", "all that ended"],
            ["merged", "merged"],
            ["failed", "not merged"],
          ]}
          onChange={(show) => change({ show: show === "all" ? undefined : show })}
        />
        {targets.length > 1 && (
          <Choice
            label="Branch"
            value={search.target ?? ""}
            options={[["", "all branches"], ...targets.map((each) => [each, visibleLine(each)] as const)]}
            onChange={(target) => change({ target: target === "" ? undefined : target })}
          />
        )}
      </PageHeader>
      <Loaded query={merges} what="the merge line">
        {() => (
          <div className="flex min-h-0 flex-1 max-md:flex-col">
            <div
              className={`min-w-0 flex-1 space-y-4 overflow-y-auto p-3 ${search.task === undefined ? "" : "max-md:hidden"}`}
            >
              {queues.length === 0 && ended.length === 0 && (
                <Empty title={isFiltered ? "No merge is like that" : "Nothing was merged yet"}>
                  {isFiltered
                    ? ""
                    : "Work that is approved waits here for its turn, is tested together, and is merged."}
                </Empty>
              )}
              {queues.map((queue) => (
                <Queue key={targetOf(queue)} queue={queue} chosen={search.task} onChoose={chosen} />
              ))}
              {ended.length > 0 && (
                <section aria-label="Ended" className="rounded-lg border border-line bg-panel">
                  <h2 className="border-b border-line px-3 py-2 font-semibold">Ended</h2>
                  <ul>
                    {ended.map((merge) => (
                      <li key={`${merge.task} ${merge.endedAt}`} className="border-b border-line last:border-0">
                        <EndedRow
                          merge={merge}
                          isChosen={merge.task === search.task}
                          onChoose={() => chosen(merge.task)}
                        />
                      </li>
                    ))}
                  </ul>
                </section>
              )}
              {merges.hasNextPage && (
                <Button disabled={merges.isFetchingNextPage} onClick={() => void merges.fetchNextPage()}>
                  {merges.isFetchingNextPage ? "Loading …" : "Show earlier ones"}
                </Button>
              )}
            </div>
            {search.task !== undefined && (
              <ChosenMerge
                key={search.task}
                task={search.task}
                ended={all.find(({ task }) => task === search.task)}
                isQueued={queued.includes(search.task)}
                onBack={() => change({ task: undefined })}
              />
            )}
          </div>
        )}
      </Loaded>
    </div>
  );
}

function Queue({
  queue,
  chosen,
  onChoose,
}: {
  queue: MergeQueueView;
  chosen: string | undefined;
  onChoose: (task: string) => void;
}) {
  return (
    <section aria-label={`Queue of ${visibleLine(queue.target)}`} className="rounded-lg border border-line bg-panel">
      <h2 className="border-b border-line px-3 py-2">
        <span className="font-semibold">Into {visibleLine(queue.target)}</span>{" "}
        <span className="text-sm text-muted">
          {visibleLine(queue.project)}
          {queue.parent !== "" && ", the branch of another task"} ·{" "}
          {queue.entries.length === 1 ? "1 task" : `${queue.entries.length} tasks`} in this order
        </span>
      </h2>
      <ol>
        {queue.entries.map((entry, i) => (
          <li key={entry.task} className="border-b border-line last:border-0">
            <QueuedRow
              entry={entry}
              project={queue.project}
              place={i + 1}
              isChosen={entry.task === chosen}
              onChoose={() => onChoose(entry.task)}
            />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** A branch of a project; two projects can have branches of the same name. */
function targetOf({ project, target }: { readonly project: string; readonly target: string }): string {
  return `${project} ${target}`;
}

function isOf(each: { readonly project: string; readonly target: string }, target: string | undefined): boolean {
  return target === undefined || targetOf(each) === target;
}

function isShown({ state }: EndedMergeView, show: MergesSearch["show"]): boolean {
  return show === undefined || (show === "merged") === (state === "merged");
}
