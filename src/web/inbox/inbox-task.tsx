import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import type { TaskView } from "../../api/tasks.ts";
import { queries, type Row } from "../data/queries.ts";
import { ActionBar } from "../tasks/action-bar.tsx";
import { ChangedFiles } from "../tasks/changed-files.tsx";
import { Evidence } from "../tasks/evidence.tsx";
import { Needs } from "../tasks/needs.tsx";
import { hasMovedOn } from "../tasks/waiting.ts";
import { Button } from "../ui/button.tsx";
import { Loaded } from "../ui/states.tsx";
import { Status } from "../ui/status.tsx";
import { Line } from "../ui/text.tsx";
import { SeenMenu, useSeen } from "./seen.tsx";

/** A task that waits: what it asks, what that is about, and the person's actions, in one place. */
export function InboxTask({
  id,
  row,
  isWaiting,
  onDone,
  onBack,
}: {
  id: string;
  /** The task in the list, which may know more than what was remembered of the task. */
  row: Row | undefined;
  isWaiting: boolean;
  onDone: () => void;
  onBack: () => void;
}) {
  const client = useQueryClient();
  const actions = useQuery(queries.actions(id));
  const questions = useQuery(queries.questions);
  const changes = useQuery(queries.changes(id));
  const question = questions.data?.find((each) => each.task === id);
  const isBehind = actions.data !== undefined && hasMovedOn(actions.data.task, row);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each newer revision is read, also while an older one is awaited.
  useEffect(() => {
    if (isBehind) void client.invalidateQueries({ queryKey: queries.actions(id).queryKey });
  }, [isBehind, row?.revision, id]);
  return (
    <Loaded query={actions} what="the task">
      {({ task, actions: all }) => (
        <div className="flex h-full flex-col">
          <header className="flex items-center gap-2 border-b border-line bg-panel px-4 py-2">
            <Button look="quiet" onClick={onBack} className="md:hidden" aria-label="Back to the list">
              ←
            </Button>
            <div className="min-w-0 flex-1">
              <h2 className="truncate font-semibold" dir="auto">
                <Line text={task.summary} />
              </h2>
              <p className="flex items-center gap-2 text-xs text-muted">
                <span className="font-mono">
                  {task.project}#{task.number}
                </span>
                <Status task={task} />
              </p>
            </div>
            <Seen task={task} onDone={onDone} />
            <Link
              to="/tasks/$task"
              params={{ task: id }}
              className="rounded-md border border-line px-2.5 py-1 font-medium whitespace-nowrap hover:bg-hover pointer-coarse:py-2.5"
            >
              Open
            </Link>
          </header>
          <div className="min-h-0 flex-1 space-y-4 overflow-y-auto p-4">
            {isWaiting ? <Needs task={task} question={question} /> : <Moved task={task} />}
            <Evidence task={task} question={question} />
            <ChangedFiles task={id} changes={changes} />
          </div>
          <footer className="border-t border-line bg-panel px-4 py-3">
            <ActionBar
              task={task}
              actions={all}
              isBehind={isBehind}
              question={question}
              commit={changes.data?.commit}
              onDone={({ name }) => {
                if (name !== "send" && name !== "sync" && name !== "fetch") onDone();
              }}
            />
          </footer>
        </div>
      )}
    </Loaded>
  );
}

function Seen({ task, onDone }: { task: TaskView; onDone: () => void }) {
  useSeen(task);
  return <SeenMenu task={task} onDone={onDone} />;
}

/** Somebody else was faster, or the task went on by itself. */
function Moved({ task }: { task: TaskView }) {
  return (
    <p role="status" className="rounded-md bg-sunken px-3 py-2">
      This task does not wait for you now: it is in <strong>{task.status}</strong>.
      {task.reason !== "" && <> {task.reason}</>}
    </p>
  );
}
