import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { EndedMergeView } from "../../api/overview.ts";
import type { TaskView } from "../../api/tasks.ts";
import { useCanAct } from "../data/daemon-state.ts";
import { queries } from "../data/queries.ts";
import { ActionBar } from "../tasks/action-bar.tsx";
import { Button } from "../ui/button.tsx";
import { Loaded } from "../ui/states.tsx";
import { Status } from "../ui/status.tsx";
import { Line, Plain } from "../ui/text.tsx";
import { UndoDialog } from "./undo-dialog.tsx";

/** What a person can do about a merge. The others are on the task's own page. */
const ofMerges: readonly string[] = [
  "merge",
  "merge-cancel",
  "sync",
  "retry",
  "continue",
  "approve",
  "request-changes",
];

/** The chosen task of the line with its actions: those that the daemon offers now, and the undoing of its merge. */
export function ChosenMerge({
  task: id,
  ended,
  isQueued,
  onBack,
}: {
  task: string;
  ended: EndedMergeView | undefined;
  isQueued: boolean;
  onBack: () => void;
}) {
  const actions = useQuery(queries.actions(id));
  const canAct = useCanAct();
  const [isUndoing, setUndoing] = useState(false);
  return (
    <aside
      aria-label="The chosen merge"
      className="shrink-0 overflow-y-auto border-line bg-panel p-4 max-md:flex-1 md:w-96 md:border-l"
    >
      <Button look="quiet" onClick={onBack} className="mb-2 md:hidden">
        ← The line
      </Button>
      <Loaded query={actions} what="the task">
        {({ task, actions: all }) => (
          <div className="space-y-3">
            <Head task={task} />
            {ended !== undefined && !isQueued && <Commits merge={ended} />}
            {task.outcome === null && (
              <ActionBar task={task} actions={all.filter(({ name }) => ofMerges.includes(name))} />
            )}
            {ended?.state === "merged" && (
              <Button look="bad" disabled={!canAct} onClick={() => setUndoing(true)}>
                Undo the merge …
              </Button>
            )}
            {isUndoing && <UndoDialog task={task} onClose={() => setUndoing(false)} />}
          </div>
        )}
      </Loaded>
    </aside>
  );
}

function Head({ task }: { task: TaskView }) {
  return (
    <div>
      <Link to="/tasks/$task" params={{ task: task.id }} className="font-semibold text-accent underline">
        {task.project}#{task.number}
      </Link>{" "}
      <Status task={task} />
      <p className="font-medium">
        <Line text={task.summary} />
      </p>
      <p className="font-mono text-sm text-muted">
        <Line text={task.branch} />
      </p>
      {task.waiting !== "" && <Plain text={task.waiting} className="text-sm text-muted" />}
    </div>
  );
}

function Commits({ merge: { commit, before, after, by, reason } }: { merge: EndedMergeView }) {
  const facts = [
    ["Asked for by", by === "person" ? "you" : "its workflow"],
    ["Its work", commit],
    ["The branch before", before],
    ["The branch after", after],
  ].filter(([, value]) => value !== "");
  return (
    <>
      {reason !== "" && <Plain text={reason} />}
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 text-sm">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="truncate font-mono">{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
