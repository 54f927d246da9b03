import type { Artifact, Facts } from "../engine/request.ts";
import type { Task } from "../engine/task.ts";
import type { TaskDocument } from "../engine/task-document.ts";
import type { Author, Store, StoredDocument } from "../ports/store.ts";
import { parsedDocument } from "./parsed-document.ts";
import type { WorkspaceFacts } from "./workspaces/workspace-facts.ts";

/** What is true outside a task at this moment. */
export type FactsOf = (task: Task, document?: StoredDocument, workspace?: WorkspaceFacts) => Promise<Facts>;

export function createFacts(store: Store, poolFull: (task: Task) => Promise<boolean>): FactsOf {
  return async (task, given, workspace = unseen(task)) => {
    const stored = given ?? (await store.getDocument(task.id));
    const isFull = task.workspace === "" && (await poolFull(task));
    // Half of all decisions do not look at the document, and taking it apart is a third of what a decision costs.
    const document = () => parsedDocument(stored);
    let artifacts: Facts["artifacts"] | undefined;
    return {
      get document() {
        return document();
      },
      get artifacts() {
        artifacts ??= artifactsOf(document(), stored.authors);
        return artifacts;
      },
      ...workspace,
      poolFull: isFull,
    };
  };
}

/** Where nobody can look into workspaces, all that is known is whether there is one. */
export function unseen(task: Task): WorkspaceFacts {
  return { head: "", numbers: { workspace: task.workspace === "" ? 0 : 1 }, taskFileTracked: false };
}

/** Who wrote the sections, as far as they still are what their author wrote. */
function artifactsOf(
  document: TaskDocument,
  authors: Readonly<Record<string, Author>>,
): Readonly<Record<string, Artifact>> {
  const artifacts: Record<string, Artifact> = Object.create(null);
  for (const [heading, { role, commit, fingerprint }] of Object.entries(authors)) {
    if (document.byHeading.get(heading)?.fingerprint === fingerprint) artifacts[heading] = { role, commit };
  }
  return artifacts;
}
