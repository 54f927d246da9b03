import { useQuery } from "@tanstack/react-query";
import type { ExplanationView, TaskView } from "../../api/tasks.ts";
import { queries } from "../data/queries.ts";
import { ChangedFiles } from "../tasks/changed-files.tsx";
import { Evidence } from "../tasks/evidence.tsx";
import { Needs } from "../tasks/needs.tsx";
import { Box } from "../ui/box.tsx";
import { Command } from "../ui/command.tsx";
import { Loaded } from "../ui/states.tsx";
import { Ago, Plain } from "../ui/text.tsx";
import { GraphSection } from "./graph-section.tsx";

/** Where the task is, what it needs, what comes next, and what was written last. */
export function Overview({ task }: { task: TaskView }) {
  const explained = useQuery(queries.explain(task.id));
  const questions = useQuery(queries.questions);
  const changes = useQuery(queries.changes(task.id));
  const question = questions.data?.find((each) => each.task === task.id);
  return (
    <div className="grid gap-4 p-4 [overflow-wrap:anywhere] xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <div className="min-w-0 xl:col-span-2">
        <GraphSection task={task.id} status={task.status} />
      </div>
      <div className="min-w-0 space-y-4">
        {task.needsPerson && <Needs task={task} question={question} />}
        <Evidence task={task} question={question} />
        <ChangedFiles task={task.id} changes={changes} />
      </div>
      <div className="min-w-0 space-y-4">
        <Loaded query={explained} what="what comes next">
          {(explanation) => (
            <Explanation
              task={task.id}
              explanation={explanation}
              asked={task.needsPerson ? question?.text : undefined}
            />
          )}
        </Loaded>
      </div>
    </div>
  );
}

function Explanation({
  task,
  explanation: { where, blocked, moves, next, warnings, owed },
  asked = "",
}: {
  task: string;
  explanation: ExplanationView;
  /** The question that the page shows beside this. */
  asked?: string | undefined;
}) {
  const failed = owed.filter(({ state }) => state === "failed");
  return (
    <>
      <Box title="Where it is">
        <Plain text={where} />
        {blocked
          .filter(({ reason }) => !isSaid(reason, asked))
          .map(({ reason, fix }) => (
            <div key={reason} className="mt-2">
              <Plain text={reason} className="font-medium" />
              <Plain text={fix} className="text-sm text-muted" />
            </div>
          ))}
        {warnings.map((each) => (
          <Plain key={each} text={each} className="mt-2 text-warn" />
        ))}
      </Box>
      {failed.length > 0 && (
        <Box title="Failed effects">
          {failed.map(({ id, action, failure }) => (
            <div key={id}>
              <span className="font-mono">{action}</span>
              <Plain text={failure ?? ""} className="text-bad" />
            </div>
          ))}
          <Command text={`signalbox task retry ${task}`} className="mt-1" />
        </Box>
      )}
      {next.length > 0 && (
        <Box title="What happens by itself">
          {next.map(({ what, at }) => (
            <p key={what}>
              {what} {at !== null && <Ago iso={at} className="text-muted" />}
            </p>
          ))}
        </Box>
      )}
      {moves.length > 0 && (
        <Box title="Where it can go">
          <ul className="divide-y divide-line">
            {moves.map(({ to, by, open, command, missing }) => (
              <li key={to} className="py-1.5 first:pt-0 last:pb-0">
                <p className="flex items-center gap-2">
                  <span aria-hidden className={open ? "text-good" : "text-muted"}>
                    {open ? "●" : "○"}
                  </span>
                  <span className="font-medium">{to}</span>
                  <span className="text-sm text-muted">
                    {by.join(", ")}
                    {open ? "" : " – not yet"}
                  </span>
                </p>
                {missing.map((each) => (
                  <Plain key={each} text={each} className="pl-5 text-sm text-muted" />
                ))}
                {open && command !== "" && (
                  <div className="mt-0.5 pl-5">
                    <Command text={command} />
                  </div>
                )}
              </li>
            ))}
          </ul>
        </Box>
      )}
    </>
  );
}

/** Whether a reason only repeats the question that is shown already, as Markdown. */
function isSaid(reason: string, question: string): boolean {
  const plain = (text: string) => text.replace(/\s+/g, " ").trim();
  return question !== "" && plain(reason).includes(plain(question));
}
