import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { QuestionView } from "../../api/questions.ts";
import type { ActionView, TaskView } from "../../api/tasks.ts";
import { useCanAct } from "../data/daemon-state.ts";
import { useDraft } from "../data/drafts.ts";
import { Button } from "../ui/button.tsx";
import { type Input, inputWith } from "./action-input.ts";
import { wayOf } from "./perform.ts";
import type { Acting } from "./use-act.ts";

/** The field for an action that needs words. What is written stays until the daemon has taken it. */
export function SayForm({
  task,
  action,
  question,
  hasFocus,
  acting,
  input,
  onClose,
}: {
  task: TaskView;
  action: ActionView;
  question: QuestionView | undefined;
  hasFocus: boolean;
  acting: Acting;
  input: Input;
  onClose?: () => void;
}) {
  const [text, setText, forgetSent] = useDraft(
    `${action.name} ${question?.id ?? task.id}`,
    `${action.name} ${task.id}`,
  );
  const [choice, setChoice] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const canAct = useCanAct();
  const way = wayOf(action);
  const label = way.kind === "ask-daemon" ? (way.asksText ?? "") : "";
  const choices = question?.choices ?? [];
  const whole = inputWith(input, { text, choice }, choices);
  const canSend = whole !== undefined && canAct && !acting.isBusy;
  useEffect(() => {
    if (hasFocus) field.current?.focus();
  }, [hasFocus]);
  const send = async () => {
    if (canSend && (await acting.act(action, whole))) forgetSent(text);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void send();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      className="space-y-2"
    >
      {choices.length > 0 && (
        <fieldset className="flex flex-wrap gap-3">
          <legend className="mb-1 text-sm text-muted">Then go on in</legend>
          {choices.map((each) => (
            <label key={each} className="inline-flex items-center gap-1.5">
              <input type="radio" name="choice" checked={choice === each} onChange={() => setChoice(each)} />
              {each}
            </label>
          ))}
        </fieldset>
      )}
      <textarea
        ref={field}
        aria-label={label}
        placeholder={question?.answer === "confirm" ? "yes, or what should be different" : label}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        rows={Math.min(12, Math.max(3, text.split("\n").length + 1))}
        className="block w-full rounded-md border border-line bg-panel px-3 py-2 pointer-coarse:text-lg"
      />
      <div className="flex flex-wrap items-center gap-1.5">
        <Button look="main" type="submit" disabled={!canSend} hint="Ctrl ↵">
          {acting.isBusy ? "Sending …" : sendLabel(action)}
        </Button>
        {question?.answer === "confirm" && (
          <Button
            disabled={!canAct || acting.isBusy}
            onClick={() => void acting.act(action, { ...input, text: "yes" })}
          >
            Yes
          </Button>
        )}
        {onClose !== undefined && (
          <Button look="quiet" onClick={onClose}>
            Close
          </Button>
        )}
        {text !== "" && <span className="text-xs text-muted">A draft, kept in this browser until it is sent</span>}
      </div>
    </form>
  );
}

function sendLabel({ name }: ActionView): string {
  return name === "request-changes"
    ? "Request changes"
    : name === "send"
      ? "Send"
      : name === "reply"
        ? "Reply"
        : "Answer";
}
