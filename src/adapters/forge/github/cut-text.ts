/** A text that is no longer than this, cut between whole characters. */
export function cutText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const end = /[\uD800-\uDBFF]$/.test(text.slice(0, longest - 1)) ? longest - 2 : longest - 1;
  return `${text.slice(0, end)}…`;
}

/** GitHub takes 65,536 characters; the rest is for the marker. */
export const mostText = 65_000;
