import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { routes } from "../../api/routes.ts";
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

/** Hides a task from the inbox until later, shows it again, or marks it as unread. */
export function SeenMenu({ task, onDone }: { task: TaskView; onDone: () => void }) {
  const canAct = useCanAct();
  const client = useQueryClient();
  const send = async (body: { unread?: boolean; snoozedUntil?: string }, said: string) => {
    try {
      await call(routes.seeTask, { params: { task: task.id }, body });
      tellPerson(`${task.project}#${task.number}: ${said}`);
      onDone();
    } catch (error) {
      tellPerson(problemsOf(error)[0]?.text ?? "", "", "bad");
    }
    await client.invalidateQueries({ queryKey: ["tasks"] });
  };
  const items: readonly (readonly [label: string, run: () => void])[] = [
    ["Mark as unread", () => void send({ unread: true }, "It is unread.")],
    ...(task.snoozedUntil === null
      ? snoozeTimes(new Date()).map(({ label, until }) => {
          const run = () => void send({ snoozedUntil: until.toISOString() }, `Hidden ${label.toLowerCase()}.`);
          return [label, run] as const;
        })
      : [["Show it again now", () => void send({ snoozedUntil: "" }, "It is shown again.")] as const]),
  ];
  return (
    <Popover label="Later" look="quiet" disabled={!canAct}>
      <ul>
        {items.map(([label, run]) => (
          <li key={label}>
            <button
              type="button"
              className="w-full rounded px-2 py-1 text-left hover:bg-hover pointer-coarse:py-2.5"
              onClick={(event) => {
                closePopover(event.currentTarget);
                run();
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
