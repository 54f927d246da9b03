import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import { Diff, Hunk, parseDiff } from "react-diff-view";
import type { DiffPart, DiffView } from "../../api/work.ts";
import { queries } from "../data/queries.ts";
import { Lines } from "../tasks/changed-files.tsx";
import { visible } from "../text/visible.ts";
import { Button } from "../ui/button.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { Line } from "../ui/text.tsx";
import "react-diff-view/style/index.css";
import "./diff.css";

/** Files with more changed lines stay closed: each line is several elements. */
const maxOpen = 400;

/** What the task changes, file by file. A file's lines are read when it is opened. */
export function ChangesPart({ task }: { task: string }) {
  const [sinceSeen, setSinceSeen] = useState(false);
  const diff = useQuery(queries.diff(task, sinceSeen));
  return (
    <>
      <div className="px-4 pt-3">
        <label className="inline-flex items-center gap-2 pointer-coarse:min-h-11">
          <input type="checkbox" checked={sinceSeen} onChange={({ target }) => setSinceSeen(target.checked)} />
          Only since I looked last
        </label>
      </div>
      <Loaded query={diff} what="the changes">
        {(view) => <Changes task={task} view={view} from={sinceSeen ? view.base : ""} />}
      </Loaded>
    </>
  );
}

function Changes({ task, view, from }: { task: string; view: DiffView; from: string }) {
  const { committed, uncommitted, commit, target, protectedChanges } = view;
  const open = uncommitted?.files ?? [];
  if (committed.files.length === 0 && open.length === 0)
    return (
      <Empty title="No changes">
        {from === "" ? "The task's branch is as it began." : "Nothing has changed since you looked."}
      </Empty>
    );
  return (
    <div className="space-y-3 p-4">
      <p className="text-sm text-muted">
        {committed.files.length === 1 ? "1 file" : `${committed.files.length} files`}, compared with{" "}
        {from === "" ? target : from.slice(0, 10)}
        {commit !== "" && <span className="ml-2 font-mono">{commit.slice(0, 10)}</span>}
      </p>
      {protectedChanges.length > 0 && (
        <p className="rounded-md bg-bad-soft px-3 py-2">
          It changes what decides about work: {visible(protectedChanges.join(", "))}
        </p>
      )}
      <Files {...{ task, from, commit }} part="committed" list={committed} />
      {open.length > 0 && (
        <>
          <h2 className="pt-2 font-semibold">Not committed yet</h2>
          <Files {...{ task, from, commit }} part="uncommitted" list={uncommitted ?? committed} />
        </>
      )}
    </div>
  );
}

interface Place {
  task: string;
  part: "committed" | "uncommitted";
  from: string;
  commit: string;
}

function Files({ list: { files, isCut }, ...place }: Place & { list: DiffPart }) {
  const { file: wanted } = useSearch({ from: "/tasks/$task" });
  return (
    <>
      {files.map((file, i) => {
        const isSmall = (file.added ?? 0) + (file.deleted ?? 0) <= maxOpen;
        const isOpen = wanted === undefined ? i === 0 && isSmall : wanted === file.path;
        return <FileDiff key={file.path} file={file} isOpenFirst={isOpen} {...place} />;
      })}
      {isCut && (
        <p className="text-warn">There are more files than can be listed. See them with git, in the workspace.</p>
      )}
    </>
  );
}

function FileDiff({
  file: { path, from: before, added, deleted, binary },
  isOpenFirst,
  ...place
}: Place & { file: DiffPart["files"][number]; isOpenFirst: boolean }) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      className="overflow-hidden rounded-md border border-line bg-panel"
    >
      <summary className="flex gap-2 px-3 py-1.5 font-mono text-sm pointer-coarse:py-3">
        <span aria-hidden>{isOpen ? "▾" : "▸"}</span>
        <span className="min-w-0 flex-1 truncate">
          {before !== null && before !== path && (
            <>
              <Line text={before} className="text-muted" /> →{" "}
            </>
          )}
          <Line text={path} />
        </span>
        <Lines added={added} deleted={deleted} />
      </summary>
      {isOpen && (binary === true ? <Note>A binary file.</Note> : <FileBody path={path} {...place} />)}
    </details>
  );
}

function FileBody({ task, ...wanted }: Place & { path: string }) {
  const patch = useInfiniteQuery(queries.filePatch(task, wanted));
  return (
    <div className="overflow-x-auto border-t border-line">
      <Loaded query={patch} what="the file's changes">
        {({ pages }) => {
          const parts = pages.flatMap(({ file }) => file ?? []);
          if (parts.some(({ binary }) => binary)) return <Note>A binary file.</Note>;
          const hidden = parts.flatMap((part) => part.hidden);
          return (
            <>
              <Patch text={parts.map(({ text }) => text).join("")} />
              {hidden.map(({ line, bytes }) => (
                <Note key={line}>
                  Line {line + 1} of the patch is not shown: it has {Math.ceil(bytes / 1_024)} kB.
                </Note>
              ))}
              {patch.hasNextPage && (
                <Button className="m-2" disabled={patch.isFetchingNextPage} onClick={() => void patch.fetchNextPage()}>
                  Show more lines
                </Button>
              )}
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

function Patch({ text }: { text: string }) {
  const file = useMemo(() => parseDiff(visible(text), { nearbySequences: "zip" })[0], [text]);
  if (file === undefined || file.hunks.length === 0)
    return <Note>Only its name or its mode has changed, or it is empty.</Note>;
  return (
    <Diff viewType="unified" diffType={file.type} hunks={file.hunks}>
      {(hunks) => hunks.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
    </Diff>
  );
}

function Note({ children }: { children: ReactNode }) {
  return <p className="px-3 py-2 text-muted">{children}</p>;
}
