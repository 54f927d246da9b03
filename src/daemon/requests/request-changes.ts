import type { Routes } from "../../api/routes.ts";
import { theWayBack } from "../../engine/ways-back.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { findTask } from "./find-task.ts";
import { mustBePerson, refuse, say, type Wish } from "./say.ts";

const tell = "The person asks for changes: read ## Feedback in {task_file}, the newest comes last. Then go on.";

/** What a person wants to be different goes into the task file, and the task to where an agent works on it again. */
export function requestChanges(core: Core): Handler<Routes["requestChanges"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { text, to } = asked.body;
    const back = theWayBack(await core.workflows.get(stored.task.workflowHash), stored.task, to);
    const wish: Wish = { kind: "move", to: typeof back === "string" ? back : "" };
    await mustBePerson(core, asked, stored, wish);
    if (typeof back !== "string") return refuse(core, stored, wish, back);
    return say(core, stored, wish, { tell }, { section: "Feedback", text });
  };
}
