import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { PullRequestView, TaskView } from "../../api/tasks.ts";
import { queries } from "../data/queries.ts";
import { Box } from "../ui/box.tsx";
import { Command } from "../ui/command.tsx";
import { Loaded } from "../ui/states.tsx";
import { Ago, Line, Plain } from "../ui/text.tsx";
import { type CheckResult, pullRequestOf, testsOf, verdictOf } from "./checks.ts";

/** What was checked and for which commit: verdict, tests, pull request; and the operations that are owed or have failed. */
export function ChecksPart({ task }: { task: TaskView }) {
  const view = useQuery(queries.view(task.id));
  const changes = useQuery(queries.changes(task.id));
  const commit = changes.data?.commit ?? "";
  return (
    <div className="mx-auto max-w-4xl space-y-4 p-4">
      <Box title="Checks">
        <p className="mb-2 text-sm text-muted">
          {changes.data === undefined ? (
            "The newest commit is being read."
          ) : commit === "" ? (
            "The task has no commit yet."
          ) : (
            <>
              The newest commit of its work is <Commit id={commit} />.
            </>
          )}
        </p>
        <ul className="divide-y divide-line">
          <Check result={verdictOf(task.judged, commit)} />
          <Check result={testsOf(task.tested, commit)} />
          <Loaded query={view} what="the pull request">
            {({ pullRequest }) => (
              <PullRequest known={pullRequest} result={pullRequestOf(pullRequest, task.prUrl, commit)} />
            )}
          </Loaded>
        </ul>
      </Box>
      <Loaded query={view} what="the operations">
        {({ effects, openFindings = [] }) => (
          <>
            {openFindings.length > 0 && (
              <Box title="Open findings">
                <ul className="list-disc pl-5">
                  {openFindings.map((each) => (
                    <li key={each}>
                      <Line text={each} />
                    </li>
                  ))}
                </ul>
              </Box>
            )}
            <Effects task={task.id} effects={effects.filter(({ state }) => state === "owed" || state === "failed")} />
          </>
        )}
      </Loaded>
    </div>
  );
}

function PullRequest({ known, result }: { known: PullRequestView | null; result: CheckResult }) {
  return (
    <Check result={result}>
      {known !== null && (
        <>
          <Line text={known.title} /> <span className="text-muted">– read</span>{" "}
          <Ago iso={known.seenAt} className="text-muted" /> <span className="text-muted">ago.</span>
        </>
      )}
    </Check>
  );
}

const marks: Readonly<Record<CheckResult["tone"], readonly [mark: string, colour: string]>> = {
  good: ["✓", "text-good"],
  bad: ["✗", "text-bad"],
  warn: ["!", "text-warn"],
  said: ["●", "text-note"],
  none: ["–", "text-muted"],
};

function Check({
  result: { tone, title, text, commit, note },
  children = false,
}: {
  result: CheckResult;
  children?: ReactNode;
}) {
  const [mark, colour] = marks[tone];
  return (
    <li className="flex gap-3 py-2 first:pt-0 last:pb-0">
      <span aria-hidden className={`w-4 text-center font-bold ${colour}`}>
        {mark}
      </span>
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-medium">{title}</span>
          {commit !== "" && (
            <span className="text-sm text-muted">
              for <Commit id={commit} />
            </span>
          )}
        </p>
        <Plain text={text} />
        {(children !== false || note !== "") && (
          <p className="text-sm text-muted">
            {children} {note}
          </p>
        )}
      </div>
    </li>
  );
}

function Commit({ id }: { id: string }) {
  return (
    <span title={id} className="font-mono">
      <Line text={id.slice(0, 10)} />
    </span>
  );
}

interface Effect {
  readonly id: number;
  readonly action: string;
  readonly state: string;
  readonly tries: number;
  readonly dueAt: string;
  readonly failure: string | null;
}

function Effects({ task, effects }: { task: string; effects: readonly Effect[] }) {
  const failed = effects.filter(({ state }) => state === "failed");
  return (
    <Box title="Operations (effects)">
      {effects.length === 0 && <p className="text-muted">None is owed, and none has failed.</p>}
      <ul className="divide-y divide-line">
        {effects.map(({ id, action, state, tries, dueAt, failure }) => (
          <li key={id} className="py-2 first:pt-0 last:pb-0">
            <p className="flex flex-wrap items-baseline gap-x-2">
              <Line text={action} className="font-mono font-medium" />
              <span
                className={`rounded px-1.5 text-xs ${state === "failed" ? "bg-bad-soft text-bad" : "bg-sunken text-muted"}`}
              >
                {state}
              </span>
              <span className="text-sm text-muted">
                {tries === 0 ? "not tried yet" : tries === 1 ? "tried once" : `tried ${tries} times`}
                {state === "owed" && tries > 0 && Date.parse(dueAt) > Date.now() && (
                  <> – next {new Date(dueAt).toLocaleTimeString()}</>
                )}
              </span>
            </p>
            {failure !== null && failure !== "" && (
              <Plain text={failure} className={state === "failed" ? "text-bad" : "text-warn"} />
            )}
          </li>
        ))}
      </ul>
      {failed.length > 0 && <Command text={`signalbox task retry ${task}`} className="mt-2" />}
    </Box>
  );
}
