import { Refusal } from "../../api/client.ts";
import type { FindingsView } from "../../api/person.ts";
import type { Routes } from "../../api/routes.ts";
import { emptyLedger } from "../../engine/findings.ts";
import type { Actor, Request } from "../../engine/request.ts";
import type { Task } from "../../engine/task.ts";
import { actorFor, findTask } from "../authorise.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";

export function listFindings(core: Core): Handler<Routes["listFindings"]> {
  return async (asked) => viewOf((await findTask(core, asked)).task);
}

/** A person decides about findings. */
export function decideFindings(core: Core): Handler<Routes["decideFindings"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { findings, state, reason = "" } = asked.body;
    const request = (actor: Actor): Request => ({ kind: "finding", actor, findings, state, reason: reason.trim() });
    const answer = await core.submit(stored.task.id, request(await actorFor(core, stored, asked, request)));
    if (answer.decision.kind === "rejected") throw new Refusal(answer.decision.reasons);
    return viewOf(answer.stored.task);
  };
}

function viewOf({ id, ledger: { round, quiet, findings } = emptyLedger }: Task): FindingsView {
  return { task: id, round, quiet, findings: [...findings] };
}
