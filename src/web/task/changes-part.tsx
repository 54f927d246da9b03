import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { routes } from "../../api/routes.ts";
import type { TaskView } from "../../api/tasks.ts";
import type { DiffPart, DiffView } from "../../api/work.ts";
import { call, problemsOf } from "../data/client.ts";
import { useCanAct } from "../data/daemon-state.ts";
import { queries } from "../data/queries.ts";
import { Lines } from "../tasks/changed-files.tsx";
import { visible } from "../text/visible.ts";
import { Button } from "../ui/button.tsx";
import { Empty, Loaded } from "../ui/states.tsx";
import { Line } from "../ui/text.tsx";
import { tellPerson } from "../ui/toasts.tsx";
import { FilePatch } from "./file-patch.tsx";
import { ReviewBar } from "./review-bar.tsx";
import { saidIn, useReviewDraft } from "./review-draft.ts";

/** What the task changes, file by file. A file's lines are read when it is opened; each can have a comment. */
export function ChangesPart({ task }: { task: TaskView }) {
  const [sinceSeen, setSinceSeen] = useState(false);
  const diff = useQuery(queries.diff(task.id, sinceSeen));
  const draft = useReviewDraft(task.id);
  return (
    <div className="flex min-h-full flex-col">
      <div className="flex-1">
        <div className="flex flex-wrap items-center gap-3 px-4 pt-3">
          <label className="inline-flex items-center gap-2 pointer-coarse:min-h-11">
            <input type="checkbox" checked={sinceSeen} onChange={({ target }) => setSinceSeen(target.checked)} />
            Only since my last review
          </label>
          {diff.data !== undefined && diff.data.commit !== "" && <MarkReviewed task={task} commit={diff.data.commit} />}
        </div>
        <Loaded query={diff} what="the changes">
          {(view) => <Changes task={task.id} view={view} from={sinceSeen ? view.base : ""} />}
        </Loaded>
      </div>
      {(draft[0].comments.length > 0 || draft[0].remark !== "") && (
        <ReviewBar task={task} commit={diff.data?.commit ?? ""} draft={draft} />
      )}
    </div>
  );
}

/** Records the commit as seen: the next look can begin there. */
function MarkReviewed({ task, commit }: { task: TaskView; commit: string }) {
  const client = useQueryClient();
  const canAct = useCanAct();
  const mark = async () => {
    try {
      await call(routes.seeTask, { params: { task: task.id }, body: { commit } });
      tellPerson(`You have seen the work up to ${commit.slice(0, 10)}. Your next review can begin there.`);
    } catch (error) {
      tellPerson(problemsOf(error)[0]?.text ?? "", "", "bad");
    }
    await client.invalidateQueries({ queryKey: queries.diff(task.id, true).queryKey });
  };
  return (
    <Button look="quiet" disabled={!canAct} onClick={() => void mark()}>
      Mark as reviewed
    </Button>
  );
}

function Changes({ task, view, from }: { task: string; view: DiffView; from: string }) {
  const { committed, uncommitted, commit, base, target, protectedChanges } = view;
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
        {committed.files.length === 1 ? "1 file" : `${committed.files.length} files`}
        <At commit={commit} />, compared with {from === "" ? visible(target) : "the work"}
        <At commit={from === "" ? base : from} />.<span className="ml-2">Click a line's number to comment on it.</span>
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

interface Where {
  task: string;
  part: "committed" | "uncommitted";
  from: string;
  commit: string;
}

function Files({ list: { files, isCut }, ...where }: Where & { list: DiffPart }) {
  const { file: wanted } = useSearch({ from: "/tasks/$task" });
  const isThere = files.some(({ path }) => path === wanted);
  return (
    <>
      {files.map((file, i) => (
        <FileDiff
          key={`${file.path} ${where.from}`}
          file={file}
          isWanted={file.path === wanted}
          isOpenFirst={isThere ? file.path === wanted : i === 0 && where.part === "committed"}
          {...where}
        />
      ))}
      {isCut && (
        <p className="text-warn">There are more files than can be listed. See them with git, in the workspace.</p>
      )}
    </>
  );
}

function FileDiff({
  file: { path, from: before, added, deleted, binary },
  isWanted,
  isOpenFirst,
  ...where
}: Where & { file: DiffPart["files"][number]; isWanted: boolean; isOpenFirst: boolean }) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  const [draft] = useReviewDraft(where.task);
  const place = useRef<HTMLDetailsElement>(null);
  const count = saidIn(draft).filter((each) => each.path === path).length;
  useEffect(() => {
    if (!isWanted) return;
    setOpen(true);
    place.current?.scrollIntoView({ block: "start" });
  }, [isWanted]);
  return (
    <details
      ref={place}
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      className="rounded-md border border-line bg-panel"
    >
      <summary className="sticky top-0 z-[5] flex items-center gap-2 rounded-md bg-panel px-3 py-1.5 font-mono text-sm pointer-coarse:py-3">
        <span aria-hidden>{isOpen ? "▾" : "▸"}</span>
        <span className="min-w-0 flex-1 truncate">
          {before !== null && before !== path && (
            <>
              <Line text={before} className="text-muted" /> →{" "}
            </>
          )}
          <Line text={path} />
        </span>
        {count > 0 && (
          <span className="rounded-full bg-note-soft px-1.5 font-sans text-xs text-note">
            {count === 1 ? "1 comment" : `${count} comments`}
          </span>
        )}
        <Lines added={added} deleted={deleted} />
      </summary>
      {isOpen && (binary === true ? <Note>A binary file.</Note> : <FileBody path={path} {...where} />)}
    </details>
  );
}

function FileBody({ task, ...wanted }: Where & { path: string }) {
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
              <FilePatch
                task={task}
                path={wanted.path}
                // A line that is not committed belongs to no commit.
                commit={wanted.part === "committed" ? wanted.commit : ""}
                text={parts.map(({ text }) => text).join("")}
              />
              {hidden.map(({ line, bytes }) => (
                <Note key={line}>
                  Line {line + 1} of the patch is not shown: it has {Math.ceil(bytes / 1_024)} kB.
                </Note>
              ))}
              {patch.hasNextPage && (
                <Button className="m-2" disabled={patch.isFetchingNextPage} onClick={() => void patch.fetchNextPage()}>
                  {patch.isFetchingNextPage ? "Reading …" : "Show more lines"}
                </Button>
              )}
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

function At({ commit }: { commit: string }) {
  if (commit === "") return null;
  return (
    <>
      {" at "}
      <span className="font-mono">{commit.slice(0, 10)}</span>
    </>
  );
}

function Note({ children }: { children: ReactNode }) {
  return <p className="px-3 py-2 text-muted">{children}</p>;
}
