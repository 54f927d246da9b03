import { appendFileSync, chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Something that git runs whenever it obeys what it finds. */
export interface Canary {
  readonly path: string;
  /** Makes everything in a git folder lead to it. */
  plant(gitFolder: string): void;
  /** Whether it was run since the last time. */
  sang(): boolean;
}

const hooks = [
  ...["applypatch-msg", "pre-commit", "post-commit", "post-checkout", "post-merge", "pre-push", "post-rewrite"],
  ...["reference-transaction", "post-index-change", "pre-auto-gc", "fsmonitor-watchman", "pre-rebase", "update"],
];

export function createCanary(folder: string): Canary {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "sang");
  const program = join(folder, "canary");
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> "${path}"\ncat\n`);
  chmodSync(program, 0o755);
  return {
    path,
    plant(gitFolder) {
      mkdirSync(join(gitFolder, "hooks"), { recursive: true });
      for (const hook of hooks) {
        writeFileSync(join(gitFolder, "hooks", hook), `#!/bin/sh\n"${program}" hook ${hook} </dev/null\nexit 0\n`);
        chmodSync(join(gitFolder, "hooks", hook), 0o755);
      }
      const included = join(folder, "included");
      writeFileSync(included, settings(program));
      appendFileSync(join(gitFolder, "config"), `${settings(program)}[include]\n\tpath = ${included}\n`);
      mkdirSync(join(gitFolder, "info"), { recursive: true });
      writeFileSync(join(gitFolder, "info/attributes"), "* filter=evil diff=evil merge=evil\n");
    },
    sang() {
      const isThere = existsSync(path);
      rmSync(path, { force: true });
      return isThere;
    },
  };
}

function settings(program: string): string {
  return `[core]
\tfsmonitor = ${program}
\tpager = ${program}
\teditor = ${program}
\tsshCommand = ${program}
\taskPass = ${program}
\talternateRefsCommand = ${program}
[filter "evil"]
\tclean = ${program}
\tsmudge = ${program}
\trequired = true
[diff]
\texternal = ${program}
[diff "evil"]
\ttextconv = ${program}
[merge "evil"]
\tdriver = ${program}
[uploadpack]
\tpackObjectsHook = ${program}
[alias]
\tstatus = !${program}
`;
}
