import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { PullRequestView, TaskView } from "../../api/tasks.ts";
import { queries } from "../data/queries.ts";
import { Box } from "../ui/box.tsx";
import { Command } from "../ui/command.tsx";
import { Loaded } from "../ui/states.tsx";
import { Ago, Line, Plain } from "../ui/text.tsx";

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
          <Verdict judged={task.judged} commit={commit} />
          <Tested tested={task.tested} commit={commit} />
          <Loaded query={view} what="the pull request">
            {({ pullRequest }) => <PullRequest known={pullRequest} url={task.prUrl} commit={commit} />}
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

function Verdict({ judged, commit }: { judged: TaskView["judged"]; commit: string }) {
  if (judged === null) return <Check tone="none" title="Verdict" text="Nobody has judged the work yet." />;
  const isCurrent = judged.commit === commit;
  const isApproval = judged.role === "human";
  const text = isApproval
    ? "A person has approved it."
    : `The ${judged.role} has judged it. Its words are in the task file.`;
  const tone = isCurrent ? (isApproval ? "good" : "said") : "warn";
  return (
    <Check tone={tone} title={isApproval ? "Approval" : "Verdict"} text={text} commit={judged.commit}>
      {!isCurrent && commit !== "" && "There are newer commits, which nobody has judged."}
    </Check>
  );
}

function Tested({ tested, commit }: { tested: TaskView["tested"]; commit: string }) {
  if (tested === null) return <Check tone="none" title="Tests" text="Signalbox has not run the tests for this task." />;
  const { word } = tested;
  const isCurrent = tested.commit === commit;
  const passed = word !== "tests";
  return (
    <Check
      tone={!passed ? "bad" : isCurrent && word === "ok" ? "good" : "warn"}
      title="Tests"
      text={testWords[word] ?? `They ended with "${word}".`}
      commit={tested.commit}
    >
      {!isCurrent && commit !== "" && "They ran on another commit than the newest one, such as the merged result."}
    </Check>
  );
}

const testWords: Readonly<Record<string, string>> = {
  ok: "They passed.",
  tests: "They failed.",
  untested: "There was no command to test it with.",
};

const checkWords: Readonly<Record<PullRequestView["checks"], string>> = {
  passing: "Its checks pass.",
  failing: "Its checks fail.",
  unfinished: "Its checks have not finished.",
  none: "It has no checks.",
};
const reviewWords: Readonly<Record<PullRequestView["review"], string>> = {
  approved: "It is approved.",
  "changes-requested": "Its reviewer asks for changes.",
  required: "It needs a review.",
  none: "",
};

function PullRequest({ known, url, commit }: { known: PullRequestView | null; url: string; commit: string }) {
  if (known === null)
    return (
      <Check
        tone="none"
        title="Pull request"
        text={url === "" ? "It has none." : "Its state was not read from the forge yet."}
      />
    );
  const { number, state, head, base, checks, review, isDraft, title, seenAt } = known;
  const isBad = checks === "failing" || review === "changes-requested" || state === "closed";
  const isGood = checks === "passing" || state === "merged";
  return (
    <Check
      tone={isBad ? "bad" : isGood ? "good" : checks === "none" ? "none" : "warn"}
      title={`Pull request #${number}`}
      text={[`It is ${isDraft ? "a draft" : state}, into ${base}.`, checkWords[checks], reviewWords[review]]
        .filter((each) => each !== "")
        .join(" ")}
      commit={head}
    >
      <Line text={title} /> <span className="text-muted">– read</span> <Ago iso={seenAt} className="text-muted" />{" "}
      <span className="text-muted">ago.</span>
      {commit !== "" && head !== commit && " Its newest commit is another than the task's: it was not pushed yet."}
    </Check>
  );
}

const marks = {
  good: ["✓", "text-good"],
  bad: ["✗", "text-bad"],
  warn: ["!", "text-warn"],
  /** Whether it is good, its words say. */
  said: ["●", "text-note"],
  none: ["–", "text-muted"],
} as const;

function Check({
  tone,
  title,
  text,
  commit = "",
  children,
}: {
  tone: keyof typeof marks;
  title: string;
  text: string;
  commit?: string;
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
        {children !== undefined && children !== false && <p className="text-sm text-muted">{children}</p>}
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
