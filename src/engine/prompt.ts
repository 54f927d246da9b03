import { oneLine } from "../text.ts";
import { writeFindings } from "./findings.ts";
import { writeDocuments, writeMessages } from "./handed.ts";
import { builtInVariables } from "./language/read-settings.ts";
import { nextStages } from "./stages.ts";
import type { Task } from "./task.ts";
import { fill } from "./template.ts";
import { settingOf } from "./when.ts";
import type { Workflow } from "./workflow.ts";

/** Variables that the daemon provides: `cli`, `task_file`, `base`, `diff`, `parent.branch`, … */
export type OutsideValues = Readonly<Record<string, string>>;

type Built = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string };

/** Builds the prompt of an agent. Values are data: variables in them are not filled in. */
export function buildPrompt(workflow: Workflow, task: Task, key: string, outside: OutsideValues, message = ""): Built {
  const prompt = key === "" ? "" : workflow.prompts[key];
  if (prompt === undefined) return { ok: false, problem: `The workflow "${workflow.name}" has no prompt "${key}".` };
  const told = fillText(workflow, task, prompt, outside);
  if (!told.ok || message === "") return told;
  const added = fillText(workflow, task, message, outside);
  if (!added.ok) return added;
  return { ok: true, text: told.text === "" ? added.text : `${told.text.trimEnd()}\n\n${added.text}\n` };
}

/** Fills any text of a workflow: a message, a branch name, a window's name. */
export function fillText(workflow: Workflow, task: Task, text: string, outside: OutsideValues): Built {
  const filled = fill(text, (name) => variable(workflow, task, name, outside));
  if (filled.ok) return { ok: true, text: filled.text };
  const names = filled.unknown.map((name) => `{${name}}`).join(", ");
  return { ok: false, problem: `There is no value for ${names}.` };
}

/** A text of a workflow for a person: `{cli}` becomes `signalbox`. */
export function textForPerson(workflow: Workflow, task: Task, text: string): string {
  const filled = fillText(workflow, task, text, { cli: "signalbox" });
  return filled.ok ? filled.text : text.replaceAll("{cli}", "signalbox");
}

/** A known variable without a value is empty; undefined means that there is no such variable. */
function variable(workflow: Workflow, task: Task, name: string, outside: OutsideValues): string | undefined {
  if (Object.hasOwn(outside, name)) return outside[name];
  if (name === "next_stages") return nextStages(workflow, task).join(", ");
  const own = ofTask(task)[name];
  if (own !== undefined) return own;
  const [head = "", ...path] = name.split(".");
  if (head === "parent" && path.length === 1) return isKnown(workflow, path[0] ?? "") ? "" : undefined;
  if (Object.hasOwn(workflow.schemas, head) && (path.length > 0 || !Object.hasOwn(builtInVariables, head))) {
    return write(path.reduce<unknown>(field, task.results[head]));
  }
  if (path.length > 0) return undefined;
  if (workflow.counters.includes(name)) return String(task.counters[name] ?? 0);
  if (Object.hasOwn(workflow.settings, name)) return write(settingOf(workflow, task, name));
  return isKnown(workflow, name) ? "" : undefined;
}

function ofTask(task: Task): Readonly<Record<string, string | undefined>> {
  return {
    id: task.id,
    number: String(task.number),
    project: task.project,
    branch: task.branch,
    summary: oneLine(task.summary),
    title: task.part?.title,
    description: task.part?.description,
    agent_number: task.part?.slot === undefined ? undefined : String(task.part.slot),
    workflow: task.workflow,
    status: task.status,
    previous_status: task.previousStatus,
    harness: task.harness,
    review_harness: task.reviewHarness,
    review_round: String(task.counters.review_round ?? 0),
    crash_count: String(task.crashCount),
    workspace: task.workspace,
    tmux_session: task.tmuxSession,
    pr_url: task.prUrl,
    review_at: task.prUrl || `the branch ${task.branch} (signalbox task diff ${task.id})`,
    ticket: task.ticket,
    labels: task.labels.join(", "),
    priority: String(task.priority),
    reason: task.reason || (task.part?.reason ?? ""),
    refused: task.wait.refused ?? "",
    findings: writeFindings(task.ledger, "open", "approved"),
    approved: writeFindings(task.ledger, "approved"),
    closed_findings: writeFindings(task.ledger, "fixed", "dismissed", "noted"),
    documents: writeDocuments(task),
    messages: writeMessages(task),
    log: task.log.map((entry) => `${entry.from}: ${entry.text}`).join("\n"),
  };
}

function isKnown(workflow: Workflow, name: string): boolean {
  return (
    Object.hasOwn(builtInVariables, name) || Object.hasOwn(workflow.settings, name) || workflow.counters.includes(name)
  );
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function write(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value, undefined, 2) : String(value);
}
