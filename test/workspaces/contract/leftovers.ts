import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Repository } from "../../git/stage.ts";

/** Uncommitted work that an agent may leave, with a file that must keep its text until the work is salvaged. */
export const leftovers: readonly (readonly [
  what: string,
  leave: (workspace: Repository) => void,
  file: string,
  text: string,
])[] = [
  ["a changed file", (w) => w.write("a.txt", "changed\n"), "a.txt", "changed\n"],
  ["an untracked file", (w) => w.write("new.txt", "new\n"), "new.txt", "new\n"],
  ["an untracked file deep down", (w) => w.write("x/y/new.txt", "new\n"), "x/y/new.txt", "new\n"],
  ["a deleted file", (w) => rmSync(join(w.folder, "b.txt")), "a.txt", "a\n"],
  [
    "a staged change that was undone in the file",
    (w) => {
      w.write("a.txt", "staged\n");
      w.git("add", "a.txt");
      w.write("a.txt", "a\n");
    },
    "a.txt",
    "a\n",
  ],
  [
    "a change to an assume-unchanged file",
    (w) => {
      w.git("update-index", "--assume-unchanged", "a.txt");
      w.write("a.txt", "hidden\n");
    },
    "a.txt",
    "hidden\n",
  ],
  [
    "a change to a skip-worktree file",
    (w) => {
      w.git("update-index", "--skip-worktree", "a.txt");
      w.write("a.txt", "hidden\n");
    },
    "a.txt",
    "hidden\n",
  ],
  [
    "an unfinished merge",
    (w) => {
      const before = w.git("symbolic-ref", "--short", "-q", "HEAD");
      w.git("checkout", "--quiet", "-b", "other");
      w.commit({ "b.txt": "other\n" });
      w.git("checkout", "--quiet", before);
      w.git("merge", "--quiet", "--no-ff", "--no-commit", "other");
    },
    "b.txt",
    "other\n",
  ],
  [
    "a broken index",
    (w) => writeFileSync(join(w.git("rev-parse", "--absolute-git-dir"), "index"), "x"),
    "a.txt",
    "a\n",
  ],
];
