/**
 * Finds where sections begin: the lines that start with `## ` and do not stand in a code fence. `from` must be the start
 * of a line.
 *
 * A fence that is opened and never closed would, by the rules of Markdown, swallow the rest of the document, and where
 * later sections have fences of their own it shifts all their pairs. Agents do forget fences, and a gate that cannot see
 * the section right below is a riddle for them. So a fence ends with its section when it was forgotten, which is certain
 * when nothing closes it, or when behind a heading the next one opens before it is closed. Where more than one reading
 * is left, we assume as few forgotten fences as possible, and then hide as few headings as possible. A heading in a
 * fence that is properly closed stays hidden, as in Markdown.
 */
export function sectionStarts(text: string, from = 0): SectionStarts {
  const headings = headingLines(text, from);
  const fences = fenceLines(text, from);
  if (fences.length === 0 || staysInSections(fences, headings)) return { starts: headings, fencesClosed: true };
  return { starts: visibleHeadings(fences, headings), fencesClosed: false };
}

export interface SectionStarts {
  /** Offsets of the lines. */
  readonly starts: readonly number[];
  /** Certain that no section leaves a fence open. */
  readonly fencesClosed: boolean;
}

/** The fence that is still open at the end of the text, as its closing line must be; undefined where none is. */
export function openFence(text: string): string | undefined {
  let open: Fence | undefined;
  for (const fence of fenceLines(text, 0)) {
    if (open === undefined) open = fence;
    else if (closes(fence, open)) open = undefined;
  }
  return open && (open.tilde ? "~" : "`").repeat(open.length);
}

interface Fence {
  readonly start: number;
  readonly tilde: boolean;
  readonly length: number;
  /** Nothing but blanks follows. A fence with a language behind it can only open. */
  readonly bare: boolean;
}

function closes(fence: Fence, open: Fence): boolean {
  return fence.bare && fence.tilde === open.tilde && fence.length >= open.length;
}

function headingLines(text: string, from: number): number[] {
  const headings: number[] = [];
  // Looking for the mark and then for the line break before it is four times as fast as looking for both at once,
  // because line breaks are frequent and marks are not.
  for (let at = text.indexOf("## ", from); at !== -1; at = text.indexOf("## ", at + 3)) {
    if (at === from || text.charCodeAt(at - 1) === LINE_FEED) headings.push(at);
  }
  return headings;
}

/** Every line that can open or close a fence, in order. */
function fenceLines(text: string, from: number): readonly Fence[] {
  const fences: Fence[] = [];
  let tick = indexOrEnd(text, "```", from);
  let tilde = indexOrEnd(text, "~~~", from);
  while (tick !== tilde) {
    const start = Math.min(tick, tilde);
    const fence = fenceAt(text, start, from, tilde < tick);
    if (fence !== undefined) fences.push(fence);
    // Whatever else the line holds cannot start it.
    const next = indexOrEnd(text, "\n", start);
    if (tick < next) tick = indexOrEnd(text, "```", next);
    if (tilde < next) tilde = indexOrEnd(text, "~~~", next);
  }
  return fences;
}

function fenceAt(text: string, start: number, from: number, tilde: boolean): Fence | undefined {
  let line = start;
  while (line > from && start - line < 3 && text.charCodeAt(line - 1) === SPACE) line--;
  if (line > from && text.charCodeAt(line - 1) !== LINE_FEED) return undefined;
  const mark = tilde ? TILDE : BACKTICK;
  let end = start + 3;
  while (text.charCodeAt(end) === mark) end++;
  const length = end - start;
  let bare = true;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === LINE_FEED) break;
    if (code > SPACE) bare = false;
    // A line like ```this``` is inline code.
    if (code === BACKTICK && !tilde) return undefined;
  }
  return { start, tilde, length, bare };
}

/** The ordinary case: every fence is closed in the section that opens it. */
function staysInSections(fences: readonly Fence[], headings: readonly number[]): boolean {
  let open: Fence | undefined;
  let heading = 0;
  for (const fence of fences) {
    if (open === undefined) {
      open = fence;
      while (atOrEnd(headings, heading) < fence.start) heading++;
    } else if (closes(fence, open)) {
      if (atOrEnd(headings, heading) < fence.start) return false;
      open = undefined;
    }
  }
  return open === undefined;
}

/** A fence line together with the best way to read everything from there to the end. */
interface Reading {
  readonly fence: Fence;
  /** How many headings stand above it. */
  readonly above: number;
  /** The next fence line, and the first one behind the next heading. */
  readonly next: Reading | undefined;
  readonly behind: Reading | undefined;
  /** Of each kind the nearest fence line from here on. */
  readonly nearest: Readonly<Record<Kind, Reading | undefined>>;
  /** The next one of its kind that is longer. Following these takes few steps: lengths add up to the text's. */
  readonly longer: Reading | undefined;
  /** The fence that closes it; undefined where it is taken for a forgotten one. */
  readonly closer: Reading | undefined;
  readonly cost: number;
}

type Kind = "tick" | "bareTick" | "tilde" | "bareTilde";

function visibleHeadings(fences: readonly Fence[], headings: readonly number[]): readonly number[] {
  const visible: number[] = [];
  let heading = 0;
  let reading = bestReading(fences, headings);
  while (reading !== undefined) {
    for (; heading < reading.above; heading++) visible.push(atOrEnd(headings, heading));
    if (reading.closer !== undefined) heading = reading.closer.above;
    reading = reading.closer === undefined ? reading.behind : reading.closer.next;
  }
  for (; heading < headings.length; heading++) visible.push(atOrEnd(headings, heading));
  return visible;
}

function bestReading(fences: readonly Fence[], headings: readonly number[]): Reading | undefined {
  /** One forgotten fence weighs more than all headings together. */
  const forgotten = headings.length + 1;
  const none = { tick: undefined, bareTick: undefined, tilde: undefined, bareTilde: undefined };
  let above = headings.length;
  let next: Reading | undefined;
  for (const fence of fences.toReversed()) {
    while (above > 0 && atOrEnd(headings, above - 1) > fence.start) above--;
    const behind: Reading | undefined = next === undefined || next.above > above ? next : next.behind;
    const nearest: Reading["nearest"] = next?.nearest ?? none;
    let closer = asLong(nearest[fence.tilde ? "bareTilde" : "bareTick"], fence.length);
    const opener = asLong(behind?.nearest[fence.tilde ? "tilde" : "tick"], fence.length);
    if (closer && opener && opener.fence.start < closer.fence.start) closer = undefined;
    let cost = forgotten + (behind?.cost ?? 0);
    if (closer !== undefined) {
      const paired = closer.above - above + (closer.next?.cost ?? 0);
      if (paired <= cost) cost = paired;
      else closer = undefined;
    }
    const kind: Kind = fence.tilde ? (fence.bare ? "bareTilde" : "tilde") : fence.bare ? "bareTick" : "tick";
    const longer = asLong(nearest[kind], fence.length + 1);
    const reading: Reading = { fence, above, next, behind, nearest: { ...nearest }, longer, closer, cost };
    (reading.nearest as Record<Kind, Reading>)[kind] = reading;
    next = reading;
  }
  return next;
}

function asLong(from: Reading | undefined, length: number): Reading | undefined {
  let found = from;
  while (found !== undefined && found.fence.length < length) found = found.longer;
  return found;
}

const LINE_FEED = 10;
const SPACE = 32;
const BACKTICK = 96;
const TILDE = 126;

function indexOrEnd(text: string, part: string, from: number): number {
  const index = text.indexOf(part, from);
  return index === -1 ? text.length : index;
}

function atOrEnd(offsets: readonly number[], index: number): number {
  return offsets[index] ?? Number.POSITIVE_INFINITY;
}
