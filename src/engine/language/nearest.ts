/** A fix that offers the closest known name. It is looked for only once somebody reads it. */
export function suggest(name: string, names: readonly string[]): () => string {
  return () => didYouMean(name, names);
}

/** A sentence that offers the closest known name, or lists what there is. */
export function didYouMean(name: string, names: readonly string[]): string {
  const words = name.split(/\s+/);
  if (words.length > 1 && words.every((word) => names.includes(word)))
    return `Put commas between them: ${words.join(", ")}.`;
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
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let least = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    // The distance is at least the difference in length.
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const distance = editDistance(wanted, candidate.toLowerCase(), least);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/** How many slips lie between two texts; `limit` where there are at least that many. */
function editDistance(a: string, b: string, limit: number): number {
  let before: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let smallest = i;
    for (let j = 1; j <= b.length; j++) {
      const substitute = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      // Two neighbours in the wrong order are the slip most often made.
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      const distance = Math.min(substitute, swap, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      row.push(distance);
      smallest = Math.min(smallest, distance);
    }
    // A swap reaches back two rows, so two rows in a row must be past the limit.
    if (smallest >= limit && Math.min(...previous) >= limit) return limit;
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
