import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Suspense, useEffect } from "react";
import { useKeys } from "../keys/use-keys.ts";
import { neighbourOf, shownRows, useWaitingQuery } from "../tasks/waiting.ts";
import { late } from "../ui/late.tsx";
import { Empty, Loaded, Loading } from "../ui/states.tsx";

// The list's code loads while the first rows are fetched.
const InboxList = late(async () => (await import("./inbox-list.tsx")).InboxList);
void InboxList.load();
// The task's code loads when the list is shown.
const InboxTask = late(async () => (await import("./inbox-task.tsx")).InboxTask);

/** What waits for the person, oldest first: the list, and beside it the chosen task with what it asks. */
export function Inbox() {
  const waiting = useWaitingQuery();
  const { task: chosen, snoozed } = useSearch({ from: "/" });
  const navigate = useNavigate({ from: "/" });
  const all = waiting.data?.tasks ?? [];
  const awake = shownRows(all, Date.now());
  const hidden = all.length - awake.length;
  const rows = snoozed === "true" ? all : awake;
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
              <Suspense fallback={<Loading what="the tasks" />}>
                <InboxList rows={rows} chosen={chosen} choose={(id) => choose(id, false)} />
              </Suspense>
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
                    row={rows.find(({ id }) => id === chosen)}
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
