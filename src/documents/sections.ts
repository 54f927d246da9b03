/**
 * Finds where sections begin: the lines that start with `## ` outside code fences. `from` must be the start of a line.
 *
 * By the rules of Markdown, a fence that is never closed hides the rest of the document, and shifts the pairs of all
 * later fences. Agents do forget to close fences, and a gate that then misses the section right below confuses them. So
 * an unclosed fence ends with its section. A fence counts as unclosed if nothing closes it, or if after a heading
 * another fence opens before it is closed. If several readings are possible, this takes the one with the fewest
 * unclosed fences, then the one that hides the fewest headings. A heading in a properly closed fence stays hidden, as
 * in Markdown.
 */
export function sectionStarts(text: string, from = 0): SectionStarts {
  const headings = headingLines(text, from);
  const fences = fenceLines(text, from);
  if (fences.length === 0 || staysInSections(fences, headings)) return { starts: headings, fencesClosed: true };
  return { starts: visibleHeadings(fences, headings), fencesClosed: false };
}

interface SectionStarts {
  /** The offsets of the heading lines. */
  readonly starts: readonly number[];
  /** True if certainly no section leaves a fence open. */
  readonly fencesClosed: boolean;
}

/** The closing line for the fence that is still open at the end of the text; undefined if none is. */
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
  /** Only blanks follow. A fence followed by a language can only open. */
  readonly bare: boolean;
}

function closes(fence: Fence, open: Fence): boolean {
  return fence.bare && fence.tilde === open.tilde && fence.length >= open.length;
}

function headingLines(text: string, from: number): number[] {
  const headings: number[] = [];
  // Searching for the mark and then checking for the line break before it is four times as fast as searching for both
  // together, because line breaks are frequent and marks are not.
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
    // The rest of this line cannot start a fence.
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

/** A fence line with the best reading of the text from there to the end. */
interface Reading {
  readonly fence: Fence;
  /** How many headings are above it. */
  readonly above: number;
  /** The next fence line, and the first one after the next heading. */
  readonly next: Reading | undefined;
  readonly behind: Reading | undefined;
  /** The nearest fence line of each kind from here on. */
  readonly nearest: Readonly<Record<Kind, Reading | undefined>>;
  /** The next longer one of its kind. These chains are short, because the lengths add up to at most the text's. */
  readonly longer: Reading | undefined;
  /** The fence that closes it; undefined if it counts as unclosed. */
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
  /** One unclosed fence costs more than all headings together. */
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
