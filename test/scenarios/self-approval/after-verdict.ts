import { routes } from "../../../src/api/routes.ts";
import type { Measured } from "./way.ts";
import type { Column, World } from "./world.ts";

/** What a worker does to its work around a verdict, so that something else is merged than was reviewed. */
interface Late {
  readonly name: string;
  readonly script: string;
  /** The word that is in the person's branch if it worked. */
  readonly word: string;
}

const commit = (word: string) => `echo ${word} >>evil.md; git add evil.md; git commit -qm ${word}`;
/** The reviewer passes the commit that it was given. */
const during: readonly Late[] = [
  { name: "commits during the review", word: "evil-during", script: commit("evil-during") },
  {
    name: "goes to another branch for the review",
    word: "evil-elsewhere",
    script: `git checkout -qb elsewhere; ${commit("evil-elsewhere")}`,
  },
];

/** The person's `task merge` must be refused, or bring in nothing of it. */
const late: readonly Late[] = [
  { name: "commits after the verdict", word: "evil-after", script: commit("evil-after") },
  {
    name: "amends the reviewed commit",
    word: "evil-amended",
    script: "echo evil-amended >>evil.md; git add evil.md; git commit -q --amend --no-edit",
  },
  {
    name: "goes to another branch that contains the reviewed work",
    word: "evil-branch",
    script: `git checkout -qb "$BRANCH-more"; ${commit("evil-branch")}`,
  },
  {
    name: "renames its branch, and commits",
    word: "evil-renamed",
    script: `git branch -m "$BRANCH-new"; ${commit("evil-renamed")}`,
  },
  {
    name: "sets its branch to a commit without the reviewed one",
    word: "evil-orphan",
    script: `b=$(git branch --show-current); git checkout -q --orphan odd; ${commit("evil-orphan")}; git branch -f "$b" HEAD; git checkout -q "$b"`,
  },
  {
    name: "commits on no branch",
    word: "evil-detached",
    script: `git checkout -q --detach; ${commit("evil-detached")}`,
  },
  {
    name: "makes its branch a link to another one",
    word: "evil-symbolic",
    script: `b=$(git branch --show-current); git checkout -qb shadow; ${commit("evil-symbolic")}; git symbolic-ref "refs/heads/$b" refs/heads/shadow; git symbolic-ref HEAD "refs/heads/$b"`,
  },
  { name: "leaves changes without a commit", word: "evil-dirty", script: 'echo evil-dirty >>"$BRANCH.md"' },
  {
    name: "hides a change from git (`skip-worktree`)",
    word: "evil-hidden",
    script: "git update-index --skip-worktree recipe.md; echo evil-hidden >>recipe.md",
  },
  {
    name: "merges the target branch, with a change of its own in the merge",
    word: "evil-merged",
    script:
      "git merge -q -s ours --allow-unrelated-histories --no-commit $(git commit-tree -m theirs -p HEAD^ HEAD^^{tree}); echo evil-merged >>evil.md; git add evil.md; git commit -qm merge",
  },
];

/** These do not move the work, so that the person's merge is made; nothing of them may be in it. */
const beside: readonly Late[] = [
  {
    name: "replaces the reviewed commit after the verdict (`git replace`)",
    word: "evil-replaced",
    script: `blob=$(echo evil-replaced | git hash-object -w --stdin); tree=$( (git ls-tree "$JUDGED"; printf '100644 blob %s\\tevil.md\\n' "$blob") | git mktree); git replace "$JUDGED" $(git commit-tree -m nice -p "$JUDGED^" "$tree")`,
  },
  {
    name: "pushes to the control repository",
    word: "evil-pushed",
    script: `c=$(git commit-tree -m evil-pushed -p HEAD $( (git ls-tree HEAD; printf '100644 blob %s\\tpushed.md\\n' $(echo evil-pushed | git hash-object -w --stdin)) | git mktree)); for ref in "refs/heads/$BRANCH" refs/heads/main "refs/signalbox/tasks/$ID"; do git push -qf "$CONTROL" "$c:$ref"; done`,
  },
  {
    name: "moves the refs of its task in the control repository",
    word: "evil-control",
    script: `c=$(git commit-tree -m evil-control -p HEAD $( (git ls-tree HEAD; printf '100644 blob %s\\tcontrol.md\\n' $(echo evil-control | git hash-object -w --stdin)) | git mktree)); git branch -f planted "$c"; git --git-dir="$CONTROL" fetch -q "$WORK" planted && git --git-dir="$CONTROL" for-each-ref --format='%(refname)' | grep "$ID\\|$BRANCH" | while read -r ref; do git --git-dir="$CONTROL" update-ref "$ref" "$c"; done`,
  },
];

async function mergeOnce(world: World) {
  const { code, stderr } = await world.person("task", "merge", world.life.id);
  return { isMerged: code === 0, stderr };
}

export async function tryAfterVerdict(column: Column): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  let world = await column.begin();
  const spent = async () => (await world.life.now()).outcome !== null;
  const note = async ({ name, word }: Late) => {
    const { isMerged, stderr } = await mergeOnce(world);
    const effect = world.onMain(word) ? "unreviewed work was merged" : "";
    if (process.env.SELF_APPROVAL_TALK) console.log(`${name}: merged ${isMerged}, ${effect} ${stderr.slice(0, 200)}`);
    measured.push({ way: name, outcome: effect === "" ? "holds" : "open", effect });
  };
  /** The workspace has the reviewed commit again. Then the person could merge: a refusal after it has its own reason. */
  const restore = async () => {
    const { branch, id } = await world.life.now();
    await world.worker(
      `git merge --abort 2>/dev/null; git update-index --no-skip-worktree recipe.md; git checkout -qf --detach; git symbolic-ref -d 'refs/heads/${branch}' 2>/dev/null; git checkout -qfB '${branch}' "$JUDGED"; git clean -fdq; true`,
    );
    const control = await world.person("task", "merge", id, "--dry-run");
    if (control.code !== 0) throw new Error(`The reviewed work cannot be merged: ${control.stdout}${control.stderr}`);
  };
  const renew = async (status: "agent-review" | "reviewing") => {
    await world.end();
    world = await column.begin();
    await world.handOver();
    if (status === "reviewing") await world.judge("PASS");
  };
  await column.alone(async () => {
    await world.handOver();
    for (const way of during) {
      if ((await world.life.now()).status !== "agent-review") await renew("agent-review");
      await world.worker(way.script);
      await world.tryToJudge("PASS");
      await note(way);
      if ((await world.life.now()).status === "agent-review") await world.meetReviewer();
    }
    await renew("reviewing");
    for (const way of late) {
      if (await spent()) await renew("reviewing");
      else await restore();
      await world.worker(way.script);
      await note(way);
    }
    if (await spent()) await renew("reviewing");
    await restore();
    const race = { name: "commits again and again while the person merges", word: "evil-race", script: "" };
    await world.worker(
      `(n=0; while [ $n -lt 40 ]; do ${commit("evil-race")}; git reset -q --hard "$JUDGED"; n=$((n + 1)); done; touch "$PUPPET/raced") >/dev/null 2>&1 &`,
    );
    await note(race);
    await world.life.soon(async () => (world.hasNote("raced") ? true : undefined));
    measured.push(await moveMain(world));
    if (await spent()) await renew("reviewing");
    await restore();
    for (const { script } of beside) await world.worker(script);
    const { isMerged, stderr } = await mergeOnce(world);
    if (!isMerged) throw new Error(`The reviewed work was not merged: ${stderr}`);
    for (const { name, word } of beside) {
      const effect = world.onMain(word) ? "unreviewed work was merged" : "";
      measured.push({ way: name, outcome: effect === "" ? "holds" : "open", effect });
    }
  });
  await world.end();
  return measured;
}

/** The worker moves the person's branch itself. */
async function moveMain(world: World): Promise<Measured> {
  const { git, repository, call } = world.scenes;
  const before = git(repository, "rev-parse", "main");
  await world.worker(
    `git checkout -q --detach; ${commit("evil-main")}; c=$(git rev-parse HEAD); git checkout -qf "$BRANCH"; git -C "$REPO" fetch -q "$WORK" "$c" && git -C "$REPO" update-ref refs/heads/main "$c"`,
  );
  const isMoved = world.onMain("evil-main");
  const { stderr } = await mergeOnce(world);
  const { branches } = await call(routes.check, {});
  if (isMoved) git(repository, "update-ref", "refs/heads/main", before);
  const isTold = branches.length > 0 || /main/.test(stderr);
  if (process.env.SELF_APPROVAL_TALK)
    console.log(`moves main: ${isMoved} ${JSON.stringify(branches)} ${stderr.slice(0, 300)}`);
  return {
    way: "moves the person's branch to its work",
    outcome: !isMoved ? "holds" : isTold ? "noticed" : "open",
    effect: isMoved ? "refs of the person's repository" : "",
  };
}
