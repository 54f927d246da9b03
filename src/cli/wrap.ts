/**
 * Breaks a text between words into lines of at most `width`; every line but the first gets `indent` in front of it. Where
 * the text itself begins a new line, so does what is made of it.
 */
export function wrap(text: string, width: number, indent = ""): string {
  const lines = text.split("\n").flatMap((paragraph) => linesOf(paragraph, width));
  return lines.map((each, i) => (i === 0 || each === "" ? each : indent + each)).join("\n");
}

function linesOf(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** The beginning of a text that is too long, with … in place of the rest. */
export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(1, width - 1)).trimEnd()}…`;
}
