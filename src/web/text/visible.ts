import { replaceHidden } from "../../hidden-characters.ts";

/**
 * Foreign text with its hidden characters made visible: control characters as their pictures (␛), and what `replaceHidden`
 * finds as its numbers (‹U+202E›). Line breaks and tabs stay.
 */
export function visible(text: string): string {
  if (plain.test(text)) return text;
  const named = (character: string) => `‹${codeOf(character)}›`;
  const seen = text
    .toWellFormed()
    .replace(/\r\n/g, "\n")
    .replace(controls, (character) => String.fromCodePoint(0x2400 + (character.codePointAt(0) ?? 0)))
    .replace(otherControls, named);
  return replaceHidden(seen, named);
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
const otherControls = /[\u007f-\u009f\u2028\u2029]/g;
