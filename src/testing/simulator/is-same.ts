/** Whether two values are the same as JSON, also in the order of their keys, without writing either of them. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [ours, theirs] = [keysOf(one), keysOf(other)];
  return (
    ours.length === theirs.length &&
    ours.every((key, index) => key === theirs[index] && isSame(Reflect.get(one, key), Reflect.get(other, key)))
  );
}

/** What is undefined is not written. */
function keysOf(value: object): readonly string[] {
  return Object.keys(value).filter((key) => Array.isArray(value) || Reflect.get(value, key) !== undefined);
}
