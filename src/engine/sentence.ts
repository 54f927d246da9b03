/** What a program says, so that another sentence can follow it. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  return trimmed === "" || /[.!?…:]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/** Sentences one after the other on one line: each has its end, also one that ends with a command. Empty ones are left out. */
export function sentences(parts: readonly string[]): string {
  const said = parts.map((part) => part.trim()).filter((part) => part !== "");
  return said.map((part, i) => (i < said.length - 1 ? sentence(part) : part)).join(" ");
}
