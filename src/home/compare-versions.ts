/** Whether one version comes after another: `0.10.0` after `0.9.1`, and a release after its candidates. */
export function isNewer(version: string, than: string): boolean {
  const [a, b] = [version, than].map((each) => each.split("-"));
  const [numbers, others] = [a, b].map((each) => (each?.[0] ?? "").split(".").map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (numbers?.[i] ?? 0) - (others?.[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return a?.[1] === undefined && b?.[1] !== undefined;
}
