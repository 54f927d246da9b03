import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Project } from "../../ports/store.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import type { Clash } from "./give-back.ts";

export interface Synchronised {
  readonly kind: "synchronised";
  /** Where the branch is now. */
  readonly commit: string;
  /** How many commits came in. */
  readonly commits: number;
}

/** Nothing was changed. */
export type Clashed = { readonly kind: "conflict"; readonly commit: string } & Clash;

/** Brings what is new in a branch of the user's into the task's branch, in its workspace. */
export async function syncBranch(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  from: string,
): Promise<Synchronised | Clashed> {
  const { control, kind, git } = own;
  const folder = task.workspace;
  const found = folder === "" ? undefined : await kind.inspect(folder);
  if (found?.kind !== "there" || found.branch === undefined)
    throw new Fault("sync.no-workspace", `${nameOf(task)} has no workspace with a branch in it.`, {
      hint: "A task gets its workspace when it starts.",
    });
  // TypeScript forgets it in the closure below.
  const { branch } = found;
  const tip = (await control.syncFrom({ from: project.path, name: "user" })).branches[from];
  if (tip === undefined) throw new Fault("sync.no-branch", `${project.path} has no branch "${from}".`);
  const { commit: head } = await control.collect({ folder, branch, task: task.id });
  const commits = await control.countCommits(head, tip);
  if (commits === 0) return { kind: "synchronised", commit: head, commits };
  const made = (await control.isAncestor(head, tip)) ? tip : await merged(head, tip);
  if (typeof made !== "string") return made;
  const [commit, done] = [made, { kind: "synchronised", commit: made, commits } as const];
  if (kind.kind === "clone") {
    await kind.forwardBranch(folder, commit);
    return done;
  }
  const result = await control.publish({ repository: folder, branch, commit, expected: head, signal });
  if (result.kind === "published") return done;
  if (result.kind === "moved")
    throw new Fault("sync.moved", `"${branch}" has moved just now.`, { retry: "later", hint: "Ask again." });
  throw new Fault("sync.in-the-way", result.text, { hint: "Then ask again." });

  async function merged(onto: string, other: string): Promise<string | Clashed> {
    const author = await git.identityOf(project.path);
    const message = `Merge ${from} into ${branch}\n`;
    const made = await control.merge({ onto, branch: other, strategy: "merge", message, author, date: clock.now() });
    if (made.kind === "merged" || made.kind === "fast-forward") return made.commit;
    if (made.kind === "up-to-date") return onto;
    const files = made.files.map(({ path }) => path.text);
    return { kind: "conflict", commit: onto, branch: from, files, text: made.text };
  }
}

function nameOf({ project, number }: Task): string {
  return `${project}#${number}`;
}
