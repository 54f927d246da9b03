/**
 * Foreign text with its hidden characters made visible: control characters as their pictures (␛), and characters that are
 * invisible or change the direction of writing as their numbers (‹U+202E›). Line breaks and tabs stay.
 */
export function visible(text: string): string {
  if (plain.test(text)) return text;
  return text
    .toWellFormed()
    .replace(/\r\n/g, "\n")
    .replace(controls, (character) => String.fromCodePoint(0x2400 + (character.codePointAt(0) ?? 0)))
    .replace(hidden, (character) => `‹${codeOf(character)}›`);
}

/** The same on one line. */
export function visibleLine(text: string): string {
  return visible(text).replace(/\s+/g, " ").trim();
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

const plain = /^[\n\t\x20-\x7e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are replaced.
const controls = /[\u0000-\u0008\u000b-\u001f]/g;
/** C1 controls, bidirectional marks, zero-width characters, fillers and tags. Joiners stay: emoji and scripts need them. */
const hidden =
  /[\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e007f}]/gu;
