/** How many columns of a terminal a text takes: of some scripts and of pictures each character takes two. */
export function displayWidth(text: string): number {
  // Most texts are plain, and screens are drawn often.
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** A text that takes exactly so many columns: cut with … where it is too long, filled with blanks where it is too short. */
export function fill(text: string, width: number): string {
  return padded(clip(text, width), width);
}

/** The beginning of a text that takes too many columns, with … in place of the rest. */
export function clip(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width <= 0) return "";
  let kept = "";
  let taken = 0;
  for (const character of text) {
    taken += widthOf(character);
    if (taken > width - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

function widthOf(character: string): number {
  if (none.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

const plain = /^[\u0020-\u007e]*$/;
const none = /^[\p{M}\p{Cf}\p{Cc}]$/u;
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1faff}\u{20000}-\u{3fffd}]$/u;
