import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Trap } from "./trap.ts";

/**
 * Something planted in a repository that makes git run a program, which records the canary's name. Things that plain
 * git does not run are left out: git ignores `uploadpack.packObjectsHook` in a repository, `proc-receive` needs a
 * server that requests it, `sendemail-validate` and `p4-*` need other programs, `fsmonitor-watchman` equals `fsmonitor`.
 */
export interface Canary {
  /** The place of the canary. In configuration, hooks or attributes it changes the fingerprint of a repository. */
  readonly lives: "configuration" | "hooks" | "attributes";
  plant(trap: Trap, name: string): void;
  /** An ordinary command that runs it. */
  fire(trap: Trap): void;
}

// `repository()` has two branches that change `a.txt`: `task`, which is checked out, and `rival`. `aside` changes b.txt.
const commit = ({ careless }: Trap) => careless("commit", "--allow-empty", "-m", "x");
const ask = (address: string) => (trap: Trap) => trap.careless("ls-remote", address);

const hookFires: Readonly<Record<string, (trap: Trap) => void>> = {
  "applypatch-msg": applyPatch,
  "pre-applypatch": applyPatch,
  "post-applypatch": applyPatch,
  "pre-commit": commit,
  "prepare-commit-msg": commit,
  "commit-msg": commit,
  "post-commit": commit,
  "pre-merge-commit": ({ careless }) => careless("merge", "--no-ff", "--no-edit", "aside"),
  "post-merge": ({ careless }) => careless("merge", "--no-ff", "--no-edit", "aside"),
  "pre-rebase": ({ careless }) => careless("rebase", "aside"),
  "post-rewrite": ({ careless }) => careless("commit", "--amend", "--no-edit"),
  "post-checkout": ({ careless }) => careless("checkout", "aside"),
  "pre-push": ({ careless, outside }) => {
    careless("init", "--bare", join(outside, "remote.git"));
    careless("push", join(outside, "remote.git"), "HEAD:refs/heads/x");
  },
  "pre-receive": pushHere,
  update: pushHere,
  "post-receive": pushHere,
  "post-update": pushHere,
  "push-to-checkout": (trap) => {
    trap.config("[receive]\n\tdenyCurrentBranch = updateInstead");
    trap.careless("push", trap.at.folder, "aside:task");
    trap.careless("push", "--force", trap.at.folder, "aside:task");
  },
  "reference-transaction": ({ careless }) => careless("update-ref", "refs/heads/x", "HEAD"),
  "post-index-change": (trap) => {
    trap.at.write("a.txt", "changed\n");
    trap.careless("add", "a.txt");
  },
  "pre-auto-gc": (trap) => {
    for (const name of ["1", "2"]) trap.put(`objects/17/${name.repeat(38)}`, "");
    trap.careless("-c", "gc.auto=1", "gc", "--auto");
  },
};

/** Configuration text for a program's path, and the command that runs it. */
const settings: Readonly<Record<string, readonly [(program: string) => string, (trap: Trap) => void]>> = {
  fsmonitor: [(program) => `[core]\n\tfsmonitor = ${program}`, ({ careless }) => careless("status")],
  "ssh-command": [(program) => `[core]\n\tsshCommand = ${program}`, ask("ssh://nowhere.invalid/x")],
  "git-proxy": [(program) => `[core]\n\tgitProxy = ${program}`, ask("git://nowhere.invalid/x")],
  "ask-pass": [(program) => `[core]\n\taskPass = ${program}`, fillCredential],
  "credential-helper": [(program) => `[credential]\n\thelper = !${program}`, fillCredential],
  pager: [(program) => `[core]\n\tpager = ${program}`, onTerminal],
  editor: [(program) => `[core]\n\teditor = ${program}`, ({ careless }) => careless("commit", "--allow-empty")],
  "sequence-editor": [
    (program) => `[sequence]\n\teditor = ${program}`,
    ({ careless }) => careless("rebase", "--interactive", "HEAD~1"),
  ],
  gpg: [(program) => `[gpg]\n\tprogram = ${program}\n[commit]\n\tgpgSign = true`, commit],
  "ext-protocol": [
    (program) => `[protocol "ext"]\n\tallow = always\n[remote "evil"]\n\turl = "ext::${program}"`,
    ask("evil"),
  ],
  "instead-of": [
    (program) => `[protocol "ext"]\n\tallow = always\n[url "ext::${program} "]\n\tinsteadOf = evil:`,
    ask("evil:x"),
  ],
  "upload-pack": [
    (program) => `[remote "there"]\n\turl = /nowhere\n\tuploadpack = ${program}`,
    ({ careless }) => careless("fetch", "there"),
  ],
  "receive-pack": [
    (program) => `[remote "there"]\n\turl = /nowhere\n\treceivepack = ${program}`,
    ({ careless }) => careless("push", "there", "HEAD"),
  ],
  alias: [(program) => `[alias]\n\tplanted = !${program}`, ({ careless }) => careless("planted")],
  trailer: [
    (program) => `[trailer "evil"]\n\tkey = evil\n\tcmd = ${program}`,
    ({ fed }) => fed("text\n", "interpret-trailers", "--trailer", "evil=x"),
  ],
  "external-diff": [(program) => `[diff]\n\texternal = ${program}`, ({ careless }) => careless("diff", "aside")],
  difftool: [
    (program) => `[difftool "evil"]\n\tcmd = ${program}`,
    ({ careless }) => careless("difftool", "--no-prompt", "--tool=evil", "aside"),
  ],
};

/** Programs that attributes name; each way to set attributes is tried with one of them. */
const drivers: Readonly<Record<string, readonly [(program: string) => string, (trap: Trap) => void]>> = {
  "filter-clean": [(program) => `[filter "evil"]\n\tclean = ${program}`, addChanged],
  "filter-smudge": [
    (program) => `[filter "evil"]\n\tsmudge = ${program}`,
    ({ careless }) => careless("checkout", "aside"),
  ],
  "filter-process": [(program) => `[filter "evil"]\n\tprocess = ${program}`, addChanged],
  textconv: [(program) => `[diff "evil"]\n\ttextconv = ${program}`, ({ careless }) => careless("diff", "aside")],
  "diff-command": [(program) => `[diff "evil"]\n\tcommand = ${program}`, ({ careless }) => careless("diff", "aside")],
  "merge-driver": [(program) => `[merge "evil"]\n\tdriver = ${program}`, ({ careless }) => careless("merge", "rival")],
};

const evil = "* filter=evil diff=evil merge=evil\n";
const attributes: Readonly<Record<string, (trap: Trap) => void>> = {
  "in the tree": ({ at }) => writeFileSync(join(at.folder, ".gitattributes"), evil),
  "in info/attributes": ({ put }) => put("info/attributes", evil),
  "in core.attributesFile": ({ put, config, gitFolder }) => {
    put("attributes-everywhere", evil);
    config(`[core]\n\tattributesFile = ${join(gitFolder, "attributes-everywhere")}`);
  },
};

export const canaries: Readonly<Record<string, Canary>> = {
  ...Object.fromEntries(
    Object.entries(hookFires).map(([hook, fire]): [string, Canary] => [
      `hook-${hook}`,
      { lives: "hooks", fire, plant: (trap, name) => trap.hook(hook, trap.program(name)) },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(settings).map(([key, [text, fire]]): [string, Canary] => [
      key,
      {
        ...{ lives: "configuration", fire },
        plant: (trap, name) => trap.config(text(trap.program(name))),
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(drivers).flatMap(([key, [text, fire]]) =>
      Object.entries(attributes).map(([where, give]): [string, Canary] => [
        `${key} ${where}`.replaceAll(/[ /]/g, "-"),
        {
          ...{ lives: "attributes", fire },
          plant: (trap, name) => {
            give(trap);
            trap.config(text(trap.program(name)));
          },
        },
      ]),
    ),
  ),
  "hooks-path": {
    ...{ lives: "configuration", fire: commit },
    plant(trap, name) {
      mkdirSync(join(trap.gitFolder, "other-hooks"), { recursive: true });
      execFileSync("cp", [trap.program(name), join(trap.gitFolder, "other-hooks/pre-commit")]);
      trap.config(`[core]\n\thooksPath = ${join(trap.gitFolder, "other-hooks")}`);
    },
  },
  included: {
    ...{ lives: "configuration", fire: ask("ssh://nowhere.invalid/x") },
    plant(trap, name) {
      trap.put("included", `[core]\n\tsshCommand = ${trap.program(name)}\n`);
      trap.config("[include]\n\tpath = included");
    },
  },
  "included-if": {
    ...{ lives: "configuration", fire: ask("ssh://nowhere.invalid/x") },
    plant(trap, name) {
      trap.put("included-if", `[core]\n\tsshCommand = ${trap.program(name)}\n`);
      trap.config('[includeIf "gitdir:/"]\n\tpath = included-if');
    },
  },
  "alternate-refs": {
    ...{ lives: "configuration" },
    plant: (trap, name) => trap.config(`[core]\n\talternateRefsCommand = ${trap.program(name)}`),
    fire(trap) {
      trap.careless("clone", "--bare", trap.at.folder, join(trap.outside, "other.git"));
      trap.put("objects/info/alternates", `${join(trap.outside, "other.git/objects")}\n`);
      pushHere(trap);
    },
  },
  "submodule-update": {
    ...{ lives: "configuration" },
    plant: (trap, name) =>
      trap.config(
        `[submodule "module"]\n\tactive = true\n\turl = ${trap.at.folder}\n\tupdate = !${trap.program(name)}`,
      ),
    fire({ careless }) {
      // Git runs an update only for a submodule at another commit.
      careless("-C", "module", "commit", "--allow-empty", "-m", "elsewhere");
      careless("submodule", "update");
    },
  },
  "submodule-address": {
    ...{ lives: "configuration" },
    plant: (trap, name) => trap.config(`[submodule "module"]\n\tactive = true\n\turl = "ext::${trap.program(name)}"`),
    fire({ at, careless, gitFolder }) {
      for (const folder of [join(gitFolder, "modules"), join(at.folder, "module")]) rmSync(folder, { recursive: true });
      careless("-c", "protocol.ext.allow=always", "submodule", "update", "--init");
    },
  },
};

function applyPatch({ at, careless, outside }: Trap): void {
  const patch = at.git("format-patch", "-1", "--stdout", "aside");
  writeFileSync(join(outside, "patch"), `${patch}\n`);
  careless("am", join(outside, "patch"));
}

function pushHere({ at, careless }: Trap): void {
  careless("push", at.folder, "aside:refs/heads/pushed");
}

function fillCredential({ fed }: Trap): void {
  fed("protocol=https\nhost=nowhere.invalid\n\n", "credential", "fill");
}

function addChanged({ at, careless }: Trap): void {
  at.write("b.txt", "changed\n");
  careless("add", "b.txt");
}

/** Git starts a pager only on a terminal. */
function onTerminal({ at }: Trap): void {
  execFileSync("script", ["--quiet", "--command", "git log", "/dev/null"], { cwd: at.folder, stdio: "ignore" });
}
