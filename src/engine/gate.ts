import type { Reason } from "./decision.ts";
import { defaultNames } from "./default-names.ts";
import { enter } from "./enter.ts";
import { ownsSection } from "./ownership.ts";
import type { Artifact, Facts } from "./request.ts";
import type { Task } from "./task.ts";
import type { Gate, Way, Workflow } from "./workflow.ts";
import { takesWorkspace } from "./workspace-order.ts";

/** Says why a gate is closed; undefined where it is open. */
export function gateReason(gate: Gate, workflow: Workflow, task: Task, facts: Facts): Reason | undefined {
  const section = facts.document.byHeading.get(gate.section);
  if (section === undefined || section.body === "") return absentReason(gate, section === undefined);
  // A section may be called "constructor", which every plain record seems to have.
  const artifact = Object.hasOwn(facts.artifacts, gate.section) ? facts.artifacts[gate.section] : undefined;
  const misplaced = artifact && artifactReason(gate, workflow, artifact, facts.head);
  if (misplaced !== undefined) return misplaced;
  const { spent } = task;
  if (spent.sections.includes(section.fingerprint) && (gate.verdict !== undefined || facts.head === spent.head)) {
    const text = `## ${gate.section} has not changed since the task entered "${task.status}", so it is used up.`;
    return { code: "gate-spent", text, fix: `Write ## ${gate.section} anew for what was done since.` };
  }
  return fieldReason(gate, section.body) ?? verdictReason(gate, section.body);
}

function absentReason(gate: Gate, isMissing: boolean): Reason {
  const heading = `## ${gate.section}`;
  if (isMissing)
    return {
      code: "gate-missing",
      text: `${heading} is missing from the task file.`,
      fix: `Write ${heading}, then ask again.`,
    };
  return { code: "gate-empty", text: `${heading} has no content.`, fix: `Write it under ${heading}, then ask again.` };
}

/** What counts must come from somebody whose section it is, and a verdict must be for the commit it lets pass. */
function artifactReason(gate: Gate, workflow: Workflow, artifact: Artifact, head: string): Reason | undefined {
  // A person may stand in for anybody: that is what the person could do by hand.
  if (artifact.role !== "human" && !ownsSection(workflow, artifact.role, gate.section)) {
    const owners = workflow.owners[gate.section] ?? [];
    const who = owners.length > 0 ? owners.join(" or ") : defaultNames.roles.task;
    const text = `## ${gate.section} was written by ${artifact.role}, but only ${who} can.`;
    return { code: "gate-author", text, fix: `Let ${who} write it.` };
  }
  if (gate.verdict === undefined || artifact.commit === "" || head === "" || artifact.commit === head) return undefined;
  const text = `The verdict in ## ${gate.section} is for commit ${short(artifact.commit)}, but the branch is at ${short(head)}.`;
  // The same words again could not be told from those that stand there already.
  const fix = `Review the present commit and write the verdict again, with ${short(head)} below its first line.`;
  return { code: "gate-stale", text, fix };
}

/** Why a way is closed as far as artifacts go, and the workspace it would need. */
export function gateReasons(way: Way, workflow: Workflow, task: Task, facts: Facts): readonly Reason[] {
  let reasons = facts.poolFull && needsWorkspace(way, workflow, task, facts) ? [noWorkspace] : none;
  if (way.gates.length === 0) return reasons;
  for (const gate of way.gates) {
    const reason = gateReason(gate, workflow, task, facts);
    if (reason !== undefined) reasons = [...reasons, reason];
  }
  if (facts.unreadable !== undefined) {
    const { reason: text, fix } = facts.unreadable;
    reasons = [{ code: "task-file-unreadable", text, fix }, ...reasons];
  }
  if (!facts.taskFileTracked) return reasons;
  const text = "The branch contains the task file, which must stay out of git.";
  const fix = "Remove it from the branch with git rm --cached, commit, then ask again.";
  return [...reasons, { code: "task-file-tracked", text, fix }];
}

const none: readonly Reason[] = [];

// Refused before the status moves: a task in a state whose workspace never came would wait for an agent that never starts.
export const noWorkspace: Reason = {
  code: "pool-full",
  text: "All workspaces of the project are taken.",
  fix: "Wait for a task to end, or enlarge the project's pool_size.",
};

function needsWorkspace(way: Way, workflow: Workflow, task: Task, facts: Facts): boolean {
  const entered = enter(workflow, task, way, "engine", "", facts);
  return entered.kind === "moved" && takesWorkspace(entered.effects, facts);
}

function fieldReason(gate: Gate, body: string): Reason | undefined {
  if (gate.fields.length === 0) return undefined;
  const heading = `## ${gate.section}`;
  let empty: string | undefined;
  for (const line of body.split("\n")) {
    const found = fieldIn(line);
    if (found === undefined || !gate.fields.includes(found.field)) continue;
    if (found.content !== "") return undefined;
    empty ??= line.trim();
  }
  const wanted = gate.fields.map((field) => `${field}:`).join(", ");
  if (empty !== undefined) {
    return {
      code: "gate-field",
      text: `${heading} has the line "${empty}" with nothing behind the colon.`,
      fix: "Put the content on the same line, then ask again.",
    };
  }
  return {
    code: "gate-field",
    text: `${heading} has none of the lines ${wanted}`,
    fix: "Write at least one of them with content on the same line, then ask again.",
  };
}

/**
 * `Name: content`. Agents like to make a list of the fields, and to set them in bold. Looked at from left to right, once:
 * lines are as long as agents make them.
 */
function fieldIn(line: string): { readonly field: string; readonly content: string } | undefined {
  const start = /^\s*(?:[-*+]\s+)?[*_]*/.exec(line)?.[0].length ?? 0;
  const colon = line.indexOf(":", start);
  if (colon === -1) return undefined;
  let end = colon;
  while (end > start && isEmphasis(line, end - 1)) end--;
  const field = line.slice(start, end);
  if (!/^[A-Za-z][A-Za-z0-9_ -]*$/.test(field)) return undefined;
  let behind = colon + 1;
  while (isEmphasis(line, behind)) behind++;
  return { field, content: line.slice(behind).trim() };
}

function isEmphasis(line: string, index: number): boolean {
  const char = line[index];
  return char === "*" || char === "_";
}

/** The verdict that a line consists of, also in bold. Each pattern leaves nothing to choose, so that it fails at once. */
function verdictIn(line: string): string | undefined {
  const head = /^[*_]*Verdict:[*_]*/i.exec(line)?.[0];
  if (head === undefined) return undefined;
  return /^[*_]*(PASS|FAIL)[*_]*\.?$/i.exec(line.slice(head.length).trim())?.[1]?.toUpperCase();
}

/** What the prompts ask for to the letter; everything else is looked at more closely. */
const exactVerdicts = { PASS: "Verdict: PASS\n", FAIL: "Verdict: FAIL\n" };
const anyVerdict = /\b(PASS|FAIL)\b/i;

function verdictReason(gate: Gate, body: string): Reason | undefined {
  if (gate.verdict === undefined || (gate.firstLine && body.startsWith(exactVerdicts[gate.verdict]))) return undefined;
  const other = gate.verdict === "PASS" ? "FAIL" : "PASS";
  const line = gate.firstLine ? firstLine(body) : "";
  const found = gate.firstLine ? verdictIn(line) : anyVerdict.exec(body)?.[1]?.toUpperCase();
  if (found === gate.verdict) return undefined;
  const heading = `## ${gate.section}`;
  if (found === other) {
    const text = `${heading} says ${other}, but this way needs ${gate.verdict}.`;
    return { code: "gate-verdict", text, fix: "Ask for the state that fits the verdict." };
  }
  if (!gate.firstLine) {
    return {
      code: "gate-verdict",
      text: `${heading} says neither PASS nor FAIL.`,
      fix: "Write PASS or FAIL into the section.",
    };
  }
  const text = `The first line of ${heading} is "${line.trim()}", which is no verdict.`;
  return { code: "gate-verdict", text, fix: 'Begin the section with "Verdict: PASS" or "Verdict: FAIL".' };
}

/** Bodies come without blank lines around them. */
function firstLine(body: string): string {
  const end = body.indexOf("\n");
  return end < 0 ? body : body.slice(0, end);
}

function short(commit: string): string {
  return commit.slice(0, 10);
}
