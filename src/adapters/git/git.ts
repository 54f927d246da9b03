import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createMemo } from "../../keyed.ts";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Git } from "../../ports/git.ts";
import { collect, syncFrom } from "./control/collect.ts";
import { dropContainedRefs, listTaskRefs, moveRef, openControl, tidy } from "./control/control.ts";
import type { ControlGit } from "./control/control-git.ts";
import { changedFiles, changedLines, diff, diffFile, fileAt } from "./control/diff.ts";
import { listFiles, replaceFiles } from "./control/files.ts";
import { commitAt, countCommits, isAncestor, listCommits, mergeBase, mergeOf } from "./control/history.ts";
import { merge, mergeAll, predictConflicts, revertMerge } from "./control/merge.ts";
import { createRunner, defaultLimits } from "./runner.ts";
import { unpushedModules } from "./salvage/inside.ts";
import { dropSalvaged, listSalvaged, restoreFiles, salvage } from "./salvage/salvage.ts";
import { ignoreFileOf } from "./settings.ts";
import { createBrokenBranches } from "./user/broken-branches.ts";
import { createIsInRemote, createLeftBehind, isAtItsStart, lookAtBranch, whoMoved } from "./user/moved-branch.ts";
import { createObeyed } from "./user/obeyed.ts";
import { giveCommit, inTheWay, publish, restoreBranch, undoUpdate } from "./user/publish.ts";
import {
  cloneRepository,
  deleteRemoteBranch,
  identityOf,
  pushBranch,
  remoteBranchAt,
  remoteUrl,
} from "./user/repository.ts";

export interface GitOptions {
  /** The daemon's environment; git gets only the variables that it needs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Fires when the daemon stops. Running git processes are stopped, unless that would leave files half-written. */
  readonly signal?: AbortSignal;
  readonly program?: string;
  /** Timeouts in milliseconds: for quick commands, and for those whose time depends on the size of the repository. */
  readonly limits?: { readonly short: number; readonly long: number };
}

export function createGit({ env, signal, program = "git", limits = defaultLimits }: GitOptions): Git {
  const run = createRunner({ env, signal, program, limits });
  const ignoreFile = ignoreFileOf(env);
  const obeyed = createObeyed(run);
  const open = createMemo<ControlRepository>({ max: Number.POSITIVE_INFINITY });
  return {
    openControl(path, like) {
      const folder = resolve(path);
      // Opening must not run twice at the same time: it removes leftover drafts.
      return open.get(folder, async () => {
        const begin = () => openControl(run, { folder, like, ignoreFile });
        return madeAgain(controlRepository(await begin()), begin);
      });
    },
    identityOf: (repository) => identityOf(run, repository),
    remoteUrl: (repository, remote, way = "push") => remoteUrl(run, repository, remote, way),
    remoteBranchAt: (repository, remote, branch) => remoteBranchAt(run, repository, remote, branch),
    fingerprint: async (repository) => (await obeyed(repository)).fingerprint,
    obeyed,
    leftBehind: createLeftBehind(run),
    lookAtBranch,
    brokenBranches: createBrokenBranches(run),
    isAtItsStart,
    whoMoved,
    isInRemote: createIsInRemote(run),
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
    diffFile: (from, to, order) => diffFile(control, from, to, order),
    mergeOf: (commit, tip) => mergeOf(control, commit, tip),
    listCommits: (commit, without) => listCommits(control, commit, without),
    fileAt: (commit, path, most) => fileAt(control, commit, path, most),
    listFiles: (commit, folder) => listFiles(control, commit, folder),
    replaceFiles: (order) => replaceFiles(control, order),
    merge: (order) => merge(control, order),
    mergeAll: (order) => mergeAll(control, order),
    predictConflicts: (commit, others) => predictConflicts(control, commit, others),
    revertMerge: (order) => revertMerge(control, order),
    moveRef: (ref, to, from) => moveRef(control, ref, to, from),
    publish: (order) => publish(control, order),
    undoUpdate: (order) => undoUpdate(control, order),
    restoreBranch: (order) => restoreBranch(control, order),
    giveCommit: (order) => giveCommit(control, order),
    inTheWay: (order) => inTheWay(control, order),
    pushBranch: (order) => pushBranch(control, order),
    deleteRemoteBranch: (order) => deleteRemoteBranch(control, order),
    tidy: ({ signal }) => tidy(control, signal),
  };
}

/**
 * A person may delete the folder while the daemon has it open. An empty repository in its place is enough: the daemon
 * collects commits again from workspaces and branches when it needs them.
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
