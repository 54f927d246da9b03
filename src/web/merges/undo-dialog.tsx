import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { pushOutlook } from "../../api/merge-answer.ts";
import { routes } from "../../api/routes.ts";
import type { TaskView } from "../../api/tasks.ts";
import { call, type Problem, problemsOf } from "../data/client.ts";
import { useCanAct } from "../data/daemon-state.ts";
import { refreshTask } from "../data/queries.ts";
import { OutlookBox } from "../tasks/outlook-box.tsx";
import { Button } from "../ui/button.tsx";
import { Command } from "../ui/command.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Loaded, Problems } from "../ui/states.tsx";
import { Line } from "../ui/text.tsx";
import { tellPerson } from "../ui/toasts.tsx";

/** Says what undoing a task's merge would change, as the daemon's dry run does, and then does it. */
export function UndoDialog({ task, onClose }: { task: TaskView; onClose: () => void }) {
  const client = useQueryClient();
  const canAct = useCanAct();
  const [isBusy, setBusy] = useState(false);
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const outlook = useQuery({
    queryKey: ["task", task.id, "undo-outlook", task.revision],
    queryFn: () => call(routes.undoMerge, { params: { task: task.id }, body: { dryRun: true } }),
    gcTime: 0,
    // While it is read again for a newer revision, the earlier outlook stays: the change itself is for one revision only.
    placeholderData: (before) => before,
  });
  const command = `signalbox task merge ${task.id} --undo`;
  const undo = async () => {
    setBusy(true);
    setProblems([]);
    try {
      const { target, after, warnings } = await call(routes.undoMerge, {
        params: { task: task.id },
        body: {},
        revision: task.revision,
      });
      const said = `${task.project}#${task.number}: its merge into ${target} is undone by ${after.slice(0, 10)}.`;
      tellPerson([said, ...warnings].join("\n"), command);
      onClose();
    } catch (error) {
      setProblems(problemsOf(error));
    } finally {
      setBusy(false);
      void client.invalidateQueries({ queryKey: ["merges"] });
      void refreshTask(client, task.id);
    }
  };
  return (
    <Dialog title="Undo the merge" onClose={onClose}>
      <div className="space-y-3">
        <p className="font-medium">
          {task.project}#{task.number} <Line text={task.summary} />
        </p>
        <p>A new commit takes its changes back. The task stays as it is, and its work is kept.</p>
        <Loaded query={outlook} what="what would be undone">
          {({ target, changed, reason, warnings, pushed }) => (
            <OutlookBox changed={changed} said={[reason, ...warnings]}>
              On <strong>{target}</strong>, {changed.length === 1 ? "1 file" : `${changed.length} files`} would change .{" "}
              {pushed !== null && `${pushOutlook({ target, pushed })}.`}
            </OutlookBox>
          )}
        </Loaded>
        {problems.length > 0 && (
          <div role="alert" className="rounded-md bg-bad-soft px-3 py-2">
            <Problems problems={problems} />
          </div>
        )}
        <Command text={command} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose} autoFocus>
            Do nothing
          </Button>
          <Button look="bad" disabled={!canAct || isBusy || outlook.data === undefined} onClick={() => void undo()}>
            {isBusy ? "Undoing …" : "Undo the merge"}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
