import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { isMerging } from "../../api/act.ts";
import { pushOutlook } from "../../api/merge-answer.ts";
import { routes } from "../../api/routes.ts";
import type { ActionView, MergeView, TaskView } from "../../api/tasks.ts";
import { call } from "../data/client.ts";
import { useCanAct } from "../data/daemon-state.ts";
import { Button } from "../ui/button.tsx";
import { Command } from "../ui/command.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Loaded, Problems } from "../ui/states.tsx";
import { Line } from "../ui/text.tsx";
import { OutlookBox } from "./outlook-box.tsx";
import { StaleNote } from "./stale-note.tsx";
import type { Acting } from "./use-act.ts";

/** Says what an action leads to before it is done. */
export function ConfirmDialog({
  task,
  action,
  danger,
  acting,
  onConfirm,
  onClose,
}: {
  task: TaskView;
  action: ActionView;
  danger: string;
  acting: Acting;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const canAct = useCanAct();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <Dialog title={action.label} onClose={onClose}>
      <div className="space-y-3">
        <p className="font-medium">
          {task.project}#{task.number} <Line text={task.summary} />
        </p>
        <p>{danger}</p>
        {isMerging(action) && <MergeOutlook task={task} isBusy={acting.isBusy} />}
        {acting.problems.length > 0 && (
          <div role="alert" className="rounded-md bg-bad-soft px-3 py-2">
            <Problems problems={acting.problems} />
            <StaleNote change={acting.stale} />
          </div>
        )}
        <Command text={action.command} />
        <div className="flex justify-end gap-2">
          <Button ref={button} onClick={onClose}>
            Do nothing
          </Button>
          <Button look={isMerging(action) ? "main" : "bad"} disabled={!canAct || acting.isBusy} onClick={onConfirm}>
            {acting.isBusy ? "Working …" : action.label}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** What a merge would do, as its dry run says. Once the merge is asked for, what was said stays: a dry run would be refused. */
function MergeOutlook({ task, isBusy }: { task: TaskView; isBusy: boolean }) {
  const outlook = useQuery({
    queryKey: ["task", task.id, "merge-outlook", task.revision],
    queryFn: () => call(routes.mergeTask, { params: { task: task.id }, body: { dryRun: true } }),
    gcTime: 0,
    enabled: !isBusy && task.outcome === null,
    placeholderData: (before) => before,
  });
  return (
    <Loaded query={outlook} what="what the merge would do">
      {(merge) => <Outlook merge={merge} />}
    </Loaded>
  );
}

function Outlook({ merge: { commits, target, changed, reason, warnings, untested, pushed } }: { merge: MergeView }) {
  const tests =
    untested === "off" ? "Merges are not tested here." : untested === null ? "" : "No test command was found.";
  const push =
    pushed === null
      ? ""
      : `${pushOutlook({ target, pushed })}. To merge without pushing: signalbox config set push_merges false`;
  return (
    <OutlookBox changed={changed} said={[reason, tests, push, ...warnings]}>
      {commits} {commits === 1 ? "commit" : "commits"} into <strong>{target}</strong>, {changed.length}{" "}
      {changed.length === 1 ? "file" : "files"}
    </OutlookBox>
  );
}
