/** What a program says, so that another sentence can follow it. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  return trimmed === "" || /[.!?…:]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/** A time for people, to the second, in UTC as all that are told. */
export function shownTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
