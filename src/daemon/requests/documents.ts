import type { Routes } from "../../api/routes.ts";
import { renderTaskDocument } from "../../engine/render-task-document.ts";
import type { Task } from "../../engine/task.ts";
import { parseTaskDocument } from "../../engine/task-document.ts";
import { Fault } from "../../fault.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { documentChanged, type Seen } from "../look.ts";
import { isoTime } from "../views.ts";
import { writeDocument } from "../write-document.ts";
import { findTask } from "./find-task.ts";
import { actorFor } from "./standing.ts";

export function getDocument(core: Core): Handler<Routes["getDocument"]> {
  return async (asked) => {
    const { task, updatedAt } = await findTask(core, asked);
    const { text, authors } = (await asWritten(core, task)).document;
    const artifacts = await core.store.listArtifacts(task.id);
    return {
      text: renderTaskDocument({ ...task, updatedAt: isoTime(updatedAt) }, parseTaskDocument(text)),
      authors: Object.fromEntries(
        Object.entries(authors).map(([heading, { role, run, commit }]) => [heading, { role, run, commit }]),
      ),
      artifacts: artifacts.map(({ section, hash, role, run, commit, at }) => ({
        section,
        hash,
        role,
        run,
        commit,
        at: isoTime(at),
      })),
    };
  };
}

export function putDocument(core: Core): Handler<Routes["putDocument"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { task } = stored;
    // Asked as an edit: nothing about where the task stands changes.
    const actor = await actorFor(core, stored, asked, (actor) => ({ kind: "edit", set: {}, actor }));
    const workflow = await core.workflows.get(task.workflowHash);
    // Two who write at once each keep the other's sections: the second must see what the first has saved.
    return core.inTurn(task.id, async () => {
      // What an agent has written since stays the agent's, also where it is handed in with the rest.
      const { document: before, changes, head } = await asWritten(core, task);
      // What a run says is about the work as it is now; a person's word holds until the person takes it back.
      const commit = actor.run === undefined ? "" : head;
      const { document, changed, ignored } = writeDocument(workflow, before, asked.body.text, actor, commit);
      if (changed.length > 0 || document.text !== before.text) {
        const events = [...changes, documentChanged(actor, changed)];
        await core.store.saveDocument(task.id, document, events, core.clock.now());
      }
      return { changed, ignored };
    });
  };
}

/** The document with what agents have in their files by now; as it was saved where nobody can look. */
async function asWritten(
  core: Core,
  task: Task,
): Promise<Pick<Seen, "document" | "changes"> & { readonly head: string }> {
  try {
    const { document, changes, facts } = await core.lookFor(task);
    return { document, changes, head: facts.head };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { document: await core.store.getDocument(task.id), changes: [], head: "" };
  }
}
