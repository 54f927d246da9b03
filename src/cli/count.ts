/** `no errors`, `1 error`, `2 errors`. */
export function count(number: number, one: string): string {
  return `${number === 0 ? "no" : number} ${number === 1 ? one : `${one}s`}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[], last = "and"): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

/** `the repository a`, `the repositories a and b`; of many only how many there are. */
export function repositories(names: readonly string[]): string {
  if (names.length > 5) return `${names.length} repositories`;
  return `the ${names.length === 1 ? "repository" : "repositories"} ${listed(names)}`;
}
