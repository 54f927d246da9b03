import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { BodyOf } from "../../api/client.ts";
import { type Routes, routes } from "../../api/routes.ts";
import type { TaskView } from "../../api/tasks.ts";
import { call, problemsOf } from "../data/client.ts";
import { useCanAct } from "../data/daemon-state.ts";
import { closePopover, Popover } from "../ui/popover.tsx";
import { tellPerson } from "../ui/toasts.tsx";

/** How long a person must look at a task before it counts as seen, in milliseconds. */
const lookTime = 800;

/**
 * Records that the person has seen the task as it is shown. The work of the task does not count as reviewed: the inbox shows only
 * the names of its files.
 */
export function useSeen(task: TaskView): void {
  const canAct = useCanAct();
  const told = useRef(0);
  const { id, revision, unread } = task;
  useEffect(() => {
    if (!canAct || !unread || told.current === revision) return;
    const timer = setTimeout(() => {
      told.current = revision;
      // Not worth a message: the next look tries again.
      call(routes.seeTask, { params: { task: id }, body: { revision } }).catch(() => undefined);
    }, lookTime);
    return () => clearTimeout(timer);
  }, [canAct, unread, id, revision]);
}

const hour = 3_600_000;

/** Until when a task can be hidden: the label, and the time from now. */
export function snoozeTimes(now: Date): readonly { readonly label: string; readonly until: Date }[] {
  const atEight = (days: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 8);
  const monday = (8 - now.getDay()) % 7 || 7;
  return [
    { label: "For an hour", until: new Date(now.getTime() + hour) },
    { label: "For four hours", until: new Date(now.getTime() + 4 * hour) },
    { label: "Until tomorrow, 8:00", until: atEight(1) },
    { label: "Until Monday, 8:00", until: atEight(monday) },
  ];
}

type SeenBody = BodyOf<Routes["seeTask"]>;

/** What a person can do with a task that they do not want to deal with now: the label, what is sent, and what is told then. */
export function laterItems(
  { snoozedUntil }: Pick<TaskView, "snoozedUntil">,
  now: Date,
): readonly { readonly label: string; readonly body: SeenBody; readonly said: string }[] {
  const unread = { label: "Mark as unread", body: { unread: true }, said: "It is unread." };
  if (snoozedUntil !== null && Date.parse(snoozedUntil) > now.getTime())
    return [unread, { label: "Show it again now", body: { snoozedUntil: "" }, said: "It is shown again." }];
  const snoozes = snoozeTimes(now).map(({ label, until }) => ({
    ...{ label, body: { snoozedUntil: until.toISOString() }, said: `Hidden ${label.toLowerCase()}.` },
  }));
  return [unread, ...snoozes];
}

/** Hides a task from the inbox until later, shows it again, or marks it as unread. */
export function SeenMenu({ task, onDone }: { task: TaskView; onDone: () => void }) {
  const canAct = useCanAct();
  const client = useQueryClient();
  const send = async (body: SeenBody, said: string) => {
    try {
      await call(routes.seeTask, { params: { task: task.id }, body });
      tellPerson(`${task.project}#${task.number}: ${said}`);
      onDone();
    } catch (error) {
      tellPerson(problemsOf(error)[0]?.text ?? "", "", "bad");
    }
    await client.invalidateQueries({ queryKey: ["tasks"] });
  };
  return (
    <Popover label="Later" look="quiet" disabled={!canAct}>
      <ul>
        {laterItems(task, new Date()).map(({ label, body, said }) => (
          <li key={label}>
            <button
              type="button"
              className="w-full rounded px-2 py-1 text-left hover:bg-hover pointer-coarse:py-2.5"
              onClick={(event) => {
                closePopover(event.currentTarget);
                void send(body, said);
              }}
            >
              {label}
            </button>
          </li>
        ))}
      </ul>
    </Popover>
  );
}
