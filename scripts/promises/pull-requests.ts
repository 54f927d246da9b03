import { type Evidence, gitIn, type History } from "./evidence.ts";
import { about, isMergedByForge } from "./history.ts";

/** A round of reviews has one comment, and a task one pull request: on the forge, and in the history. */
export function pullRequestProblems({ forge, histories }: Evidence): readonly string[] {
  return histories.flatMap((history) => {
    const { task, events } = history;
    const opened = events.filter(({ type }) => type === "pr.opened").length;
    const told = events.filter(({ type }) => type === "pr.commented").map(({ data }) => data.round);
    const rounds = roundsOf(history);
    const problems = [
      ...(opened > 1 ? [`its history opens ${opened} pull requests`] : []),
      ...rounds.flatMap((round) => {
        const count = told.filter((each) => each === round).length;
        return count === 1 ? [] : [`its history has ${count} comments about round ${round}`];
      }),
    ];
    if (forge === undefined || (opened === 0 && rounds.length === 0)) return about(history, problems);
    const pulls = forge.pulls.filter(({ head }) => head === task.branch);
    const numbers = pulls.map(({ number }) => number);
    const comments = forge.comments.filter(({ pull }) => numbers.includes(pull)).length;
    return about(history, [
      ...problems,
      ...(pulls.length === 1 ? [] : [`the forge has ${pulls.length} pull requests of its branch`]),
      ...(comments === rounds.length ? [] : [`the forge has ${comments} comments after ${rounds.length} rounds`]),
    ]);
  });
}

/** What the forge has merged for a task that is over is in the remote's branch. */
export function forgeMergeProblems({ forge, histories }: Evidence): readonly string[] {
  if (forge === undefined) return [];
  const git = gitIn(forge.remote);
  return histories.flatMap((history) => {
    if (history.isOpen || !isMergedByForge(history)) return [];
    const merged = forge.pulls.filter(({ head, isMerged }) => head === history.task.branch && isMerged);
    const isIn = git.try("merge-base", "--is-ancestor", `refs/heads/${history.task.branch}`, "refs/heads/main").ok;
    return about(history, [
      ...(merged.length === 1 ? [] : [`the forge has merged ${merged.length} pull requests of its branch`]),
      ...(isIn ? [] : ["it is done, and its branch is not in the remote's"]),
    ]);
  });
}

/** The numbers of the reviews whose findings were taken into the ledger. */
function roundsOf({ events }: History): readonly number[] {
  return events.filter(({ type }) => type === "finding.reviewed").map(({ data }) => Number(data.round));
}
