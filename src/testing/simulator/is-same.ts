/** Whether two values are the same as JSON, also in the order of their keys, without writing either of them. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [ours, theirs] = [Object.entries(one), Object.entries(other)];
  let at = 0;
  for (const [key, value] of ours) {
    // What is undefined is not written.
    if (value === undefined) continue;
    while (at < theirs.length && theirs[at]?.[1] === undefined) at++;
    const [name, present] = theirs[at++] ?? [];
    if (name !== key || !isSame(value, present)) return false;
  }
  return theirs.slice(at).every(([, value]) => value === undefined);
}
