import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Trap } from "./trap.ts";

/** Something planted in a repository that makes programs write outside of it. */
export interface Trick {
  plant(trap: Trap): void;
  /** An ordinary command that then changes something outside. */
  fire(trap: Trap): void;
}

const commit = ({ careless }: Trap) => careless("commit", "--allow-empty", "-m", "x");

/** Moves a part of the git folder outside, and puts a link in its place. */
function linked(name: string, fire: Trick["fire"] = commit, emptied = false): Trick {
  return {
    plant({ gitFolder, outside }) {
      if (emptied) rmSync(join(gitFolder, name), { recursive: true, force: true });
      const [from, to] = [join(gitFolder, name), join(outside, "linked", name)];
      mkdirSync(dirname(to), { recursive: true });
      try {
        renameSync(from, to);
      } catch {
        mkdirSync(to);
      }
      mkdirSync(dirname(from), { recursive: true });
      symlinkSync(to, from);
    },
    fire,
  };
}

export const tricks: Readonly<Record<string, Trick>> = {
  "a .git that is a file and leads elsewhere": {
    plant({ gitFolder, outside }) {
      renameSync(gitFolder, join(outside, "elsewhere"));
      writeFileSync(gitFolder, `gitdir: ${join(outside, "elsewhere")}\n`);
    },
    fire: commit,
  },
  "a .git that is a link": {
    plant({ gitFolder, outside }) {
      renameSync(gitFolder, join(outside, "elsewhere"));
      symlinkSync(join(outside, "elsewhere"), gitFolder);
    },
    fire: commit,
  },
  "a commondir that leads elsewhere": {
    plant({ gitFolder, outside, put }) {
      cpSync(gitFolder, join(outside, "elsewhere"), { recursive: true });
      put("commondir", `${join(outside, "elsewhere")}\n`);
    },
    fire: commit,
  },
  "objects that are a link": linked("objects"),
  "refs that are a link": linked("refs"),
  "branches that are a link": linked("refs/heads"),
  "a folder of branches that is a link": linked("refs/heads/renamed", ({ careless }) =>
    careless("update-ref", "refs/heads/renamed/deeper", "HEAD"),
  ),
  "logs that are a link": linked("logs", ({ careless }) => {
    careless("config", "core.logAllRefUpdates", "true");
    careless("commit", "--allow-empty", "-m", "x");
  }),
  "an info that is a link": linked("info", writeExclude, true),
  "an index that is a link": linked("index", (trap) => {
    trap.at.write("a.txt", "changed\n");
    trap.careless("add", "a.txt");
  }),
  "a config that is a link": linked("config", ({ gitFolder }) => writeFileSync(join(gitFolder, "config"), "")),
  "files that are elsewhere": {
    plant: ({ config, outside }) => config(`[core]\n\tworktree = ${outside}`),
    fire: ({ careless }) => careless("checkout", "--force", "HEAD"),
  },
  "an entry of a worktree that is elsewhere": {
    plant({ gitFolder, outside, put }) {
      const [tree, entry] = [join(outside, "tree"), join(gitFolder, "worktrees/x")];
      mkdirSync(tree);
      writeFileSync(join(tree, ".git"), `gitdir: ${entry}\n`);
      for (const [name, text] of [
        ["gitdir", `${tree}/.git\n`],
        ["commondir", "../..\n"],
        ["HEAD", "ref: refs/heads/task\n"],
      ] as const)
        put(`worktrees/x/${name}`, text);
    },
    fire: ({ careless, outside }) => careless("worktree", "remove", "--force", join(outside, "tree")),
  },
  "a task file that is a link": {
    plant: ({ at, outside }) => symlinkSync(join(outside, "private.txt"), join(at.folder, "TASK.md")),
    fire: ({ at }) => at.write("TASK.md", "task\n"),
  },
  "a folder of task files that is a link": {
    plant: ({ at, outside }) => symlinkSync(outside, join(at.folder, ".signalbox")),
    fire: ({ at }) => at.write(".signalbox/reviewer.md", "task\n"),
  },
  "a folder of the repository that is a link": {
    plant({ at, outside }) {
      rmSync(join(at.folder, "folder"), { recursive: true });
      symlinkSync(outside, join(at.folder, "folder"));
    },
    fire: ({ at }) => at.write("folder/.env", "secret\n"),
  },
};

function writeExclude({ gitFolder }: Trap): void {
  writeFileSync(join(gitFolder, "info/exclude"), "/TASK.md\n");
}
