import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { DiffView } from "../../api/work.ts";
import { Line } from "../ui/text.tsx";

const maxShown = 12;

/** The files that a task changes, each with a link to its difference. */
export function ChangedFiles({ task, changes }: { task: string; changes: Pick<UseQueryResult<DiffView>, "data"> }) {
  const files = changes.data?.committed.files ?? [];
  if (files.length === 0) return null;
  const sum = (part: "added" | "deleted") => files.reduce((total, file) => total + (file[part] ?? 0), 0);
  return (
    <section aria-label="What it changes" className="rounded-md border border-line bg-panel">
      <p className="flex gap-2 px-3 py-1.5 font-medium">
        {files.length === 1 ? "1 file" : `${files.length} files`}
        <Lines added={sum("added")} deleted={sum("deleted")} />
      </p>
      <ul className="border-t border-line py-1">
        {files.slice(0, maxShown).map(({ path, added, deleted }) => (
          <li key={path}>
            <Link
              to="/tasks/$task"
              params={{ task }}
              search={{ part: "changes", file: path }}
              className="flex gap-2 px-3 py-0.5 font-mono text-sm hover:bg-hover pointer-coarse:py-2"
            >
              <Line text={path} className="min-w-0 flex-1 truncate" />
              <Lines added={added} deleted={deleted} />
            </Link>
          </li>
        ))}
        {files.length > maxShown && (
          <li className="px-3 py-0.5">
            <Link to="/tasks/$task" params={{ task }} search={{ part: "changes" }} className="text-accent underline">
              {files.length - maxShown} more
            </Link>
          </li>
        )}
      </ul>
    </section>
  );
}

/** The lines that a change adds and removes; null for a binary file. */
export function Lines({ added, deleted }: { added: number | null; deleted: number | null }) {
  if (added === null || deleted === null) return <span className="text-sm font-normal text-muted">binary</span>;
  return (
    <span className="font-mono text-sm font-normal whitespace-nowrap tabular-nums">
      <span className="text-good">+{added}</span> <span className="text-bad">−{deleted}</span>
    </span>
  );
}
