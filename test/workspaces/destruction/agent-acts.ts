import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Repository } from "../../git/stage.ts";

/** A simulated agent in a folder, which does what real agents do, and worse. */
export interface Agent {
  readonly at: Repository;
  /** A text that was not written before. */
  fresh(): string;
  /** At least 0, less than `below`. */
  draw(below: number): number;
}

/** Git may refuse any of these half-way. */
export const agentActs = {
  edit: ({ at, fresh, draw }) => at.write(pick(["a.txt", "b.txt", "folder/c.txt"], draw), fresh()),
  "add untracked": ({ at, fresh, draw }) => at.write(`notes/${draw(3)}/new-${draw(5)}.txt`, fresh()),
  "add ignored": ({ at, fresh, draw }) => at.write(pick(["build/out.bin", "debug.log", "notes/x.log"], draw), fresh()),
  stage: ({ at }) => at.git("add", "--all"),
  "stage, then change": ({ at, fresh }) => {
    at.write("b.txt", fresh());
    at.git("add", "b.txt");
    at.write("b.txt", fresh());
  },
  "stage, then delete": ({ at, fresh }) => {
    at.write("staged.txt", fresh());
    at.git("add", "staged.txt");
    rmSync(join(at.folder, "staged.txt"));
  },
  "overlook changes": ({ at, fresh }) => {
    at.git("update-index", "--assume-unchanged", "a.txt");
    at.write("a.txt", fresh());
  },
  commit: ({ at, fresh, draw }) => at.commit({ [`work-${draw(4)}.txt`]: fresh() }),
  "commit on a shared file": ({ at, fresh }) => at.commit({ "a.txt": fresh() }),
  amend: ({ at, fresh }) => {
    at.commit({ "amended.txt": fresh() });
    at.write("amended.txt", fresh());
    at.git("add", "amended.txt");
    at.git("commit", "--quiet", "--amend", "--no-edit");
  },
  "commit and go back": ({ at, fresh }) => {
    at.commit({ "dropped.txt": fresh() });
    at.git("reset", "--quiet", "--hard", "HEAD~1");
  },
  // Only the last stash has a ref; the one before it is only in the reflog.
  "stash twice": ({ at, fresh }) => {
    for (const name of ["a.txt", "stashed.txt"]) {
      at.write(name, fresh());
      at.git("stash", "push", "--quiet", "--include-untracked");
    }
  },
  "pop a stash": ({ at }) => at.git("stash", "pop", "--quiet"),
  detach: ({ at }) => at.git("checkout", "--quiet", "--detach"),
  "detach and commit": ({ at, fresh }) => {
    at.git("checkout", "--quiet", "--detach");
    at.commit({ "detached.txt": fresh() });
  },
  "rename the branch": ({ at, draw }) => at.git("branch", "-m", `renamed-${draw(1e9)}`),
  "another branch": ({ at, fresh, draw }) => {
    at.git("checkout", "--quiet", "-b", `aside-${draw(1e9)}`);
    at.commit({ "aside.txt": fresh() });
  },
  "begin a merge": (agent) => conflict(agent, "merge"),
  "begin a rebase": (agent) => conflict(agent, "rebase"),
  "begin a cherry-pick": (agent) => conflict(agent, "cherry-pick"),
  "resolve half": ({ at, fresh }) => {
    at.write("a.txt", fresh());
    at.write("b.txt", fresh());
    at.git("add", "b.txt");
    at.write("b.txt", fresh());
  },
  lock: ({ at }) => at.git("worktree", "lock", at.folder),
  "leave a lock": ({ at }) => writeFileSync(join(at.git("rev-parse", "--absolute-git-dir"), "index.lock"), ""),
  "lose .git": ({ at }) => rmSync(join(at.folder, ".git"), { recursive: true, force: true }),
} as const satisfies Readonly<Record<string, (agent: Agent) => unknown>>;

/** Two histories that both change `a.txt`, and an operation that stops between them. */
function conflict({ at, fresh, draw }: Agent, operation: "merge" | "rebase" | "cherry-pick"): void {
  if (!existsSync(join(at.folder, ".git"))) return;
  const rival = `rival-${draw(1e9)}`;
  const branch = at.git("rev-parse", "--abbrev-ref", "HEAD");
  at.commit({}, "before");
  at.git("checkout", "--quiet", "-b", rival, "HEAD~1");
  at.commit({ "a.txt": fresh() }, "theirs");
  at.git("checkout", "--quiet", branch === "HEAD" ? "-" : branch);
  at.commit({ "a.txt": fresh() }, "ours");
  at.git(operation, rival);
}

export function pick<T>(from: readonly T[], draw: (below: number) => number): T {
  const picked = from[draw(from.length)];
  if (picked === undefined) throw new Error("There is something to pick from.");
  return picked;
}
