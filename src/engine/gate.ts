import type { Reason } from "./decision.ts";
import type { Facts } from "./request.ts";
import type { Task } from "./task.ts";
import type { Gate, Way, Workflow } from "./workflow.ts";

/** Says why a gate is closed; undefined where it is open. */
export function gateReason(gate: Gate, workflow: Workflow, task: Task, facts: Facts): Reason | undefined {
  const heading = `## ${gate.section}`;
  const section = facts.document.byHeading.get(gate.section);
  if (section === undefined) {
    return {
      code: "gate-missing",
      text: `${heading} is missing from the task file.`,
      fix: `Write ${heading}, then ask again.`,
    };
  }
  if (section.body.trim() === "") {
    return {
      code: "gate-empty",
      text: `${heading} has no content.`,
      fix: `Write it under ${heading}, then ask again.`,
    };
  }

  const artifact = facts.artifacts[gate.section];
  const owners = workflow.owners[gate.section];
  if (artifact !== undefined && owners !== undefined && owners.length > 0 && !owners.includes(artifact.role)) {
    const text = `${heading} was written by ${artifact.role}, but only ${owners.join(" or ")} can.`;
    return { code: "gate-author", text, fix: `Let ${owners[0]} write it.` };
  }
  // A verdict judges one commit; what was written for another says nothing about this one.
  if (
    gate.verdict !== undefined &&
    artifact !== undefined &&
    artifact.commit !== "" &&
    facts.head !== "" &&
    artifact.commit !== facts.head
  ) {
    const text = `The verdict in ${heading} is for commit ${short(artifact.commit)}, but the branch is at ${short(facts.head)}.`;
    return { code: "gate-stale", text, fix: "Review the present commit and write the verdict again." };
  }
  if (
    task.spent.sections[gate.section] === section.fingerprint &&
    (gate.verdict !== undefined || facts.head === task.spent.head)
  ) {
    const text = `${heading} has not changed since the task entered "${task.status}", so it is used up.`;
    return { code: "gate-spent", text, fix: `Write ${heading} anew for what was done since.` };
  }
  return fieldReason(gate, heading, section.body) ?? verdictReason(gate, heading, section.body);
}

/** Why a way is closed as far as artifacts go. */
export function gateReasons(way: Way, workflow: Workflow, task: Task, facts: Facts): readonly Reason[] {
  if (way.gates.length === 0) return none;
  const reasons = way.gates.flatMap((gate) => gateReason(gate, workflow, task, facts) ?? []);
  if (!facts.taskFileTracked) return reasons;
  const text = "The branch contains the task file, which must stay out of git.";
  return [
    ...reasons,
    { code: "task-file-tracked", text, fix: "Remove it from the branch with git rm --cached, commit, then ask again." },
  ];
}

const none: readonly Reason[] = [];

function fieldReason(gate: Gate, heading: string, body: string): Reason | undefined {
  if (gate.fields.length === 0) return undefined;
  let empty: string | undefined;
  for (const line of body.split("\n")) {
    const colon = line.indexOf(":");
    if (colon < 1 || !gate.fields.includes(line.slice(0, colon))) continue;
    if (line.slice(colon + 1).trim() !== "") return undefined;
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

// Agents like to set the verdict in bold.
const firstLineVerdict = /^\s*[*_]*Verdict:[*_]*\s*[*_]*(PASS|FAIL)[*_]*\.?\s*$/i;
const anyVerdict = /\b(PASS|FAIL)\b/i;

function verdictReason(gate: Gate, heading: string, body: string): Reason | undefined {
  if (gate.verdict === undefined) return undefined;
  const searched = gate.firstLine ? firstLine(body) : body;
  const found = (gate.firstLine ? firstLineVerdict : anyVerdict).exec(searched)?.[1]?.toUpperCase();
  if (found === gate.verdict) return undefined;
  if (found === undefined) {
    const text = gate.firstLine
      ? `The first line of ${heading} is "${searched.trim()}", which is no verdict.`
      : `${heading} says neither PASS nor FAIL.`;
    return {
      code: "gate-verdict",
      text,
      fix: gate.firstLine
        ? 'Begin the section with "Verdict: PASS" or "Verdict: FAIL".'
        : "Write PASS or FAIL into the section.",
    };
  }
  return {
    code: "gate-verdict",
    text: `${heading} says ${found}, but this way needs ${gate.verdict}.`,
    fix: "Ask for the state that fits the verdict.",
  };
}

function firstLine(body: string): string {
  const start = body.search(/\S/);
  const end = body.indexOf("\n", start);
  return start < 0 ? "" : body.slice(body.lastIndexOf("\n", start) + 1, end < 0 ? undefined : end);
}

function short(commit: string): string {
  return commit.slice(0, 10);
}
