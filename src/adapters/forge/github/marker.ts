/** A line that people do not see and by which we find again what we have written. */
export function markerOf(key: string): string {
  // Nothing in a key may end the marker.
  const safe = key.replace(/[^\w.:#/@-]/gu, (character) => encodeURIComponent(character)).replaceAll("--", "-%2D");
  return `<!-- signalbox:${safe} -->`;
}

/** Whether a text ends with this marker. One that stands elsewhere was written by somebody else. */
export function hasMarker(text: string, marker: string): boolean {
  return text.trimEnd().endsWith(`\n${marker}`);
}

/** Whether a text ends with any marker. */
export function isMarked(text: string): boolean {
  return /\n<!-- signalbox:\S+ -->\s*$/.test(text);
}
