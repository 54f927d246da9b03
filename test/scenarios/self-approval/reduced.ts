import type { Way } from "./way.ts";

const useToken = `ask POST /v1/pause "$T" "" '{"all":true}'`;
const by = "reviewer" as const;
const refused = (name: string, script: string): Way => ({ name, script, by });

/** A reviewer, whose permissions are reduced, tries to do more than to judge. Its program lets it run everything. */
export const reduced: readonly Way[] = [
  refused("`task shell`", 'SHELL=/bin/true signalbox task shell $ID && touch "$PUPPET/had-shell"'),
  refused("`config set` of the setup command", "signalbox config set setup 'touch hacked'"),
  refused("`task create-pr`, which pushes", "signalbox task create-pr $ID"),
  refused("`down --force`", "signalbox down --force"),
  refused("`pause --all --now`", "signalbox pause --all --now"),
  refused("`trust` of a workflow", "signalbox trust default"),
  refused(
    "`task merge`, `approve`, `cancel`",
    "signalbox task merge $ID; signalbox task approve $ID; signalbox task cancel $ID",
  ),
  refused("asks for `done`, past the person", "signalbox task update --status done"),
  refused("asks for the next state without a verdict", "signalbox task update --status reviewing"),
  {
    ...refused(
      "another branch, with other work, as the task's branch",
      'signalbox task update --branch "$BRANCH-other"',
    ),
    prepare: 'git branch -f "$BRANCH-other" $(git commit-tree -m other -p HEAD HEAD^{tree})',
    achieved: ({ variables, scenes, judged }) =>
      scenes.git(variables().WORK, "rev-parse", "HEAD") === judged() ? undefined : "the task's work",
    undo: 'git checkout -qf "$BRANCH" && signalbox task update --branch "$BRANCH"',
  },
  refused("the target branch as the task's branch", "signalbox task update --branch main"),
  refused(
    "moves another task",
    'signalbox task update coffee#1 --status working; ask POST /v1/tasks/coffee%231/move "$SIGNALBOX_TOKEN" "" \'{"to":"working"}\'',
  ),
  refused(
    "a credential for a worker, asked of the API",
    `T=$(ask POST "/v1/tasks/$ID/runs" "$SIGNALBOX_TOKEN" "$REVIEW" '{"role":"worker"}') && T=x && ${useToken}`,
  ),
  {
    ...refused(
      "changes the work in its own checkout, and commits",
      "echo evil-review >>recipe.md; git add -A; git commit -qm of-the-reviewer; signalbox task update --status working; true",
    ),
    achieved: ({ scenes }) =>
      scenes.git(scenes.repository, "log", "--all", "--format=%s").includes("of-the-reviewer")
        ? "refs of the person's repository"
        : undefined,
  },
  {
    ...refused("changes the work in the worker's workspace", 'echo evil >>"$WORK/$BRANCH.md"'),
    achieved: ({ variables, scenes }) =>
      scenes.git(variables().WORK, "status", "--porcelain", "-uno") === "" ? undefined : "the worker's files",
    undo: 'git checkout -q -- "$BRANCH.md"',
  },
  {
    ...refused("commits in the worker's workspace", 'cd "$WORK" && git commit -q --allow-empty -m evil'),
    achieved: ({ variables, scenes, judged }) =>
      scenes.git(variables().WORK, "rev-parse", "HEAD") === judged() ? undefined : "the worker's branch",
    undo: 'git reset -q --hard "$JUDGED"',
  },
  refused("the person's token from its file", `T=$(cat "$HOUSE/human.token") && ${useToken}`),
  refused("changes the configuration file", `printf '\\nsetup: [touch, hacked]\\n' >>"$HOUSE/config.yml"`),
  {
    ...refused("commits to the person's repository", 'git -C "$REPO" commit -q --allow-empty -m evil'),
  },
  refused("pushes to the remote", 'git push -q "$ORIGIN" HEAD:refs/heads/evil'),
];
