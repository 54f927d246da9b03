import { Fault } from "../../../fault.ts";
import type { FileName } from "../../../ports/git.ts";
import type { PatchOrder, PatchPage, PatchPart } from "../../../ports/patch.ts";
import type { RunOptions } from "../runner.ts";

/** The pathspecs of a file and of its earlier name. Git needs both to see that it was renamed. */
export function pathspecsOf({ path, from }: Pick<PatchOrder, "path" | "from">): readonly string[] {
  return [path, ...(from === undefined ? [] : [from])].map((name) => `:(literal)${asArgument(name)}`);
}

/** Programs get their arguments as UTF-8. */
function asArgument({ bytes, text }: FileName): string {
  const name = Buffer.from(bytes).toString("utf8");
  if (Buffer.from(name).equals(bytes)) return name;
  throw new Fault("git.unreadable-name", `The name ${text} is not UTF-8, so its patch cannot be shown by itself.`, {
    hint: "See the whole diff: signalbox task diff TASK",
  });
}

/** Reads a page of what git prints. Git is stopped as soon as the page is complete. */
export async function readPatchPage(
  page: PatchPage,
  git: (options: Pick<RunOptions, "onOutput" | "signal" | "isLong">) => Promise<unknown>,
): Promise<PatchPart> {
  const stopping = new AbortController();
  const reader = createPageReader(page);
  const onOutput = (chunk: Buffer) => {
    reader.push(chunk);
    if (reader.isFull()) stopping.abort();
  };
  await git({ onOutput, signal: stopping.signal, isLong: true }).catch((error) => {
    if (!reader.isFull()) throw error;
  });
  return reader.end();
}

const newline = 10;

/** Keeps the lines of one page. It only measures lines of other pages, and lines that are too long. */
export function createPageReader({ after, lines, bytes, longestLine }: PatchPage) {
  const kept: Buffer[] = [];
  const hidden: { line: number; bytes: number }[] = [];
  let size = 0;
  let line = 0;
  /** The beginning of the current line, and its size so far. */
  let begun: Buffer[] = [];
  let length = 0;
  let hasMore = false;

  const add = (part: Buffer) => {
    const isOnPage = line >= after;
    if (isOnPage && length <= longestLine) begun.push(part);
    length += part.length;
  };
  const endLine = () => {
    if (line >= after) {
      const isHidden = length > longestLine;
      const text = isHidden ? (begun[0] ?? Buffer.alloc(0)).subarray(0, 1) : Buffer.concat(begun);
      const isFull = kept.length === lines || (kept.length > 0 && size + text.length > bytes);
      if (isFull) hasMore = true;
      else {
        if (isHidden) hidden.push({ line, bytes: length });
        kept.push(text);
        size += text.length + 1;
      }
    }
    line++;
    begun = [];
    length = 0;
  };

  return {
    push(chunk: Buffer) {
      for (let at = 0; at < chunk.length && !hasMore; ) {
        const end = chunk.indexOf(newline, at);
        add(chunk.subarray(at, end === -1 ? chunk.length : end));
        if (end === -1) return;
        endLine();
        at = end + 1;
      }
    },
    isFull: () => hasMore,
    end(): PatchPart {
      if (length > 0 && !hasMore) endLine();
      const whole = kept.map((each) => Buffer.concat([each, Buffer.of(newline)]));
      return { bytes: Buffer.concat(whole), lines: kept.length, hasMore, hidden };
    },
  };
}
