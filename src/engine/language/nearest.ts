/** A sentence that offers the closest known name, or lists what there is. */
export function didYouMean(name: string, names: readonly string[]): string {
  const close = nearest(name, names);
  return close === undefined ? known(names) : `Did you mean "${close}"?`;
}

/** A sentence that lists what there is. */
export function known(names: readonly string[]): string {
  if (names.length === 0) return "There are none.";
  const shown = names.slice(0, 12).join(", ");
  return `Known: ${shown}${names.length > 12 ? ", …" : ""}.`;
}

/** The known name that is one slip of the fingers away, or some in a long one. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      // Two neighbours in the wrong order are the slip most often made.
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(substitute, swap, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
