import type { Routes } from "../../api/routes.ts";
import { renderTaskDocument } from "../../engine/render-task-document.ts";
import { parseTaskDocument } from "../../engine/task-document.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { documentChanged } from "../look.ts";
import { isoTime } from "../views.ts";
import { writeDocument } from "../write-document.ts";
import { findTask } from "./find-task.ts";
import { actorFor } from "./standing.ts";

export function getDocument(core: Core): Handler<Routes["getDocument"]> {
  return async (asked) => {
    const { task } = await findTask(core, asked);
    const { text, authors } = await core.store.getDocument(task.id);
    const artifacts = await core.store.listArtifacts(task.id);
    return {
      text: renderTaskDocument(task, parseTaskDocument(text)),
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
      const before = await core.store.getDocument(task.id);
      const { document, changed, ignored } = writeDocument(workflow, before, asked.body.text, actor, "");
      if (changed.length > 0 || document.text !== before.text) {
        await core.store.saveDocument(task.id, document, [documentChanged(actor, changed)], core.clock.now());
      }
      return { changed, ignored };
    });
  };
}
