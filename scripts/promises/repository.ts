import { type Evidence, type Git, gitIn, type History, linesOf } from "./evidence.ts";
import { about } from "./history.ts";

export interface Landing {
  readonly position: number;
  readonly commit: string;
  readonly before: string;
  readonly after: string;
}

/** How the task's work was merged into the branch; undefined if it was not. */
export function landedOf({ events }: History): Landing | undefined {
  const landed = events.find(({ type }) => type === "merge.landed");
  return landed === undefined ? undefined : { ...(landed.data as unknown as Landing), position: landed.position };
}

export function contains(git: Git, commit: string): boolean {
  return git.try("merge-base", "--is-ancestor", commit, "HEAD").ok;
}

/** The branch contains exactly the merges of the histories, each once. */
export function mergeProblems({ repository, histories }: Evidence): readonly string[] {
  const git = gitIn(repository);
  const merges = new Map(
    linesOf(git("log", "--first-parent", "--merges", "--format=%H %P", "HEAD")).map((line) => {
      const [commit = "", ...parents] = line.split(" ");
      return [commit, parents.join(" ")];
    }),
  );
  const told = new Map<string, string>();
  const seconds = [...merges.values()].map((parents) => parents.split(" ")[1] ?? "");
  const problems = histories.flatMap((history) => {
    const landed = history.events.filter(({ type }) => type === "merge.landed");
    const own = landed.flatMap(({ data }) => {
      const { after, before, commit } = data as unknown as Landing;
      const other = told.get(after);
      told.set(after, history.task.id);
      return [
        ...(merges.get(after) === `${before} ${commit}` ? [] : [`the branch does not have its merge ${after}`]),
        ...(other === undefined ? [] : [`its merge ${after} is also that of ${other}`]),
      ];
    });
    return about(history, [...own, ...(landed.length > 1 ? [`it was merged ${landed.length} times`] : [])]);
  });
  return [
    ...problems,
    ...[...merges.keys()].filter((commit) => !told.has(commit)).map((commit) => `nobody tells of the merge ${commit}`),
    ...seconds.filter((commit, index) => seconds.indexOf(commit) < index).map((commit) => `${commit} was merged twice`),
  ];
}

/** Both repositories are intact, the branch has only moved forward, and the checkout has no other files. */
export function repositoryProblems({ repository, control }: Evidence): readonly string[] {
  const git = gitIn(repository);
  const broken = [repository, control].flatMap((folder) => {
    const { ok, said } = gitIn(folder).try("fsck", "--strict", "--no-dangling", "--no-progress");
    // A bare repository need not have the branch that its HEAD names.
    return ok && linesOf(said).every((line) => line.startsWith("notice: HEAD points to an unborn branch"))
      ? []
      : [`git fsck in ${folder}: ${said}`];
  });
  const places = linesOf(git("log", "--walk-reflogs", "--format=%H", git("symbolic-ref", "--short", "HEAD")));
  const back = places
    .slice(1)
    .filter((before, index) => !git.try("merge-base", "--is-ancestor", before, places[index] ?? "").ok);
  const changes = linesOf(git("status", "--porcelain", "--untracked-files=all")).filter(
    (line) => !line.slice(3).startsWith(".tickets/"),
  );
  const drafts = linesOf(git("ls-tree", "-r", "--name-only", "HEAD")).filter((name) =>
    /\.md\.\d+-[^/]*draft/.test(name),
  );
  return [
    ...broken,
    ...drafts.map((name) => `the branch has a draft of a task file: ${name}`),
    ...back.map((commit) => `the branch was moved away from ${commit}`),
    ...changes.map((line) => `the checkout is changed: ${line}`),
  ];
}

/** The work of every agent is in a ref of one of the repositories, and in the branch if its task is done. */
export function workProblems({ repository, control, histories, notes }: Evidence): readonly string[] {
  const kept = new Set([repository, control].flatMap((folder) => objectsOf(gitIn(folder), "--all")));
  const merged = new Set(objectsOf(gitIn(repository), "HEAD"));
  const through = new Set(
    histories.filter(({ isOpen }) => !isOpen).flatMap((each) => (landedOf(each) ? [each.task.id] : [])),
  );
  return notes.flatMap(([what = "", task = "", object = ""]) => {
    if (what !== "commit" && what !== "content") return [];
    if (!kept.has(object)) return [`${task}: the ${what} ${object} is lost`];
    return what === "commit" && through.has(task) && !merged.has(object)
      ? [`${task}: it is through, but its commit ${object} is not in the branch`]
      : [];
  });
}

function objectsOf(git: Git, from: string): readonly string[] {
  return linesOf(git("rev-list", "--objects", "--no-object-names", from));
}
