import type { WorkflowView } from "../../api/workflows.ts";
import { visibleLine } from "../text/visible.ts";
import { Empty } from "../ui/states.tsx";
import { Plain } from "../ui/text.tsx";
import type { TextNote } from "./notes.ts";

/** What loading and verify say, the worst first. */
export function Findings({
  workflow: { proof },
  notes,
  onShow,
}: {
  workflow: WorkflowView;
  notes: readonly TextNote[];
  /** Shows the text at this state. */
  onShow: (state: string) => void;
}) {
  if (notes.length === 0)
    return (
      <Empty title={proof.state === "running" ? "It is being proved …" : "Nothing was found"}>
        {proof.result !== null &&
          `${proof.result.positions} positions, ${proof.result.steps} steps and ${proof.result.variants} variants were looked at.`}
      </Empty>
    );
  return (
    <ul className="space-y-3 p-4">
      {notes.map((note) => (
        <li key={`${note.line} ${note.text}`} className="rounded-lg border border-line bg-panel px-3 py-2">
          <Note note={note} />
          {note.steps.length > 0 && (
            <details className="mt-1">
              <summary className="text-sm text-muted">The shortest example</summary>
              <ol className="list-decimal pl-8 text-sm">
                {note.steps.map((step, i) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place in the example.
                  <li key={i}>{visibleLine(step)}</li>
                ))}
              </ol>
            </details>
          )}
          {note.state !== "" && note.line > 0 && (
            <button type="button" onClick={() => onShow(note.state)} className="mt-1 text-sm text-accent underline">
              Line {note.line}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

const looks = {
  error: ["✗", "bg-bad-soft text-bad"],
  warning: ["!", "bg-warn-soft text-warn"],
  note: ["i", "bg-note-soft text-note"],
} as const;

export function Note({ note: { level, state, text, fix } }: { note: TextNote }) {
  const [mark, look] = looks[level];
  return (
    <div className="flex items-start gap-2">
      <span className={`rounded px-1.5 text-xs leading-5 font-semibold whitespace-nowrap ${look}`}>
        <span aria-hidden>{mark} </span>
        {level}
      </span>
      <div className="min-w-0">
        {state !== "" && <span className="font-mono text-sm">{visibleLine(state)}: </span>}
        <Plain text={text} className="inline font-medium" />
        {fix !== "" && <Plain text={fix} className="text-sm text-muted" />}
      </div>
    </div>
  );
}
