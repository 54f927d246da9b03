import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Repository } from "./stage.ts";

/** A folder of programs, each of which leaves a file with its name when it runs. */
export interface Canaries {
  /** A program that has not run yet. */
  program(name: string): string;
  /** Which have run. */
  seen(): readonly string[];
  forget(): void;
}

export function createCanaries(folder: string): Canaries {
  const [programs, traces] = [join(folder, "programs"), join(folder, "traces")];
  for (const each of [folder, programs, traces]) mkdirSync(each);
  return {
    program(name) {
      const path = join(programs, name);
      const script = `#!/bin/sh
echo "$0 $*" >> '${join(traces, name)}'
case "$0" in *filter*) cat ;; esac
exit 0
`;
      if (!existsSync(path)) writeFileSync(path, script);
      chmodSync(path, 0o755);
      return path;
    },
    seen: () => readdirSync(traces).sort(),
    forget() {
      for (const name of readdirSync(traces)) rmSync(join(traces, name));
    },
  };
}

/** Everything that an agent can write into the `.git` of its workspace to make git run something. */
export function poisonGitFolder(gitFolder: string, canaries: Canaries, prefix = ""): void {
  const program = (name: string) => canaries.program(`${prefix}${name}`);
  mkdirSync(join(gitFolder, "hooks"), { recursive: true });
  for (const hook of hooks) {
    rmSync(join(gitFolder, "hooks", hook), { force: true });
    symlinkSync(program(`hook-${hook}`), join(gitFolder, "hooks", hook));
  }
  const included = join(gitFolder, "included");
  writeFileSync(
    included,
    `[core]\n\tsshCommand = ${program("included-ssh")}\n\tpager = ${program("included-pager")}\n`,
  );
  writeFileSync(join(gitFolder, "attributes-everywhere"), "* filter=evil diff=evil merge=evil\n");
  mkdirSync(join(gitFolder, "info"), { recursive: true });
  writeFileSync(join(gitFolder, "info", "attributes"), "* filter=evil diff=evil merge=evil\n");
  const aliases = ["fetch", "ls-files", "add", "status", "write-tree", "rev-list", "upload-pack"];
  appendFileSync(
    join(gitFolder, "config"),
    `
[core]
	hooksPath = ${join(gitFolder, "hooks")}
	fsmonitor = ${program("fsmonitor")}
	sshCommand = ${program("ssh")}
	gitProxy = ${program("proxy")}
	askPass = ${program("askpass")}
	editor = ${program("editor")}
	pager = ${program("pager")}
	alternateRefsCommand = ${program("alternate-refs")}
	attributesFile = ${join(gitFolder, "attributes-everywhere")}
	untrackedCache = true
[include]
	path = ${included}
[includeIf "gitdir:/"]
	path = ${included}
[filter "evil"]
	clean = ${program("filter-clean")}
	smudge = ${program("filter-smudge")}
	required = true
[merge "evil"]
	driver = ${program("merge-driver")} %O %A %B
	recursive = evil
[diff]
	external = ${program("diff-external")}
[diff "evil"]
	textconv = ${program("textconv")}
	command = ${program("diff-command")}
[credential]
	helper = !${program("credential-helper")}
[gpg]
	program = ${program("gpg")}
[log]
	showSignature = true
[commit]
	gpgSign = true
[uploadpack]
	packObjectsHook = ${program("pack-objects-hook")}
[url "ext::${program("url-instead")} "]
	insteadOf = /
	insteadOf = file://
[remote "origin"]
	uploadpack = ${program("remote-upload-pack")}
	receivepack = ${program("remote-receive-pack")}
[submodule]
	recurse = true
[submodule "module"]
	update = !${program("submodule-update")}
	active = true
[fetch]
	recurseSubmodules = true
[gc]
	auto = 1
[maintenance]
	auto = true
[interactive]
	diffFilter = ${program("diff-filter")}
[trailer "evil"]
	command = ${program("trailer")}
	key = evil
	ifexists = add
	ifmissing = add
[alias]
${aliases.map((name) => `\t${name} = !${program("alias")}\n`).join("")}`,
  );
}

/** What an agent can commit to make git run something, or write where it should not. */
export function poisonFiles(workspace: Repository, canaries: Canaries): void {
  workspace.write(".gitattributes", "* filter=evil diff=evil merge=evil\n");
  workspace.write("--output=planted", "option\n");
  workspace.write("-evil", "option\n");
  workspace.write(`$(${canaries.program("shell").replaceAll("/", "_")})`, "shell\n");
  workspace.write("line\nend\u001b]0;title\u0007", "control\n");
  symlinkSync("/etc/passwd", join(workspace.folder, "link-to-file"));
  symlinkSync("/tmp", join(workspace.folder, "link-to-folder"));
}

export const hostileBranches = ["--output=planted", "-evil", "a;touch$(id)", "--upload-pack=touch", "HEAD", "@"];

const hooks = [
  "applypatch-msg",
  "pre-applypatch",
  "post-applypatch",
  "pre-commit",
  "pre-merge-commit",
  "prepare-commit-msg",
  "commit-msg",
  "post-commit",
  "pre-rebase",
  "post-checkout",
  "post-merge",
  "pre-push",
  "pre-receive",
  "update",
  "proc-receive",
  "post-receive",
  "post-update",
  "reference-transaction",
  "push-to-checkout",
  "pre-auto-gc",
  "post-rewrite",
  "sendemail-validate",
  "fsmonitor-watchman",
  "post-index-change",
];
