export interface Interval {
  readonly from: number;
  readonly until: number;
}

/** A part of the time, and where it is drawn: `at` and `width` are parts of the whole width. */
export interface Piece extends Interval {
  readonly at: number;
  readonly width: number;
  readonly isFolded: boolean;
}

/** A folded stretch takes this part of the width, however long it is; all of them together at most the second part. */
const foldedWidth = 0.03;
const maxFolded = 0.35;
/** A stretch is folded if it is longer than this part of the window. */
const minIdle = 0.06;

/** Places the window. Stretches in which nothing is `busy` are folded, so that a night does not squash the day. */
export function foldTime(window: Interval, busy: readonly Interval[], isOn = true): readonly Piece[] {
  const total = window.until - window.from;
  if (total <= 0) return [];
  const idle = isOn ? gapsIn(window, busy).filter(({ from, until }) => until - from > total * minIdle) : [];
  const isAllIdle = idle.length === 1 && idle[0]?.from === window.from && idle[0].until === window.until;
  const folded = isAllIdle ? [] : idle;
  const parts: (Interval & { readonly isFolded: boolean })[] = [];
  let from = window.from;
  for (const gap of folded) {
    if (gap.from > from) parts.push({ from, until: gap.from, isFolded: false });
    parts.push({ ...gap, isFolded: true });
    from = gap.until;
  }
  if (from < window.until) parts.push({ from, until: window.until, isFolded: false });
  const forFolded = Math.min(foldedWidth, folded.length === 0 ? 0 : maxFolded / folded.length);
  const open = parts.reduce((sum, each) => sum + (each.isFolded ? 0 : each.until - each.from), 0);
  const left = 1 - forFolded * folded.length;
  let at = 0;
  return parts.map((part) => {
    const width = part.isFolded ? forFolded : (left * (part.until - part.from)) / open;
    at += width;
    return { ...part, at: at - width, width };
  });
}

/** Where a time is drawn, as a part of the whole width. */
export function placeOf(pieces: readonly Piece[], time: number): number {
  const piece = pieces.find(({ until }) => time <= until) ?? pieces.at(-1);
  if (piece === undefined) return 0;
  const part = (Math.max(piece.from, Math.min(piece.until, time)) - piece.from) / (piece.until - piece.from);
  return piece.at + part * piece.width;
}

/** `isFine`: the times differ in seconds. */
export interface Tick {
  readonly time: number;
  readonly at: number;
  readonly isFine: boolean;
}

/**
 * Times to write at the axis: whole steps of about an eighth of what is not folded, and fewer if they would be nearer to each
 * other than `minGap`, a part of the whole width.
 */
export function ticksOf(pieces: readonly Piece[], minGap = 0.07): readonly Tick[] {
  const open = pieces.filter(({ isFolded }) => !isFolded);
  const total = open.reduce((sum, { from, until }) => sum + until - from, 0);
  const step = steps.find((each) => total / each <= Math.max(1, Math.min(8, 1 / minGap))) ?? steps.at(-1) ?? 1;
  const found: Tick[] = [];
  for (const { from, until } of open) {
    // Whole hours of the person's own clock.
    const offset = new Date(from).getTimezoneOffset() * minute;
    for (let time = Math.ceil((from - offset) / step) * step + offset; time <= until; time += step) {
      const at = placeOf(pieces, time);
      if (at - (found.at(-1)?.at ?? -1) > minGap) found.push({ time, at, isFine: step < minute });
    }
  }
  return found;
}

const minute = 60_000;
const hour = 60 * minute;
const steps = [
  ...[minute / 6, minute / 2, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute],
  ...[hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, 24 * hour, 48 * hour, 168 * hour],
];

/** What of the window no interval covers. */
function gapsIn(window: Interval, busy: readonly Interval[]): readonly Interval[] {
  const gaps: Interval[] = [];
  let from = window.from;
  // A moment has no width: two stretches that touch in it are one.
  const long = busy.filter(({ from: begin, until }) => until > begin);
  for (const each of long.sort((a, b) => a.from - b.from)) {
    if (each.from > from) gaps.push({ from, until: Math.min(each.from, window.until) });
    from = Math.max(from, each.until);
    if (from >= window.until) break;
  }
  if (from < window.until) gaps.push({ from, until: window.until });
  return gaps.filter((gap) => gap.until > gap.from);
}
