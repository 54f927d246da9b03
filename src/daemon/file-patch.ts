import type { FilePatch } from "../api/work.ts";
import { Fault } from "../fault.ts";
import type { ChangedLines } from "../ports/control-repository.ts";
import type { PatchPage, PatchPart } from "../ports/patch.ts";
import type { ProjectWorkspaces } from "./workspaces/project-workspaces.ts";

/** Which page of which file's patch is wanted. */
export interface FileOrder {
  /** The workspace with uncommitted changes; empty if there are none. */
  readonly folder: string;
  readonly base: string;
  readonly commit: string;
  /** As in the list of files. */
  readonly path: string;
  readonly part: "committed" | "uncommitted";
  /** The cursor of the page before; missing for the first page. */
  readonly next?: string;
}

const pageSize = { lines: 2_000, bytes: 1024 * 1024, longestLine: 10_000 } as const;
const blank: PatchPart = { bytes: new Uint8Array(), lines: 0, hasMore: false, hidden: [] };

/** Reads a page of one file's patch. A binary file has no text. */
export async function readFilePatch(own: ProjectWorkspaces, order: FileOrder): Promise<FilePatch> {
  const after = lineOf(order.next);
  const page: PatchPage = { after, ...pageSize };
  const { file, patch } =
    order.part === "committed" ? await committedPatch(own, order, page) : await uncommittedPatch(own, order, page);
  if (file === undefined)
    throw new Fault("diff.missing", `"${order.path}" is not among the ${order.part} changes.`, {
      hint: "List the files that have changed: signalbox task diff TASK --name-only",
    });
  const stamp = stampOf(order, file);
  if (order.next !== undefined && !order.next.startsWith(`${stamp}.`))
    throw new Fault(
      "diff.changed",
      `${order.path} has changed since the page before, so the next one does not follow it.`,
      {
        hint: "Read it from its beginning.",
      },
    );
  const isBinary = file.added === undefined;
  return {
    path: file.path.text,
    part: order.part,
    binary: isBinary,
    text: isBinary ? "" : Buffer.from(patch.bytes).toString("utf8"),
    first: after,
    next: patch.hasMore && !isBinary ? `${stamp}.${after + patch.lines}` : null,
    hidden: isBinary ? [] : [...patch.hidden],
  };
}

interface Found {
  readonly file: ChangedLines | undefined;
  readonly patch: PatchPart;
}

async function committedPatch(
  { control }: ProjectWorkspaces,
  { base, commit, path }: FileOrder,
  page: PatchPage,
): Promise<Found> {
  const all = base === "" ? [] : await control.changedLines(base, commit);
  const file = all.find((each) => each.path.text === path);
  if (file === undefined || file.added === undefined) return { file, patch: blank };
  return { file, patch: await control.diffFile(base, commit, { path: file.path, from: file.from, page }) };
}

async function uncommittedPatch(
  { kind }: ProjectWorkspaces,
  { folder, path }: FileOrder,
  page: PatchPage,
): Promise<Found> {
  if (folder === "") return { file: undefined, patch: blank };
  const { lines, page: patch = blank } = await kind.diffUncommitted(folder, 1, { path, page });
  return { file: lines.find((each) => each.path.text === path), patch };
}

/** Tells one version of a file's patch from another, so that pages of two are not put together. */
function stampOf({ part, base, commit }: FileOrder, { added = 0, deleted = 0 }: ChangedLines): string {
  return [part, base.slice(0, 12), commit.slice(0, 12), added, deleted].join("-");
}

function lineOf(next: string | undefined): number {
  if (next === undefined) return 0;
  const [, line] = /\.(\d{1,9})$/.exec(next) ?? [];
  if (line !== undefined) return Number(line);
  throw new Fault("diff.invalid", "`next` is not what the page before has given.", { hint: "Leave it out." });
}
