/** More than are asked for again while they matter. */
const most = 10_000;

/**
 * Remembers answers about commits. A commit never changes, so what is once known of some stays true; what failed is asked
 * again. Who asks while another one does gets the same answer.
 */
export function remembering<Answer>(): (key: string, ask: () => Promise<Answer>) => Promise<Answer> {
  const known = new Map<string, Promise<Answer>>();
  return (key, ask) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const answer = ask();
    if (known.size >= most) known.clear();
    known.set(key, answer);
    answer.catch(() => known.delete(key));
    return answer;
  };
}
