import { Refusal } from "../../api/client.ts";
import type { FindingsView } from "../../api/person.ts";
import type { Routes } from "../../api/routes.ts";
import { emptyLedger, type Finding, isUnsettled, noteOf } from "../../engine/findings.ts";
import type { Actor, Request } from "../../engine/request.ts";
import { lastReview } from "../../engine/review-words.ts";
import type { Task } from "../../engine/task.ts";
import { actorFor, findTask } from "../authorise.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";
import { allTasks } from "../project.ts";

export function listFindings(core: Core): Handler<Routes["listFindings"]> {
  return async (asked) => viewOf(core, (await findTask(core, asked)).task);
}

/** A person decides about findings. */
export function decideFindings(core: Core): Handler<Routes["decideFindings"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { findings, state, reason = "" } = asked.body;
    const request = (actor: Actor): Request => ({ kind: "finding", actor, findings, state, reason: reason.trim() });
    const answer = await core.submit(stored.task.id, request(await actorFor(core, stored, asked, request)));
    if (answer.decision.kind === "rejected") throw new Refusal(answer.decision.reasons);
    return viewOf(core, answer.stored.task);
  };
}

/** A person adds a finding. */
export function addFinding(core: Core): Handler<Routes["addFinding"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { file, text, line = 0, severity = "medium" } = asked.body;
    const finding = { file, text, line, severity };
    const request = (actor: Actor): Request => ({ kind: "own_finding", actor, finding });
    const answer = await core.submit(stored.task.id, request(await actorFor(core, stored, asked, request)));
    if (answer.decision.kind === "rejected") throw new Refusal(answer.decision.reasons);
    return viewOf(core, answer.stored.task);
  };
}

async function viewOf({ store, workflows }: Core, task: Task): Promise<FindingsView> {
  const { id, ledger: { round, quiet, findings } = emptyLedger } = task;
  const workflow = await workflows.get(task.workflowHash);
  const parts = (await allTasks(store, { parent: id })).flatMap(({ task: { id, part, ledger } }) => {
    if (part === undefined || ledger === undefined) return [];
    const open = ledger.findings.filter(({ state }) => isUnsettled(state)).length;
    return [{ task: id, item: part.item, round: ledger.round, open, found: ledger.findings.length }];
  });
  const said = workflow === undefined ? "" : lastReview(workflow, task);
  return { task: id, round, quiet, said, findings: findings.map(shown), parts };
}

function shown({ unseenBy: _, ...finding }: Finding): FindingsView["findings"][number] {
  return { ...finding, reason: finding.by === "human" ? "" : finding.reason, note: noteOf(finding) };
}
