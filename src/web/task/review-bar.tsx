import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { routes } from "../../api/routes.ts";
import type { ActionView, TaskView } from "../../api/tasks.ts";
import { call } from "../data/client.ts";
import { useCanAct } from "../data/daemon-state.ts";
import { queries } from "../data/queries.ts";
import { inputOf } from "../tasks/action-input.ts";
import { StaleNote } from "../tasks/stale-note.tsx";
import { useAct } from "../tasks/use-act.ts";
import { Button } from "../ui/button.tsx";
import { Problems } from "../ui/states.tsx";
import { Line } from "../ui/text.tsx";
import { draftOf, type ReviewDraft, saidIn, textOf, withComment, withoutSent } from "./review-draft.ts";
import { useIsNarrow } from "./use-is-narrow.ts";

/** Actions that take words about the work, the ones that most likely are meant first. */
const verbs: Readonly<Record<string, string>> = {
  "request-changes": "Ask for changes",
  answer: "Answer",
  reply: "Reply to the agent",
  send: "Tell the agent",
  comment: "Only note it in the history",
};

/** The comments that are not sent yet, and the one action that sends them all. */
export function ReviewBar({
  task,
  commit,
  draft: [draft, setDraft],
}: {
  task: TaskView;
  commit: string;
  draft: readonly [ReviewDraft, (next: ReviewDraft) => void];
}) {
  const actions = useQuery(queries.actions(task.id)).data?.actions ?? [];
  const questions = useQuery(queries.questions);
  const question = questions.data?.find((each) => each.task === task.id);
  const canAct = useCanAct();
  const acting = useAct(task);
  const isNarrow = useIsNarrow();
  const [isOpen, setOpen] = useState(false);
  const [wanted, setWanted] = useState("");
  const all = [...actions.filter((action) => isForWords(action, question?.choices ?? [])), commentAction(task)];
  const ranked = all.sort((a, b) => rankOf(a) - rankOf(b));
  const allowed = ranked.filter((action) => action.allowed);
  const chosen = allowed.find((action) => action.command === wanted) ?? allowed[0];
  const closed = ranked.filter((action) => !action.allowed);
  const said = saidIn(draft);
  const text = textOf(draft);
  const send = async () => {
    if (chosen === undefined || text === "") return;
    if (!(await acting.act(chosen, { ...inputOf(chosen, { question }), text }))) return;
    // The fields stay open while it is sent.
    setDraft(withoutSent(draftOf(task.id), draft));
    // What was reviewed is where the next review begins. It is only a mark: if it fails, more is shown then.
    if (commit !== "") call(routes.seeTask, { params: { task: task.id }, body: { commit } }).catch(() => undefined);
  };
  return (
    <section
      aria-label="Your review"
      className="sticky bottom-0 z-10 space-y-2 border-t border-line bg-raised px-4 py-2 shadow-[0_-4px_12px_rgb(0_0_0/0.08)]"
    >
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="font-medium pointer-coarse:py-2">
          {said.length === 1 ? "1 comment" : `${said.length} comments`}, not sent yet
          <span className="ml-2 text-xs font-normal text-muted">kept in this browser until the daemon has them</span>
        </summary>
        <ul className="max-h-48 overflow-y-auto py-1">
          {said.map((each) => (
            <li key={`${each.path} ${each.side} ${each.line}`} className="flex items-baseline gap-2 text-sm">
              <Link
                from="/tasks/$task"
                search={{ part: "changes", file: each.path }}
                replace
                className="max-w-[45%] shrink-0 truncate font-mono text-accent underline"
              >
                <Line text={`${each.path}:${each.line}`} />
              </Link>
              <Line text={each.text} className="min-w-0 flex-1 truncate" />
              {commit !== "" && each.commit !== commit && (
                <span className="text-xs text-warn">at an earlier commit</span>
              )}
              <Button
                look="quiet"
                aria-label={`Remove the comment on ${each.path}:${each.line}`}
                onClick={() => setDraft(withComment(draft, { ...each, text: "" }))}
              >
                ×
              </Button>
            </li>
          ))}
        </ul>
        {closed.map((action) => (
          <p key={action.command} className="flex gap-1 text-sm text-muted">
            <span className="whitespace-nowrap">{labelOf(action)}, not now:</span>
            <Line text={action.why.split("\n", 1)[0] ?? ""} className="min-w-0 truncate" />
          </p>
        ))}
      </details>
      {acting.problems.length > 0 && (
        <div role="alert" className="rounded-md bg-bad-soft px-3 py-2">
          <Problems problems={acting.problems} />
          <StaleNote change={acting.stale} />
        </div>
      )}
      <div className={`flex-wrap items-end gap-2 ${isNarrow && !isOpen ? "hidden" : "flex"}`}>
        <textarea
          aria-label="What you say about the whole"
          placeholder="What you say about the whole (optional)"
          rows={draft.remark.includes("\n") ? 4 : 1}
          value={draft.remark}
          onChange={({ target }) => setDraft({ ...draft, remark: target.value })}
          className="min-w-48 flex-1 rounded-md border border-line bg-panel px-2 py-1 pointer-coarse:text-lg"
        />
        <select
          aria-label="How it is sent"
          value={chosen?.command}
          onChange={({ target }) => setWanted(target.value)}
          className="w-60 max-w-full rounded-md border border-line bg-panel px-2 py-1 pointer-coarse:min-h-11"
        >
          {allowed.map((action) => (
            <option key={action.command} value={action.command}>
              {labelOf(action)}
            </option>
          ))}
          {closed.map((action) => (
            <option key={action.command} value={action.command} disabled>
              {labelOf(action)} – {action.why}
            </option>
          ))}
        </select>
        <Button look="main" disabled={!canAct || acting.isBusy || text === ""} onClick={() => void send()}>
          {acting.isBusy ? "Sending …" : said.length > 0 ? `Send ${said.length} together` : "Send"}
        </Button>
        <Button look="quiet" onClick={() => setDraft({ comments: [], remark: "" })}>
          Discard
        </Button>
      </div>
    </section>
  );
}

function isForWords({ name }: ActionView, choices: readonly string[]): boolean {
  if (!Object.hasOwn(verbs, name)) return false;
  // Where an answer also chooses a state, it is given in the task's own field.
  return name !== "answer" || choices.length === 0;
}

function rankOf({ name }: ActionView): number {
  return Object.keys(verbs).indexOf(name);
}

function labelOf({ name, label, to }: ActionView): string {
  const verb = verbs[name] ?? label;
  return name === "request-changes" && to !== "" ? `${verb}, in ${to}` : verb;
}

/** Everybody can comment, in every state. */
function commentAction({ id }: TaskView): ActionView {
  return {
    ...{ name: "comment", label: "Comment", key: "", to: "", consequence: "none", allowed: true, why: "" },
    command: `signalbox task comment ${id} "Your message"`,
  };
}
