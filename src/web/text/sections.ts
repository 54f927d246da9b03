/** A part of a task file under a heading of the second level; the one before all headings has none. */
export interface Section {
  readonly heading: string;
  readonly text: string;
}

/** The sections of a task file, without its frontmatter. Of several with one heading the last counts. */
export function sectionsOf(document: string): readonly Section[] {
  const body = document.replace(/^---\n[\s\S]*?\n---\n/, "");
  const sections = new Map<string, string[]>([["", []]]);
  let current = sections.get("") ?? [];
  let fence = "";
  for (const line of body.split("\n")) {
    const [, mark = ""] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (mark !== "" && (fence === "" || (mark.startsWith(fence) && line.trim() === mark)))
      fence = fence === "" ? mark : "";
    const [, heading] = fence === "" ? (/^## +(.*?) *#* *$/.exec(line) ?? []) : [];
    if (heading === undefined) current.push(line);
    else {
      current = [];
      sections.delete(heading);
      sections.set(heading, current);
    }
  }
  return [...sections].map(([heading, lines]) => ({ heading, text: lines.join("\n").trim() }));
}

/** By its section, what was handed in last: a section can be written several times. */
export function lastWritten<Artifact extends { readonly section: string; readonly at: string }>(
  artifacts: readonly Artifact[],
): ReadonlyMap<string, Artifact> {
  const oldestFirst = [...artifacts].sort((a, b) => a.at.localeCompare(b.at));
  return new Map(oldestFirst.map((artifact) => [artifact.section, artifact]));
}
