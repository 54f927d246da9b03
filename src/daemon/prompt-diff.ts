import { givenCommit } from "../engine/judging.ts";
import type { Task } from "../engine/task.ts";
import type { Store } from "../ports/store.ts";
import { placeOf, type Where } from "./landing-place.ts";
import { projectOf } from "./project.ts";
import { taskCommit } from "./task-work.ts";
import type { WorkspacesOf } from "./workspaces/project-workspaces.ts";

/** A task's change against the branch that it goes into, as text for a prompt; empty where it has no commit. */
export type DiffOf = (task: Task) => Promise<string>;

interface DiffPorts {
  readonly store: Store;
  readonly workspacesOf: WorkspacesOf;
  where(): Where;
}

/** A prompt may be one argument of a command line, which Linux limits to 128 KB. */
const maxBytes = 48_000;
const maxFiles = 200;

export function createDiffOf({ store, workspacesOf, where }: DiffPorts): DiffOf {
  return async (task) => {
    const project = await projectOf(store, task.project);
    const own = await workspacesOf(project);
    const { control } = own;
    const commit = givenCommit(task) || (await taskCommit(own, project, task));
    const start = await (await placeOf({ store, where: where() }, own, project, task)).start();
    if (commit === undefined || start === undefined) return "";
    const base = (await control.mergeBase(start, commit)) ?? start;
    const { bytes, isCut } = await control.diff(base, commit, maxBytes);
    const text = Buffer.from(bytes).toString("utf8");
    if (!isCut) return text;
    const lines = await control.changedLines(base, commit);
    const files = lines
      .slice(0, maxFiles)
      .map(({ path, added = 0, deleted = 0 }) => `${path.text} +${added} -${deleted}`);
    const more = lines.length > maxFiles ? [`… and ${lines.length - maxFiles} more`] : [];
    // The last line may be half of one.
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    return [
      `${whole}… The rest of the diff is left out: it is too long. All changed files:`,
      ...[...files, ...more],
      `Read the rest: git diff ${base} ${commit} -- PATH`,
    ].join("\n");
  };
}
