/** What lies in a git folder while something is under way there, and what that is. The first that is there counts. */
export const operations = [
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["sequencer", "cherry-pick"],
  ["BISECT_LOG", "bisect"],
] as const;
