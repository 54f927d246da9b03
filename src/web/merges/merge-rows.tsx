import type { ReactNode } from "react";
import type { EndedMergeView, MergeQueueView } from "../../api/overview.ts";
import { visibleLine } from "../text/visible.ts";
import { Ago } from "../ui/text.tsx";

type Queued = MergeQueueView["entries"][number];
type Look = readonly [word: string, look: string];

const queuedLooks: Readonly<Record<Queued["state"], Look>> = {
  "lined-up": ["waits for its turn", "bg-sunken text-muted"],
  landing: ["is being merged", "bg-note-soft text-note"],
  "in-test": ["is being tested", "bg-note-soft text-note"],
  waits: ["waits", "bg-warn-soft text-warn"],
  paused: ["paused", "bg-sunken text-muted"],
};

const endedLooks: Readonly<Record<EndedMergeView["state"], Look>> = {
  merged: ["merged", "bg-good-soft text-good"],
  conflict: ["conflict", "bg-bad-soft text-bad"],
  tests: ["tests failed", "bg-bad-soft text-bad"],
  refused: ["refused", "bg-bad-soft text-bad"],
  undone: ["undone", "bg-sunken text-muted"],
};

interface RowProps {
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

export function QueuedRow({
  entry: { number, summary, state, reason, files, by, at },
  project,
  place,
  ...row
}: RowProps & { entry: Queued; project: string; place: number }) {
  return (
    <Row {...row} name={`${project}#${number}`} summary={summary} state={queuedLooks[state]} since={at} place={place}>
      <span>asked for by {by === "person" ? "you" : "its workflow"}</span>
      <Why reason={reason} files={files} />
    </Row>
  );
}

export function EndedRow({
  merge: { project, number, summary, target, state, reason, files, endedAt, after, onRemote },
  ...row
}: RowProps & { merge: EndedMergeView }) {
  return (
    <Row {...row} name={`${project}#${number}`} summary={summary} state={endedLooks[state]} since={endedAt}>
      <span>
        into {visibleLine(target)}
        {state === "merged" && after !== "" && <code className="ml-1 font-mono text-xs">{after.slice(0, 10)}</code>}
        {onRemote && ", on the remote"}
      </span>
      <Why reason={reason} files={files} />
    </Row>
  );
}

function Row({
  name,
  summary,
  state: [word, look],
  since,
  place,
  isChosen,
  onChoose,
  children,
}: RowProps & {
  name: string;
  summary: string;
  state: Look;
  since: string;
  place?: number;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      aria-current={isChosen}
      onClick={onChoose}
      className={`flex w-full gap-3 border-l-3 px-3 py-2 text-left pointer-coarse:py-3 ${isChosen ? "border-accent bg-chosen" : "border-transparent hover:bg-hover"}`}
    >
      {place !== undefined && (
        <span className="mt-0.5 flex size-6 shrink-0 items-center justify-center rounded-full bg-sunken text-sm font-semibold tabular-nums">
          {place}
        </span>
      )}
      <span className="min-w-0 flex-1">
        <span className="flex items-center gap-2 text-xs text-muted">
          <span className="font-mono">{visibleLine(name)}</span>
          <span className={`rounded px-1.5 leading-5 font-medium whitespace-nowrap ${look}`}>{word}</span>
          <Ago iso={since} className="ml-auto" />
        </span>
        <span className="block truncate font-medium" dir="auto">
          {visibleLine(summary)}
        </span>
        <span className="block text-sm text-muted">{children}</span>
      </span>
    </button>
  );
}

function Why({ reason, files }: { reason: string; files: readonly string[] }) {
  if (reason === "" && files.length === 0) return null;
  return (
    <span className="block [overflow-wrap:anywhere] text-ink" dir="auto">
      {visibleLine(reason)}
      {/* On a line of their own: a reason may end with a command, which a file's name would change. */}
      {files.length > 0 && (
        <span className="block text-muted">
          {files.length === 1 ? "File: " : "Files: "}
          <code className="font-mono text-xs">{files.slice(0, 5).map(visibleLine).join(", ")}</code>
          {files.length > 5 && ` and ${files.length - 5} more`}
        </span>
      )}
    </span>
  );
}
