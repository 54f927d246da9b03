/** A time for people, to the second, in UTC as all that are told. */
export function shownTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
