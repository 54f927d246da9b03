import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import type { Row } from "../data/queries.ts";
import { useKeys } from "../keys/use-keys.ts";
import { isSnoozed, neighbourOf, useWaitingQuery } from "../tasks/waiting.ts";
import { visibleLine } from "../text/visible.ts";
import { Empty, Loaded } from "../ui/states.tsx";
import { Status } from "../ui/status.tsx";
import { Ago } from "../ui/text.tsx";
import { InboxTask } from "./inbox-task.tsx";

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
    <Loaded query={waiting} what="what waits for you">
      {() =>
        rows.length === 0 && chosen === undefined ? (
          <Empty title="Nothing waits for you">
            Agents that ask something, reviews to approve and tasks that are held appear here.
            {hidden > 0 && <SnoozedLink count={hidden} isShown={false} />}
          </Empty>
        ) : (
          <div className="flex h-full">
            <section
              aria-label="Waiting for you"
              className={`w-full shrink-0 overflow-y-auto border-r border-line bg-panel md:w-80 lg:w-96 ${chosen === undefined ? "" : "hidden md:block"}`}
            >
              <h1 className="border-b border-line px-4 py-2 font-semibold">
                {rows.length === 1 ? "1 task waits for you" : `${rows.length} tasks wait for you`}
                {hidden > 0 && <SnoozedLink count={hidden} isShown={snoozed === "true"} />}
              </h1>
              <ul>
                {rows.map((row) => (
                  <InboxRow key={row.id} row={row} isChosen={row.id === chosen} choose={() => choose(row.id, false)} />
                ))}
              </ul>
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
                <InboxTask
                  key={chosen}
                  id={chosen}
                  isWaiting={ids.includes(chosen)}
                  onDone={() => choose(neighbourOf(ids, chosen))}
                  onBack={() => choose(undefined)}
                />
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

function InboxRow({ row, isChosen, choose }: { row: Row; isChosen: boolean; choose: () => void }) {
  const ref = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isChosen) ref.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  return (
    <li className="border-b border-line">
      <button
        ref={ref}
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
    </li>
  );
}
