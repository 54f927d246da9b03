/** The line of a task's `protectedChanges` about commits that another open task has too. */
export function foreignLine(name: string, commits: readonly string[]): string {
  const shown = commits.slice(0, maxShown).map((commit) => commit.slice(0, 10));
  const more = commits.length > maxShown ? `, and ${commits.length - maxShown} more` : "";
  return `${foreign}the open task ${name} (${shown.join(", ")}${more})`;
}

/** The line about commits that a branch has, and whose changes the work has dropped. */
export function droppedLine(branch: string, files: string): string {
  return `${foreign}"${branch}" without their changes (${files})`;
}

const foreign = "commits of ";
const maxShown = 5;

/** What a person must see before such work is merged, in sentences. */
export function describeProtected(lines: readonly string[]): string {
  const commits = lines.filter((line) => line.startsWith(foreign));
  const files = lines.filter((line) => !line.startsWith(foreign));
  return [
    ...(files.length === 0
      ? []
      : [`The work changes protected files, which decide how work is tested and merged: ${files.join("; ")}.`]),
    ...(commits.length === 0
      ? []
      : [
          `The work contains ${commits.join("; ")}. If it has dropped their changes, merging it drops them in the branch too.`,
        ]),
  ].join(" ");
}
