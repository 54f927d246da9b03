/** One short line of a text that others wrote: without control characters, which terminals and programs obey. */
export function shownText(text: string, longest: number): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  // By code points: half a pair would not be valid text.
  const characters = [...line.slice(0, longest * 2 + 2)];
  return characters.length <= longest ? line : `${characters.slice(0, longest - 1).join("")}…`;
}
