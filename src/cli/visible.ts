/**
 * Text without what a terminal would obey, and without what turns the reading order round: of all control characters only
 * line ends, tabs and the styles that we use ourselves stay. A style that is left open ends with the text.
 */
export function visible(text: string): string {
  const shown = text.replace(commands, "");
  return shown.includes("\u001b") ? shown + openStyles(shown) : shown;
}

// Bold, dim, plain colours and their ends: nothing that hides text, blinks or paints the background.
const commands =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to be taken out.
  /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\u001b(?!\[(?:[12]|22|3[1-6]|39)m)/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is how styles begin.
const styles = /\u001b\[(\d+)m/g;

function openStyles(text: string): string {
  let weight = false;
  let colour = false;
  for (const [, code] of text.matchAll(styles)) {
    if (code === "1" || code === "2" || code === "22") weight = code !== "22";
    else colour = code !== "39";
  }
  return `${weight ? "\u001b[22m" : ""}${colour ? "\u001b[39m" : ""}`;
}
