import type { Routes } from "../../api/routes.ts";
import { stateOf } from "../../engine/enter.ts";
import { whyNobodyAsks } from "../../engine/nobody-asks.ts";
import { answerTarget } from "../../engine/persons-turn.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { findTask } from "./find-task.ts";
import { hasTerminal } from "./list-actions.ts";
import { mustBePerson, refuse, say, type Wish } from "./say.ts";

const tell = "The person has answered: read ## Answers in {task_file}, the newest comes last. Then go on.";

/** What a person answers goes into the task file, and the task goes on: only where somebody asks. Words are no consent. */
export function answerTask(core: Core): Handler<Routes["answerTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { text } = asked.body;
    const { task } = stored;
    const { workflow, facts } = await core.look(task);
    const { document } = facts;
    const to = asked.body.to ?? answerTarget(workflow, stateOf(workflow, task.status), document);
    const wish: Wish = to === undefined ? { kind: "continue" } : { kind: "move", to };
    await mustBePerson(core, asked, stored, wish);
    const around = { namesState: asked.body.to !== undefined, hasTerminal: await hasTerminal(core, task) };
    const reason = whyNobodyAsks(workflow, task, document, around);
    if (reason !== undefined) await refuse(core, stored, wish, reason);
    return say(core, stored, wish, { tell }, { section: "Answers", text });
  };
}
