/** Text without what a terminal would obey: of all control characters only line ends, tabs and plain colours stay. */
export function visible(text: string): string {
  return text.replace(commands, "");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to be taken out.
const commands = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]|\u001b(?!\[\d{1,2}m)/g;
