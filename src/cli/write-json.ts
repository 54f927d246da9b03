/** One document for programs. What has no value is null, so that every key is always there. Without indent it is one line. */
export function writeJson(value: unknown, indent = 2): string {
  const text = JSON.stringify(value, (_key, each) => (each === undefined ? null : each), indent);
  // JSON itself lets these through, and a terminal would obey them.
  return text.replace(/[\u007f-\u009f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
