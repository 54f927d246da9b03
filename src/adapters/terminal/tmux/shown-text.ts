const mostShown = 80;

/**
 * A text from outside as it may stand in a status line: one line, without anything that moves the cursor, and with every
 * "#" doubled, for tmux would take "#[" for a style. Tmux never runs what it finds in the value of an option.
 */
export function shownText(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  const points = [...line];
  const cut = points.length > mostShown ? `${points.slice(0, mostShown - 1).join("")}…` : line;
  return cut.replaceAll("#", "##");
}
