import { Refusal } from "../../api/client.ts";
import type { HandedOver } from "../../api/hand-over.ts";
import { personTools, runToolNames } from "../../api/mcp-tools.ts";
import type { Routes } from "../../api/routes.ts";
import { documentsFolder } from "../../engine/handed.ts";
import type { Actor, Request } from "../../engine/request.ts";
import { nameOf } from "../../engine/run-ended.ts";
import { specOf } from "../../engine/run-spec.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import { actorFor, findTask } from "../authorise.ts";
import type { Caller } from "../callers.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";

/** A run says that its work is complete. The decision is saved before it is answered. */
export function completeWork(core: Core): Handler<Routes["completeWork"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { summary, outcome = "done", reason = "", documents = [] } = asked.body;
    const request = (actor: Actor): Request => ({
      ...{ kind: "complete", actor, summary: summary.trim(), outcome, reason: reason.trim(), documents },
    });
    const actor = await actorFor(core, stored, asked, request);
    const answer = await core.submit(stored.task.id, request(actor));
    if (answer.decision.kind === "rejected") throw new Refusal(answer.decision.reasons);
    const { id, documents: handed = [] } = answer.stored.task;
    const titles = handed.filter(({ run }) => run === actor.run).map(({ title }) => title);
    return { task: id, run: actor.run ?? "", outcome, documents: titles, isNew: answer.decision.kind !== "ignored" };
  };
}

export function sendStageMessage(core: Core): Handler<Routes["sendStageMessage"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { to, message: text, priority = "normal" } = asked.body;
    const request = (actor: Actor): Request => ({ kind: "message", actor, to, text, priority });
    const actor = await actorFor(core, stored, asked, request);
    const answer = await core.submit(stored.task.id, request(actor));
    if (answer.decision.kind === "rejected") throw new Refusal(answer.decision.reasons);
    return { task: stored.task.id, from: answer.from, to, isNew: answer.decision.kind !== "ignored" };
  };
}

export function listHandedOver(core: Core): Handler<Routes["listHandedOver"]> {
  return async (asked) => {
    const { task } = await findTask(core, asked);
    const { path } = asked.query;
    const all = (task.documents ?? []).map(({ file, entry: _, ...document }) => ({
      ...document,
      path: `${documentsFolder}/${file}`,
    }));
    const documents = path === undefined ? all : all.filter((document) => document.path === path);
    if (path !== undefined && documents.length === 0)
      throw new Fault("document.missing", `The task has no document "${path}".`, {
        hint: `It has: ${all.map((document) => document.path).join(", ") || "none"}.`,
      });
    return {
      task: task.id,
      documents: await Promise.all(
        documents.map(async (document) => ({
          ...document,
          ...(path === undefined ? {} : { text: (await core.store.artifactText(task.id, document.sha256)) ?? "" }),
        })),
      ),
      messages: (task.stageMessages ?? []).map(({ read, entry: _, ...message }) => ({
        ...message,
        isRead: read.length > 0,
      })),
      ...(asked.caller.kind === "human" ? await forPeople(core, task) : {}),
    };
  };
}

async function forPeople({ store }: Core, { id, results }: Task): Promise<Pick<HandedOver, "answers" | "pullRequest">> {
  const record = await store.pullRequests.get(id);
  const answers = Object.entries(results).map(([schema, answer]) => ({ schema, answer }));
  if (record === undefined) return { answers, pullRequest: null };
  const { number, url, title, body, comments } = record;
  return { answers, pullRequest: { number, url, title, body, comments: Object.values(comments) } };
}

export function listTools(core: Core): Handler<Routes["listTools"]> {
  return async ({ caller }) => {
    if (caller.kind === "run") return { caller: "run", tools: await toolsOf(core, caller) };
    return { caller: "person", tools: personTools(nowhere).map(({ name }) => name) };
  };
}

/** For a list of names nothing is called. */
const nowhere = () => Promise.reject(new Error("Nothing is called here."));

/** The names of the tools that the workflow gives a run in the state that its task is in. */
export async function toolsOf(
  { store, workflows }: Pick<Core, "store" | "workflows">,
  { credential: { task: id, run } }: Extract<Caller, { kind: "run" }>,
): Promise<readonly string[]> {
  const task = (await store.getTask(id))?.task;
  const name = task && nameOf(task, run);
  if (task === undefined || name === undefined) return runToolNames(undefined);
  const workflow = await workflows.get(task.workflowHash);
  const state = workflow.states[task.status];
  return runToolNames(state === undefined ? undefined : specOf(workflow, state, name).tools);
}
