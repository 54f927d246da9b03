import { Fault } from "../../fault.ts";
import {
  type Conflict,
  type ControlRepository,
  lacksCommit,
  type MergeAnswer,
  type MergeOrder,
  taskRef,
} from "../../ports/control-repository.ts";
import type { FileName } from "../../ports/git-names.ts";
import type { Repositories } from "./repositories.ts";

/** A control repository in memory. `changed` is called after everything that moved or dropped a ref. */
export function createMemoryControl(
  repositories: Repositories,
  folder: string,
  changed: (what: string) => void,
): ControlRepository {
  const { commits, branches, refs, folders, usersChanges } = repositories;
  const conflict = (files: readonly string[]): Conflict => ({
    kind: "conflict",
    files: files.map((path) => ({ path: nameOf(path), kind: "contents" })),
    text: `Conflicts in ${files.join(", ")}.`,
    tree: "",
  });
  const merge = ({ onto, branch, strategy, message, date }: Omit<MergeOrder, "author">): MergeAnswer => {
    if (commits.isAncestor(branch, onto)) return { kind: "up-to-date" };
    if (strategy === "ff")
      return commits.isAncestor(onto, branch) ? { kind: "fast-forward", commit: branch } : { kind: "diverged" };
    const result = commits.merge(onto, branch);
    if (result.kind === "up-to-date") return result;
    if (result.kind === "conflict") return conflict(result.files);
    return { kind: "merged", commit: commits.add([onto, branch], result.tree, `${message} ${date}`), tree: "" };
  };
  const waits = (commit: string, at: string | undefined) => {
    const files = at === undefined ? [] : commits.changed(at, commit).filter((path) => usersChanges.has(path));
    if (files.length === 0) return undefined;
    const text = `You have changes of your own in ${files.join(", ")}. Commit them.`;
    return { kind: "waits", reason: "files", files: files.map(nameOf), text } as const;
  };

  return {
    folder,
    async collect({ folder: path, branch, task, contains }) {
      const found = folders.get(path);
      const tips = found?.kind === "clone" ? found.own : branches;
      const commit = tips.get(branch);
      if (found === undefined || commit === undefined)
        throw new Fault("git.bad-ref", `There is no branch "${branch}" in ${path}.`);
      if (contains !== undefined && !commits.isAncestor(contains, commit))
        throw new Fault(lacksCommit, `"${branch}" does not contain ${contains}.`);
      const previous = refs.get(taskRef(task));
      repositories.moveRef(taskRef(task), commit);
      if (previous !== commit) changed("collect");
      return { commit, previous };
    },
    async syncFrom({ name }) {
      const seen = name === "user" ? branches : new Map<string, string>();
      for (const [branch, commit] of seen) repositories.moveRef(`refs/remotes/${name}/${branch}`, commit);
      for (const [ref, commit] of [...refs]) {
        const prefix = `refs/remotes/${name}/`;
        if (!ref.startsWith(prefix) || seen.has(ref.slice(prefix.length))) continue;
        refs.delete(ref);
        refs.set(`refs/signalbox/kept/${commit}`, commit);
        changed("sync");
      }
      return { branches: Object.fromEntries(seen) };
    },
    unpushedModules: async () => [],
    async salvage({ folder: path, task, at }) {
      const nothing = { saved: undefined, ignored: [], repositories: [], refused: [] };
      const found = folders.get(path);
      if (found === undefined) return nothing;
      const head = repositories.head(found);
      const isDirty = repositories.isDirty(found);
      if (!isDirty && commits.reach(refs.values()).has(head)) return nothing;
      const commit = isDirty ? commits.add([head], new Map(found.files), "salvage") : head;
      const known = [...refs].find(([ref, each]) => each === commit && ref.startsWith("refs/signalbox/salvage/"));
      const ref = known?.[0] ?? `refs/signalbox/salvage/${task}/${at}`;
      repositories.moveRef(ref, commit);
      changed("salvage");
      return { ...nothing, saved: { ref, commit } };
    },
    listSalvaged: async () => [],
    restoreFiles: unavailable,
    dropSalvaged: unavailable,
    listTaskRefs: async () =>
      [...refs].flatMap(([ref, commit]) => {
        const [, task = ""] = /^refs\/signalbox\/tasks\/([^/]+)$/.exec(ref) ?? [];
        return task === "" ? [] : [{ ref, task, commit }];
      }),
    async dropContainedRefs(given, into) {
      const contained = given.filter(({ commit }) => into.some((tip) => commits.isAncestor(commit, tip)));
      for (const { ref } of contained) refs.delete(ref);
      if (contained.length > 0) changed("forget");
      return contained.length;
    },
    commitAt: async (ref) => refs.get(ref),
    isAncestor: async (ancestor, commit) => commits.isAncestor(ancestor, commit),
    mergeBase: async (a, b) => commits.mergeBase(a, b),
    async countCommits(from, to) {
      const known = commits.containedIn(from);
      let count = 0;
      for (const id of commits.containedIn(to)) if (!known.has(id)) count++;
      return count;
    },
    changedFiles: async (from, to) =>
      commits.changed(from, to).map((path) => ({ path: nameOf(path), change: "modified", from: undefined })),
    diff: async () => ({ bytes: new Uint8Array(), isCut: false }),
    changedLines: async () => [],
    beforeMergeOf: async () => undefined,
    async fileAt(commit, path) {
      const content = commit === "" ? undefined : commits.get(commit).tree.get(String(path));
      return content === undefined ? undefined : Buffer.from(content);
    },
    async merge({ author: _, ...order }) {
      const answer = merge(order);
      if (answer.kind === "diverged") throw new Fault("git.diverged", "That takes a merge.");
      return answer;
    },
    async mergeAll({ onto, entries }) {
      let top = onto;
      return entries.map((entry) => {
        const answer = merge({ ...entry, onto: top });
        if (answer.kind === "merged" || answer.kind === "fast-forward") top = answer.commit;
        return answer;
      });
    },
    async predictConflicts(commit, others) {
      return others.map((other) => {
        const result = commits.merge(commit, other);
        return result.kind === "conflict" ? conflict(result.files) : undefined;
      });
    },
    revertMerge: unavailable,
    async moveRef(ref, to, from) {
      if (refs.get(ref) !== from) throw new Fault("git.ref-moved", `${ref} is elsewhere.`);
      repositories.moveRef(ref, to);
      changed("move");
    },
    async publish({ branch, commit, expected }) {
      const at = branches.get(branch);
      if (at !== undefined && commits.isAncestor(commit, at)) return { kind: "published", at };
      if (at !== expected) return { kind: "moved", to: at };
      const inTheWay = waits(commit, at);
      if (inTheWay !== undefined) return inTheWay;
      if (at !== undefined && !commits.isAncestor(at, commit)) return { kind: "moved", to: at };
      branches.set(branch, commit);
      changed("publish");
      return { kind: "published", at: commit };
    },
    async restoreBranch({ branch, commit }) {
      if (!branches.has(branch)) branches.set(branch, commit);
      changed("restore");
    },
    inTheWay: async ({ branch, commit }) => waits(commit, branches.get(branch)),
    pushBranch: unavailable,
    deleteRemoteBranch: unavailable,
    tidy: async () => false,
  };
}

function nameOf(text: string): FileName {
  return { text, bytes: Buffer.from(text) };
}

async function unavailable(): Promise<never> {
  throw new Fault("git.failed", "Nobody asks for this in a simulated life.");
}
