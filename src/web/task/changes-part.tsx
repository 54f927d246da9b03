import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Diff, Hunk, parseDiff } from "react-diff-view";
import type { DiffView } from "../../api/work.ts";
import { queries } from "../data/queries.ts";
import { Lines } from "../tasks/changed-files.tsx";
import { type FilePatch, filesOfPatch } from "../text/patch.ts";
import { visible } from "../text/visible.ts";
import { Button } from "../ui/button.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { Line } from "../ui/text.tsx";
import "react-diff-view/style/index.css";
import "./diff.css";

/** Files with more lines are drawn only when asked for: each line is several elements. */
const maxOpen = 500;
/** More lines than this of one file are never drawn. */
const maxLines = 2_000;

/** What the task changes, file by file. */
export function ChangesPart({ task }: { task: string }) {
  const [sinceReview, setSinceReview] = useState(false);
  const diff = useQuery(queries.diff(task, sinceReview));
  return (
    <>
      <div className="flex items-center gap-3 px-4 pt-3">
        <label className="inline-flex items-center gap-2">
          <input type="checkbox" checked={sinceReview} onChange={({ target }) => setSinceReview(target.checked)} />
          Only since the last review
        </label>
      </div>
      <Loaded query={diff} what="the changes">
        {(view) => <Changes view={view} />}
      </Loaded>
    </>
  );
}

function Changes({ view: { committed, uncommitted, commit, target, protectedChanges } }: { view: DiffView }) {
  if (committed.files.length === 0 && (uncommitted?.files.length ?? 0) === 0)
    return (
      <Empty title="No changes">The task's branch is the same as {target === "" ? "where it began" : target}.</Empty>
    );
  return (
    <div className="space-y-3 p-4">
      <p className="text-sm text-muted">
        {committed.files.length === 1 ? "1 file" : `${committed.files.length} files`}, compared with {target}
        {commit !== "" && <span className="ml-2 font-mono">{commit.slice(0, 10)}</span>}
      </p>
      {protectedChanges.length > 0 && (
        <p className="rounded-md bg-bad-soft px-3 py-2">
          It changes what decides about work: {visible(protectedChanges.join(", "))}
        </p>
      )}
      <Files part={committed} />
      {uncommitted !== null && uncommitted.files.length > 0 && (
        <>
          <h2 className="pt-2 font-semibold">Not committed yet</h2>
          <Files part={uncommitted} />
        </>
      )}
    </div>
  );
}

function Files({ part }: { part: DiffView["committed"] }) {
  const { file: wanted } = useSearch({ from: "/tasks/$task" });
  const patches = useMemo(() => new Map(filesOfPatch(part.text).map((patch) => [patch.path, patch])), [part.text]);
  return (
    <>
      {part.files.map(({ path, from, added, deleted }, i) => {
        const patch = patches.get(path);
        const isSmall = (patch?.size ?? 0) <= maxOpen;
        return (
          <FileDiff
            key={path}
            {...{ path, from, added, deleted, patch }}
            isOpen={wanted === undefined ? i === 0 && isSmall : wanted === path}
          />
        );
      })}
      {part.isCut && (
        <p className="text-warn">The changes are too many to be shown whole. See them with git, in the workspace.</p>
      )}
    </>
  );
}

interface FileDiffProps {
  path: string;
  from: string | null;
  added: number | null;
  deleted: number | null;
  patch: FilePatch | undefined;
  isOpen: boolean;
}

function FileDiff({ path, from, added, deleted, patch, isOpen: wasOpen }: FileDiffProps) {
  const [isOpen, setOpen] = useState(wasOpen);
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      className="overflow-hidden rounded-md border border-line bg-panel"
    >
      <summary className="sticky top-0 flex gap-2 bg-panel px-3 py-1.5 font-mono text-sm pointer-coarse:py-3">
        <span aria-hidden>{isOpen ? "▾" : "▸"}</span>
        <span className="min-w-0 flex-1 truncate">
          {from !== null && from !== path && (
            <>
              <Line text={from} className="text-muted" /> →{" "}
            </>
          )}
          <Line text={path} />
        </span>
        <Lines added={added} deleted={deleted} />
      </summary>
      {isOpen && <FileBody patch={patch} />}
    </details>
  );
}

function FileBody({ patch }: { patch: FilePatch | undefined }) {
  const [limit, setLimit] = useState(maxOpen);
  const file = useMemo(() => {
    if (patch === undefined || patch.isBinary) return undefined;
    const lines = visible(patch.text).split("\n");
    return parseDiff(lines.slice(0, limit).join("\n"), { nearbySequences: "zip" })[0];
  }, [patch, limit]);
  if (patch === undefined) return <Note>The text of this file is not in the answer: the changes are too many.</Note>;
  if (patch.isBinary) return <Note>A binary file.</Note>;
  if (file === undefined || file.hunks.length === 0)
    return <Note>Only its name or its mode has changed, or it is empty.</Note>;
  const left = patch.size - limit;
  return (
    <div className="overflow-x-auto border-t border-line">
      <Diff viewType="unified" diffType={file.type} hunks={file.hunks}>
        {(hunks) => hunks.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
      </Diff>
      {left > 0 && limit < maxLines && (
        <Button className="m-2" onClick={() => setLimit(maxLines)}>
          Show {Math.min(left, maxLines - limit)} more lines
        </Button>
      )}
      {left > 0 && limit >= maxLines && (
        <Note>{left} more lines are not shown here. See them with git, in the workspace.</Note>
      )}
    </div>
  );
}

function Note({ children }: { children: React.ReactNode }) {
  return <p className="border-t border-line px-3 py-2 text-muted">{children}</p>;
}
