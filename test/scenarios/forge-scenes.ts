import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startScriptedGithub } from "../scripted-github/server.ts";
import type { Life } from "./life.ts";
import { openScenes } from "./scenes.ts";

const token = "ghp_verysecretindeed0123456789";

/** The scenes of a workflow whose project is on a scripted GitHub that merges for real. */
export async function openForgeScenes(workflow: string, options: Parameters<typeof openScenes>[1] = {}) {
  const github = await startScriptedGithub({ token });
  const { config = "", env, ...rest } = options;
  const scenes = await openScenes(workflow, {
    ...rest,
    config: [
      config,
      `forge_api_url: ${github.url}`,
      "forge_token_env: BREW_TOKEN",
      "forge_interval: 5",
      "notify: { desktop: false }",
      "",
    ].join("\n"),
    env: (base) => ({ BREW_TOKEN: token, GIT_SSH_COMMAND: sshTo(base), ...env?.(base) }),
  });
  const { base, repository, git } = scenes;
  const remote = join(base, "acme", "coffee.git");
  const tip = (branch: string) =>
    git(remote, "for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`) || undefined;
  git(repository, "clone", "--quiet", "--bare", repository, remote);
  git(repository, "remote", "set-url", "origin", "git@github.com:acme/coffee.git");
  const { state } = github;
  Object.assign(state.branches, {
    has: (branch: string) => tip(branch) !== undefined,
    get: tip,
    // GitHub merges: `merge-of-COMMIT` becomes the tip of the base.
    set(branch: string, merge: string) {
      const head = merge.slice(merge.lastIndexOf("-") + 1);
      const tree = git(remote, "merge-tree", "--write-tree", branch, head);
      const commit = git(remote, "commit-tree", "-p", branch, "-p", head, "-m", `Merge ${head}`, tree);
      git(remote, "update-ref", `refs/heads/${branch}`, commit);
    },
  });
  const trusted = await scenes.signalbox("project", "trust", "coffee", "--yes");
  if (trusted.code !== 0) throw new Error(trusted.stderr);
  const pullsOf = ({ branch }: Life) => state.pulls.filter(({ head }) => head === branch);

  return {
    ...scenes,
    ...{ github, remote, pullsOf },
    async close() {
      await scenes.close();
      await github.close();
    },
    pullOf(life: Life) {
      const [pull] = pullsOf(life);
      if (pull === undefined) throw new Error(`${life.branch} has no pull request.`);
      return pull;
    },
    /** The comments on the task's pull requests, without the mark by which Signalbox recognises its own. */
    commentsOn(life: Life): readonly string[] {
      const numbers = pullsOf(life).map(({ number }) => number);
      const own = state.comments.filter(({ pull }) => numbers.includes(pull));
      return own.map(({ body }) => body.replace(/<!--[\s\S]*?-->/g, "").trim());
    },
    /** Somebody else approves the task's pull request as it is now. */
    approve(life: Life): void {
      const [{ number, head } = { number: 0, head: "" }] = pullsOf(life);
      state.reviews.push({
        ...{ id: state.reviews.length + 1, pull: number, author: "grace", association: "MEMBER", body: "" },
        ...{ state: "APPROVED", commit: tip(head) ?? "" },
      });
    },
  };
}

/** Stands in for ssh to GitHub: its repositories are in this folder. */
export function sshTo(base: string): string {
  const file = join(base, "ssh");
  mkdirSync(join(base, "acme"), { recursive: true });
  writeFileSync(file, `#!/bin/sh\nfor last; do :; done\ncd '${base}' && eval "$last"\n`, { mode: 0o755 });
  return file;
}
