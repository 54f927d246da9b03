import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Git } from "../../ports/git.ts";
import { collect } from "./control/collect.ts";
import type { ControlGit } from "./control/control-git.ts";
import { merge, revertMerge } from "./control/merge.ts";
import { mergeAll } from "./control/merge-all.ts";
import { moveRef } from "./control/move-ref.ts";
import { openControl } from "./control/open-control.ts";
import { predictConflicts } from "./control/predict-conflicts.ts";
import { changedFiles, changedLines, diff, fileAt } from "./control/read-files.ts";
import { beforeMergeOf, commitAt, countCommits, isAncestor, mergeBase } from "./control/read-history.ts";
import { syncFrom } from "./control/sync-from.ts";
import { dropContainedRefs, listTaskRefs } from "./control/task-refs.ts";
import { tidy } from "./control/tidy.ts";
import { createRunner, defaultLimits } from "./git-runner.ts";
import { dropSalvaged } from "./salvage/drop-salvaged.ts";
import { listSalvaged } from "./salvage/list-salvaged.ts";
import { restoreFiles } from "./salvage/restore-files.ts";
import { salvage } from "./salvage/salvage.ts";
import { unpushedModules } from "./salvage/unpushed-modules.ts";
import { cloneRepository } from "./user/clone-repository.ts";
import { deleteRemoteBranch } from "./user/delete-remote-branch.ts";
import { identityOf } from "./user/identity-of.ts";
import { inTheWay } from "./user/in-the-way.ts";
import { leftBehind } from "./user/left-behind.ts";
import { createObeyed } from "./user/obeyed.ts";
import { publish } from "./user/publish.ts";
import { pushBranch } from "./user/push-branch.ts";
import { remoteUrl } from "./user/remote-url.ts";
import { restoreBranch } from "./user/restore-branch.ts";

export interface GitOptions {
  /** Our own environment; git gets the little that it needs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Fires when the daemon stops: what git is at is stopped, except where that would leave files half-written. */
  readonly signal?: AbortSignal;
  readonly program?: string;
  /** Milliseconds: for what takes moments, and for what takes as long as a repository is large. */
  readonly limits?: { readonly short: number; readonly long: number };
}

export function createGit({ env, signal, program = "git", limits = defaultLimits }: GitOptions): Git {
  const run = createRunner({ env, signal, program, limits });
  const ignoreFile = ignoreFileOf(env);
  const obeyed = createObeyed(run);
  const open = new Map<string, Promise<ControlRepository>>();
  return {
    openControl(path, like) {
      const folder = resolve(path);
      // Two at once would be in each other's way; and what was left over is removed only once.
      const opening =
        open.get(folder) ??
        openControl(run, { folder, like, ignoreFile })
          .then((control) =>
            madeAgain(controlRepository(control), () => openControl(run, { folder, like, ignoreFile })),
          )
          .catch((error) => {
            open.delete(folder);
            throw error;
          });
      open.set(folder, opening);
      return opening;
    },
    identityOf: (repository) => identityOf(run, repository),
    remoteUrl: (repository, remote, way = "push") => remoteUrl(run, repository, remote, way),
    fingerprint: async (repository) => (await obeyed(repository)).fingerprint,
    obeyed,
    leftBehind,
    clone: (order) => cloneRepository(run, order),
  };
}

function controlRepository(control: ControlGit): ControlRepository {
  return {
    folder: control.folder,
    collect: (order) => collect(control, order),
    syncFrom: (order) => syncFrom(control, order),
    salvage: (order) => salvage(control, order),
    unpushedModules: (order) => unpushedModules(control, order),
    listSalvaged: () => listSalvaged(control),
    restoreFiles: (commit, folder) => restoreFiles(control, commit, folder),
    dropSalvaged: (ref, commit) => dropSalvaged(control, ref, commit),
    listTaskRefs: () => listTaskRefs(control),
    dropContainedRefs: (refs, into) => dropContainedRefs(control, refs, into),
    commitAt: (ref) => commitAt(control, ref),
    isAncestor: (ancestor, commit) => isAncestor(control, ancestor, commit),
    mergeBase: (a, b) => mergeBase(control, a, b),
    countCommits: (from, to) => countCommits(control, from, to),
    changedFiles: (from, to) => changedFiles(control, from, to),
    diff: (from, to, most) => diff(control, from, to, most),
    changedLines: (from, to) => changedLines(control, from, to),
    beforeMergeOf: (commit, tip) => beforeMergeOf(control, commit, tip),
    fileAt: (commit, path, most) => fileAt(control, commit, path, most),
    merge: (order) => merge(control, order),
    mergeAll: (order) => mergeAll(control, order),
    predictConflicts: (commit, others) => predictConflicts(control, commit, others),
    revertMerge: (order) => revertMerge(control, order),
    moveRef: (ref, to, from) => moveRef(control, ref, to, from),
    publish: (order) => publish(control, order),
    restoreBranch: (order) => restoreBranch(control, order),
    inTheWay: (order) => inTheWay(control, order),
    pushBranch: (order) => pushBranch(control, order),
    deleteRemoteBranch: (order) => deleteRemoteBranch(control, order),
    tidy: ({ signal }) => tidy(control, signal),
  };
}

/**
 * A person may delete the folder while the daemon has it open. An empty repository in its place is enough: the daemon collects
 * commits again from workspaces and branches when it needs them.
 */
function madeAgain(control: ControlRepository, open: () => Promise<unknown>): ControlRepository {
  let opening: Promise<unknown> | undefined;
  const ensure = () => {
    if (opening === undefined && existsSync(control.folder)) return undefined;
    opening ??= open().finally(() => {
      opening = undefined;
    });
    return opening;
  };
  return new Proxy(control, {
    get(target, name) {
      const act: unknown = Reflect.get(target, name);
      if (typeof act !== "function") return act;
      return async (...args: readonly unknown[]) => {
        await ensure();
        return act(...args);
      };
    },
  });
}

function ignoreFileOf({ HOME, XDG_CONFIG_HOME }: GitOptions["env"]): string | undefined {
  const folder = XDG_CONFIG_HOME || (HOME && join(HOME, ".config"));
  return folder && join(folder, "git", "ignore");
}
