import { useEffect, useRef } from "react";
import { Button } from "../ui/button.tsx";
import { Plain } from "../ui/text.tsx";
import type { Place } from "./review-draft.ts";

/** A comment below its line. What is written is kept with each key. */
export function LineCommentBox({
  place: { line, side },
  text,
  isOpen,
  setOpen,
  setText,
}: {
  place: Place;
  text: string;
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
  setText: (text: string) => void;
}) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (isOpen) field.current?.focus();
  }, [isOpen]);
  const remove = () => {
    setText("");
    setOpen(false);
  };
  const label = `Comment on ${side} line ${line}`;
  return (
    <section aria-label={label} className="border-y border-line bg-note-soft px-3 py-2 font-sans text-base">
      {isOpen ? (
        <>
          <textarea
            ref={field}
            aria-label={label}
            placeholder={`${label}. It is sent together with the others.`}
            value={text}
            rows={Math.min(10, Math.max(2, text.split("\n").length + 1))}
            onChange={({ target }) => setText(target.value)}
            onKeyDown={(event) => {
              const isDone = event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey));
              if (!isDone) return;
              event.preventDefault();
              setOpen(false);
            }}
            className="block w-full rounded-md border border-line bg-panel px-2 py-1 pointer-coarse:text-lg"
          />
          <div className="mt-1.5 flex gap-1.5">
            <Button hint="Ctrl ↵" onClick={() => setOpen(false)}>
              {text.trim() === "" ? "Close" : "Keep"}
            </Button>
            {text !== "" && (
              <Button look="quiet" onClick={remove}>
                Remove
              </Button>
            )}
          </div>
        </>
      ) : (
        <div className="flex items-start gap-2">
          <Plain text={text} className="min-w-0 flex-1" />
          <span className="text-xs text-muted">not sent yet</span>
          <Button look="quiet" aria-label={`Change the comment on ${side} line ${line}`} onClick={() => setOpen(true)}>
            Change
          </Button>
          <Button look="quiet" aria-label={`Remove the comment on ${side} line ${line}`} onClick={remove}>
            Remove
          </Button>
        </div>
      )}
    </section>
  );
}
