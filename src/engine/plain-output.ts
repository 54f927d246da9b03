/** What a program printed, as a person would see it at the end: without colours, and without lines written over. */
export function plainOutput(output: string): string {
  const text = output.replace(escapes, "").toWellFormed();
  const lines = text.includes("\r") ? text.split("\n").map(lastWritten).join("\n") : text;
  return lines.replace(controls, "");
}

/** A line that tells how far something has come is written over and over; only the last of it stays. */
function lastWritten(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === "\r") end--;
  return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
}

// Texts for the terminal itself (titles, links), then colours and places, then what is shorter.
const escapes = new RegExp(
  [
    "(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u009c\\n]*(?:\\u0007|\\u001b\\\\|\\u009c)?",
    "(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?",
    "\\u001b[ -/]*[0-~]?",
  ].join("|"),
  "g",
);

// Also those that change the direction of writing: what they do is not to be seen.
const controls = /[^\P{Cc}\n\t]|[\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
