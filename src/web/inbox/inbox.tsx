import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { Suspense, useEffect, useRef } from "react";
import type { Row } from "../data/queries.ts";
import { useKeys } from "../keys/use-keys.ts";
import { isSnoozed, neighbourOf, useWaitingQuery } from "../tasks/waiting.ts";
import { visibleLine } from "../text/visible.ts";
import { late } from "../ui/late.tsx";
import { Empty, Loaded, Loading } from "../ui/states.tsx";
import { Status } from "../ui/status.tsx";
import { Ago } from "../ui/text.tsx";

// The list is shown first; a task can be chosen a moment later.
const InboxTask = late(async () => (await import("./inbox-task.tsx")).InboxTask);

/** What waits for the person, oldest first: the list, and beside it the chosen task with what it asks. */
export function Inbox() {
  const waiting = useWaitingQuery();
  const { task: chosen, snoozed } = useSearch({ from: "/" });
  const navigate = useNavigate({ from: "/" });
  const all = waiting.data?.tasks ?? [];
  const hidden = all.filter(isSnoozed).length;
  const rows = snoozed === "true" ? all : all.filter((row) => !isSnoozed(row));
  const ids = rows.map(({ id }) => id);
  const choose = (task: string | undefined, replace = true) =>
    void navigate({ search: (before) => ({ ...before, task }), replace });
  const step = (by: 1 | -1) => {
    const at = chosen === undefined ? -1 : ids.indexOf(chosen);
    const next = at === -1 ? ids[0] : ids[at + by];
    if (next !== undefined) choose(next);
  };
  useEffect(() => void InboxTask.load(), []);
  useKeys({
    next: () => step(1),
    previous: () => step(-1),
    "next-waiting": () => step(1),
    "previous-waiting": () => step(-1),
    open: () => {
      if (chosen === undefined) step(1);
      else void navigate({ to: "/tasks/$task", params: { task: chosen } });
    },
    ...(chosen === undefined ? {} : { leave: () => choose(undefined) }),
  });
  return (
    <Loaded query={waiting} what="what waits for you" title="Inbox">
      {() =>
        rows.length === 0 && chosen === undefined ? (
          <Empty title="Nothing waits for you" isScreen>
            Agents that ask something, reviews to approve and tasks that are held appear here.
            {hidden > 0 && <SnoozedLink count={hidden} isShown={false} />}
          </Empty>
        ) : (
          <div className="flex h-full">
            <h1 className="sr-only">Inbox</h1>
            <section
              aria-label="Waiting for you"
              className={`flex w-full shrink-0 flex-col border-r border-line bg-panel md:w-80 lg:w-96 ${chosen === undefined ? "" : "hidden md:flex"}`}
            >
              <h2 className="border-b border-line px-4 py-2 font-semibold">
                {rows.length === 1 ? "1 task waits for you" : `${rows.length} tasks wait for you`}
                {hidden > 0 && <SnoozedLink count={hidden} isShown={snoozed === "true"} />}
              </h2>
              <InboxList rows={rows} chosen={chosen} choose={(id) => choose(id, false)} />
            </section>
            <section
              aria-label="The chosen task"
              className={`min-w-0 flex-1 ${chosen === undefined ? "hidden md:block" : ""}`}
            >
              {chosen === undefined ? (
                <Empty title="Choose a task">
                  With <kbd>j</kbd> and <kbd>k</kbd>, or a click. After each answer the next one comes up by itself.
                </Empty>
              ) : (
                <Suspense fallback={<Loading what="the task" />}>
                  <InboxTask
                    key={chosen}
                    id={chosen}
                    isWaiting={ids.includes(chosen)}
                    onDone={() => choose(neighbourOf(ids, chosen))}
                    onBack={() => choose(undefined)}
                  />
                </Suspense>
              )}
            </section>
          </div>
        )
      }
    </Loaded>
  );
}

function SnoozedLink({ count, isShown }: { count: number; isShown: boolean }) {
  return (
    <Link
      from="/"
      search={(before) => ({ ...before, snoozed: isShown ? undefined : ("true" as const) })}
      className="ml-2 text-sm font-normal text-accent underline"
    >
      {isShown ? `Hide ${count} snoozed` : `${count} snoozed`}
    </Link>
  );
}

/** Only the rows that can be seen are drawn. */
function InboxList({
  rows,
  chosen,
  choose,
}: {
  rows: readonly Row[];
  chosen: string | undefined;
  choose: (id: string) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const lines = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => 90,
    getItemKey: (i) => rows[i]?.id ?? i,
    overscan: 4,
  });
  const at = rows.findIndex(({ id }) => id === chosen);
  useEffect(() => {
    if (at !== -1) lines.scrollToIndex(at, { align: "auto" });
  }, [at, lines]);
  return (
    <div ref={box} className="min-h-0 flex-1 overflow-y-auto">
      <ul className="relative" style={{ height: lines.getTotalSize() }}>
        {lines.getVirtualItems().map(({ key, index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <li
              key={key}
              data-index={index}
              ref={lines.measureElement}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              className="absolute inset-x-0 top-0 border-b border-line"
              style={{ transform: `translateY(${start}px)` }}
            >
              <InboxRow row={row} isChosen={row.id === chosen} choose={() => choose(row.id)} />
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function InboxRow({ row, isChosen, choose }: { row: Row; isChosen: boolean; choose: () => void }) {
  return (
    <button
      type="button"
      aria-current={isChosen}
      onClick={choose}
      className={`block w-full border-l-3 px-3 py-2 text-left pointer-coarse:py-3 ${isChosen ? "border-accent bg-chosen" : "border-transparent hover:bg-hover"}`}
    >
      <span className="flex items-center gap-2 text-xs text-muted">
        <span className="font-mono">
          {row.project}#{row.number}
        </span>
        <Status task={row} />
        <Ago iso={row.ask?.since ?? row.since} className="ml-auto" />
      </span>
      <span className={`mt-0.5 block truncate ${row.unread ? "font-semibold" : ""}`} dir="auto">
        {row.unread && (
          <span title="Not seen yet" className="mr-1.5 inline-block size-2 rounded-full bg-accent align-middle" />
        )}
        {visibleLine(row.summary)}
      </span>
      <span className="line-clamp-2 text-sm text-muted" dir="auto">
        {visibleLine(row.ask?.text ?? "")}
      </span>
    </button>
  );
}
