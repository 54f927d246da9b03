import { useEffect, useRef } from "react";
import { visible } from "../text/visible.ts";
import { Note } from "./findings.tsx";
import { lineOfState, type TextNote } from "./notes.ts";

/** The text of a workflow with line numbers. Findings are shown below the line that they are about. */
export function WorkflowText({
  text,
  notes,
  state,
}: {
  text: string;
  notes: readonly TextNote[];
  state: string | undefined;
}) {
  const chosen = useRef<HTMLDivElement>(null);
  const line = state === undefined ? 0 : lineOfState(text, state);
  useEffect(() => {
    if (line > 0) chosen.current?.scrollIntoView({ block: "center" });
  }, [line]);
  const lines = text.replace(/\n$/, "").split("\n");
  const general = notes.filter((note) => note.line === 0 || note.line > lines.length);
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: with the focus in it, the arrows scroll it.
      tabIndex={0}
      aria-label="Text of the workflow"
      className="m-4 overflow-x-auto rounded-lg border border-line bg-panel py-2"
    >
      {general.map((note) => (
        <div key={note.text} className="px-4 pb-2">
          <Note note={note} />
        </div>
      ))}
      <div className="min-w-max font-mono text-sm leading-5">
        {lines.map((each, i) => {
          const own = notes.filter((note) => note.line === i + 1);
          const isChosen = i + 1 === line;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line of a text is its number.
            <div key={i} ref={isChosen ? chosen : undefined} data-line={i + 1} className={isChosen ? "bg-chosen" : ""}>
              <div className="flex">
                <span
                  aria-hidden
                  className={`sticky left-0 w-12 shrink-0 bg-panel pr-3 text-right text-muted select-none ${own.length > 0 ? "font-bold text-warn" : ""}`}
                >
                  {i + 1}
                </span>
                <code className={`pr-4 whitespace-pre ${/^\s*#/.test(each) ? "text-muted" : ""}`}>
                  {visible(each) || " "}
                </code>
              </div>
              {own.map((note) => (
                <div key={note.text} className="sticky left-12 ml-12 max-w-2xl py-1 font-sans whitespace-normal">
                  <Note note={note} />
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </section>
  );
}
