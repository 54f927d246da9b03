import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import type { StretchView, TimelineTask } from "../../api/overview.ts";
import { queries } from "../data/queries.ts";
import { useRowKeys } from "../keys/use-row-keys.ts";
import type { TimelineSearch, timeWindows } from "../search.ts";
import { Button } from "../ui/button.tsx";
import { Choice, PageHeader } from "../ui/page-header.tsx";
import { SearchField } from "../ui/search-field.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { foldTime } from "./fold.ts";
import { Legend, StretchTable } from "./legend.tsx";
import { Rows } from "./rows.tsx";

const hour = 3_600_000;
const windows: Readonly<Record<(typeof timeWindows)[number], readonly [name: string, length: number]>> = {
  "1h": ["last hour", hour],
  "6h": ["last 6 hours", 6 * hour],
  "1d": ["last day", 24 * hour],
  "3d": ["last 3 days", 72 * hour],
  "7d": ["last week", 168 * hour],
  "30d": ["last 30 days", 720 * hour],
};

/** When each task worked, and when it waited: for the person, or for the machine. */
export function Timeline() {
  const search = useSearch({ from: "/timeline" });
  const { project } = useSearch({ from: "__root__" });
  const navigate = useNavigate({ from: "/timeline" });
  const { window: chosenWindow = "1d" } = search;
  const timeline = useQuery({
    ...queries.timeline(project === undefined ? {} : { project }, windows[chosenWindow][1]),
    placeholderData: (before) => before,
  });
  const change = (next: { readonly [Name in keyof TimelineSearch]: TimelineSearch[Name] | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...next }) as TimelineSearch, replace: true });
  const shown = useMemo(() => shownTasks(timeline.data?.tasks ?? [], search), [timeline.data, search]);
  const pieces = useMemo(() => {
    const { since, until } = timeline.data ?? { since: "", until: "" };
    const busy = shown.flatMap(({ stretches }) => stretches.filter(isBusy).map(timesOf));
    return foldTime({ from: Date.parse(since), until: Date.parse(until) }, busy, search.fold !== "off");
  }, [timeline.data, shown, search.fold]);
  const open = (id: string) => void navigate({ to: "/tasks/$task", params: { task: id } });
  useRowKeys(
    shown.map(({ id }) => id),
    search.task,
    (task) => change({ task }),
    open,
  );
  const chosen = shown.find(({ id }) => id === search.task);
  const hidden = pieces.filter(({ isFolded }) => isFolded).length;
  return (
    <div className="flex h-full flex-col">
      <PageHeader title="Time line">
        <Choice
          label="Window"
          value={chosenWindow}
          options={Object.entries(windows).map(([key, [name]]) => [key as keyof typeof windows, name])}
          onChange={(next) => change({ window: next === "1d" ? undefined : next })}
        />
        <SearchField value={search.q ?? ""} onChange={(q) => change({ q: q === "" ? undefined : q })} />
        <Choice
          label="Order"
          value={search.sort ?? "updated"}
          options={[
            ["updated", "last changed first"],
            ["created", "first created first"],
            ["waiting", "longest waiting for you first"],
            ["cost", "highest cost first"],
          ]}
          onChange={(sort) => change({ sort: sort === "updated" ? undefined : sort })}
        />
        <Button
          look="quiet"
          aria-pressed={search.fold === "off"}
          onClick={() => change({ fold: search.fold === "off" ? undefined : "off" })}
        >
          {search.fold === "off" ? "Fold idle stretches" : hidden > 0 ? "Unfold idle stretches" : "Nothing is folded"}
        </Button>
        {(timeline.data?.more ?? 0) > 0 && (
          <span className="text-sm text-muted">{timeline.data?.more} tasks that changed earlier are not shown.</span>
        )}
      </PageHeader>
      <Loaded query={timeline} what="the time line">
        {({ tasks, since }) =>
          shown.length === 0 ? (
            <Empty title={tasks.length === 0 ? "Nothing happened in this window" : "No task has these words"}>
              {tasks.length === 0 ? "Choose a longer one, or create a task with c." : ""}
            </Empty>
          ) : (
            <>
              <Legend tasks={shown} since={Date.parse(since)} />
              <Rows
                tasks={shown}
                pieces={pieces}
                chosen={search.task}
                onChoose={(task) => change({ task })}
                onOpen={open}
              />
              {chosen !== undefined && <StretchTable task={chosen} onOpen={() => open(chosen.id)} />}
            </>
          )
        }
      </Loaded>
    </div>
  );
}

function isBusy({ kind }: StretchView): boolean {
  return kind === "working" || kind === "queued";
}

function timesOf({ from, until }: StretchView) {
  return { from: Date.parse(from), until: Date.parse(until) };
}

function shownTasks(tasks: readonly TimelineTask[], { q, sort }: TimelineSearch): readonly TimelineTask[] {
  const words = (q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const found = tasks.filter(({ project, number, summary, status }) => {
    const text = `${project}#${number} ${summary} ${status}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  switch (sort) {
    case "created":
      return [...found].sort((a, b) => a.createdAt.localeCompare(b.createdAt));
    case "waiting":
      return sorted(found, (task) => lengthOf(task, "me"));
    case "cost":
      return sorted(found, ({ stretches }) => stretches.reduce((sum, { dollars }) => sum + (dollars ?? 0), 0));
    default:
      return found;
  }
}

function sorted(tasks: readonly TimelineTask[], by: (task: TimelineTask) => number): readonly TimelineTask[] {
  return [...tasks].sort((a, b) => by(b) - by(a));
}

function lengthOf({ stretches }: TimelineTask, kind: StretchView["kind"]): number {
  return stretches.reduce((sum, each) => {
    const { from, until } = timesOf(each);
    return each.kind === kind ? sum + until - from : sum;
  }, 0);
}
