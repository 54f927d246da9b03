import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { dangerOf } from "../../api/act.ts";
import type { QuestionView } from "../../api/questions.ts";
import type { ActionView, TaskView } from "../../api/tasks.ts";
import { useCanAct } from "../data/daemon-state.ts";
import { useKeys } from "../keys/use-keys.ts";
import { Button, Key } from "../ui/button.tsx";
import { Command } from "../ui/command.tsx";
import { closePopover, Popover } from "../ui/popover.tsx";
import { Problems } from "../ui/states.tsx";
import { tellPerson } from "../ui/toasts.tsx";
import { inputOf, isAnswer } from "./action-input.ts";
import { wayOf } from "./perform.ts";
import { SayForm } from "./say-form.tsx";
import { StaleNote } from "./stale-note.tsx";
import { useAct } from "./use-act.ts";

const ConfirmDialog = lazy(() =>
  import("./confirm-dialog.tsx").then(({ ConfirmDialog }) => ({ default: ConfirmDialog })),
);

interface ActionBarProps {
  task: TaskView;
  actions: readonly ActionView[];
  /** The question that the task asks and the person sees. */
  question?: QuestionView | undefined;
  /** The commit that is on the screen, for an approval. */
  commit?: string | undefined;
  /** The task has changed, and its actions are being read again: none of these is started. */
  isBehind?: boolean;
  /** After an action that was done. */
  onDone?: (action: ActionView) => void;
}

/** How many actions have a button of their own; the others are in the menu. */
const maxButtons = 3;

/** What a person can do with a task now. The first ones are buttons; the menu also says why the others are not allowed. */
export function ActionBar({ task, actions, question, commit, isBehind = false, onDone }: ActionBarProps) {
  const canAct = useCanAct();
  const navigate = useNavigate();
  const [open, setOpen] = useState<{ readonly action: ActionView; readonly isAsked: boolean }>();
  const acting = useAct(task, (action) => {
    setOpen(undefined);
    onDone?.(action);
  });
  const inputFor = (action: ActionView) => inputOf(action, { question, commit });
  const start = (action: ActionView) => {
    const way = wayOf(action);
    acting.forget();
    if (isBehind) return tellPerson("The task has changed. What you can do is being read: try again.", "", "wait");
    if (!action.allowed) return tellPerson(action.why, action.command, "bad");
    if (way.kind === "terminal") return tellPerson(`${action.label}: this needs a terminal.`, action.command);
    if (way.kind === "show")
      return void navigate({ to: "/tasks/$task", params: { task: task.id }, search: { part: way.part } });
    if (!canAct) return tellPerson("The daemon is gone. Nothing was sent.", "signalbox up", "bad");
    if (way.asksText !== undefined || dangerOf(action) !== undefined) return setOpen({ action, isAsked: true });
    void acting.act(action, inputFor(action));
  };
  useKeys({}, (key) => {
    const found = actions.find((action) => action.key === key);
    if (found !== undefined) start(found);
    return found !== undefined;
  });
  const offered = actions.filter((action) => action.allowed && wayOf(action).kind === "ask-daemon");
  // The first action that asks for words has its field open: an answer is written where the question is read.
  const [first] = offered;
  const asked = open ?? (first !== undefined && isAnswer(first) ? { action: first, isAsked: false } : undefined);
  const way = asked === undefined ? undefined : wayOf(asked.action);
  const isWriting = way?.kind === "ask-daemon" && way.asksText !== undefined;
  const danger = asked === undefined || open === undefined ? undefined : dangerOf(asked.action);
  const buttons = offered.filter((action) => action !== asked?.action || !isWriting).slice(0, maxButtons);
  return (
    <div className="space-y-2">
      {asked !== undefined && isWriting && (
        <SayForm
          key={`${asked.action.command} ${question?.id ?? ""}`}
          task={task}
          action={asked.action}
          question={isAnswer(asked.action) ? question : undefined}
          hasFocus={asked.isAsked}
          acting={acting}
          input={inputFor(asked.action)}
          {...(open === undefined ? {} : { onClose: () => setOpen(undefined) })}
        />
      )}
      {acting.problems.length > 0 && (
        <div role="alert" className="rounded-md bg-bad-soft px-3 py-2">
          <Problems problems={acting.problems} />
          <StaleNote change={acting.stale} />
        </div>
      )}
      <div className="flex flex-wrap items-center gap-1.5">
        {buttons.map((action, i) => (
          <Button
            key={action.command}
            look={i === 0 && !isWriting ? "main" : looksBad(action) ? "bad" : "plain"}
            hint={action.key}
            disabled={!canAct || acting.isBusy || isBehind}
            onClick={() => start(action)}
          >
            {shortLabel(action)}
          </Button>
        ))}
        <Popover label="More …" look="quiet">
          <ActionMenu actions={actions} start={start} />
        </Popover>
      </div>
      {asked !== undefined && way?.kind === "ask-daemon" && !isWriting && danger !== undefined && (
        <Suspense fallback={null}>
          <ConfirmDialog
            task={task}
            action={asked.action}
            danger={danger}
            acting={acting}
            onConfirm={() => void acting.act(asked.action, inputFor(asked.action))}
            onClose={() => setOpen(undefined)}
          />
        </Suspense>
      )}
    </div>
  );
}

function ActionMenu({ actions, start }: { actions: readonly ActionView[]; start: (action: ActionView) => void }) {
  const sorted = [...actions].sort((a, b) => Number(b.allowed) - Number(a.allowed));
  return (
    <ul>
      {sorted.map((action) => (
        <li key={action.command + action.name}>
          <button
            type="button"
            aria-disabled={!action.allowed}
            onClick={(event) => {
              closePopover(event.currentTarget);
              start(action);
            }}
            className={`flex w-full items-start gap-2 rounded px-2 py-1 text-left hover:bg-hover pointer-coarse:py-2.5 ${action.allowed ? "" : "text-muted"}`}
          >
            <span className="min-w-0 flex-1">
              {action.label}
              {!action.allowed && <span className="block text-xs [overflow-wrap:anywhere]">{action.why}</span>}
            </span>
            {action.key !== "" && <Key isHint>{action.key}</Key>}
          </button>
          {action.allowed && wayOf(action).kind === "terminal" && (
            <Command text={action.command} className="mb-1 ml-2" />
          )}
        </li>
      ))}
    </ul>
  );
}

function looksBad({ name }: ActionView): boolean {
  return name === "cancel" || name === "kill" || name === "delete";
}

/** A button needs fewer words than a menu. */
function shortLabel({ name, label, to }: ActionView): string {
  const short = Object.hasOwn(shortLabels, name) ? shortLabels[name] : undefined;
  return short ?? (name === "move" ? `Move to ${to}` : label);
}

const shortLabels: Readonly<Record<string, string>> = {
  answer: "Answer",
  reply: "Reply",
  approve: "Approve",
  "request-changes": "Request changes",
  merge: "Merge",
  "merge-cancel": "Stop the merge",
  continue: "Continue",
  retry: "Retry",
  spawn: "Start",
  respawn: "Start the agent again",
  send: "Send a message",
  sync: "Update its branch",
  cancel: "Cancel",
};
