import type { Reason } from "./decision.ts";
import { enter, takesWorkspace } from "./enter.ts";
import type { Artifact, Facts } from "./request.ts";
import { defaultNames } from "./run-spec.ts";
import type { Task } from "./task.ts";
import type { Gate, State, Way, Workflow } from "./workflow.ts";

/** Why a gate is closed; undefined where it is open. */
export function gateReason(gate: Gate, workflow: Workflow, task: Task, facts: Facts): Reason | undefined {
  const section = facts.document.byHeading.get(gate.section);
  if (section === undefined || section.body === "") return absentReason(gate, section === undefined);
  // A section may be called "constructor", which plain objects inherit.
  const artifact = Object.hasOwn(facts.artifacts, gate.section) ? facts.artifacts[gate.section] : undefined;
  const misplaced = artifact && authorReason(gate, workflow, artifact);
  if (misplaced !== undefined) return misplaced;
  const { spent } = task;
  if (spent.sections.includes(section.fingerprint) && (gate.verdict !== undefined || facts.head === spent.head)) {
    const text = `## ${gate.section} has not changed since the task entered "${task.status}", so it does not count again.`;
    return { code: "gate-spent", text, fix: `Rewrite ## ${gate.section} for the work since then.` };
  }
  const stale = artifact && staleReason(gate, artifact, facts.head);
  return stale ?? fieldReason(gate, section.body) ?? verdictReason(gate, section.body);
}

function absentReason(gate: Gate, isMissing: boolean): Reason {
  const heading = `## ${gate.section}`;
  if (isMissing)
    return {
      code: "gate-missing",
      text: `${heading} is missing from the task file.`,
      fix: `Write ${heading}, then ask again.`,
    };
  return {
    code: "gate-empty",
    text: `${heading} has no content.`,
    fix: `Write the content under ${heading}, then ask again.`,
  };
}

/** A section counts only if a role that owns it wrote it. A person may write every section. */
function authorReason(gate: Gate, workflow: Workflow, artifact: Artifact): Reason | undefined {
  if (artifact.role === "human" || ownsSection(workflow, artifact.role, gate.section)) return undefined;
  const owners = workflow.owners[gate.section] ?? [];
  const who = owners.length > 0 ? owners.join(" or ") : defaultNames.roles.task;
  const text = `## ${gate.section} was written by ${artifact.role}, but only ${who} may write it.`;
  return { code: "gate-author", text, fix: `Let ${who} write it.` };
}

/** A PASS counts only for the commit that it is about. */
function staleReason(gate: Gate, artifact: Artifact, head: string): Reason | undefined {
  // A FAIL sends work back, whatever has been added to it since.
  if (gate.verdict !== "PASS" || artifact.commit === "" || head === "" || artifact.commit === head) return undefined;
  const text = `The verdict in ## ${gate.section} is for commit ${short(artifact.commit)}, but the branch is at ${short(head)}.`;
  // The same text again would have the same fingerprint as the old verdict.
  const fix = `Review the current commit and write the verdict again, with ${short(head)} below its first line.`;
  return { code: "gate-stale", text, fix };
}

/** Why a way is closed: missing evidence, or a missing workspace. */
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
  return [...reasons, ...trackedReasons(facts)];
}

/** Why work whose branch contains the task file does not count. */
export function trackedReasons({ taskFileTracked, taskFile = "TASK.md" }: Facts): readonly Reason[] {
  if (!taskFileTracked) return none;
  const text = `The branch contains the task file ${taskFile}, which must stay out of git.`;
  const fix = `Run git rm --cached ${taskFile} and commit, then ask again.`;
  return [{ code: "task-file-tracked", text, fix }];
}

const none: readonly Reason[] = [];

// Refused before the task moves: in a state without its workspace it would wait for an agent that never starts.
export const noWorkspace: Reason = {
  code: "pool-full",
  text: "All workspaces of the project are in use.",
  fix: "Wait for a task to end, or increase the project's pool_size.",
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
      text: `${heading} has the line "${empty}" with nothing after the colon.`,
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
 * Parses `Name: content`. Agents often write the fields as a list, or in bold. The scan is linear, because lines can be
 * of any length.
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

/**
 * The verdict that a line consists of, also in bold. The patterns cannot backtrack, so that they are fast on any line.
 */
function verdictIn(line: string): string | undefined {
  const head = /^[*_]*Verdict:[*_]*/i.exec(line)?.[0];
  if (head === undefined) return undefined;
  return /^[*_]*(PASS|FAIL)[*_]*\.?$/i.exec(line.slice(head.length).trim())?.[1]?.toUpperCase();
}

/** The exact form that the prompts ask for, as a fast path. */
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
  const text = `The first line of ${heading} is "${line.trim()}", which is not a verdict.`;
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

/** Sections that belong to people, whichever gates read them. */
export const humanSections = ["Context", "Answers", "Feedback"];

/**
 * The owners of each gated section: the roles that may ask for the ways it gates; where a way names none, the role that
 * is started for the state that the way leaves.
 */
export function sectionOwners(
  states: Readonly<Record<string, State>>,
  ways: readonly Way[],
): Readonly<Record<string, readonly string[]>> {
  const owners: Record<string, string[]> = Object.create(null);
  for (const way of ways) {
    for (const gate of way.gates) {
      const found = owners[gate.section] ?? [];
      owners[gate.section] = found;
      for (const role of writersOf(states, ways, way)) if (!found.includes(role)) found.push(role);
    }
  }
  for (const section of humanSections) if (owners[section]) owners[section] = ["human"];
  return owners;
}

/**
 * Whether a section counts when this role writes it: its own sections; for the worker also sections without an owner.
 */
export function ownsSection(workflow: Workflow, role: string, section: string): boolean {
  if (humanSections.includes(section)) return role === "human";
  const owners = workflow.owners[section];
  if (owners === undefined) return role === defaultNames.roles.task;
  // A gated section without any owner, because no agent runs before its gate: every role may write it.
  return owners.length === 0 || owners.includes(role);
}

function writersOf(states: Readonly<Record<string, State>>, ways: readonly Way[], way: Way): readonly string[] {
  const named = way.by?.filter((role) => role !== "engine");
  if (named !== undefined && named.length > 0) return named;
  const wait = states[way.from]?.wait;
  if ((wait?.kind === "agent" || wait?.kind === "human") && wait.run !== undefined) return [wait.run.role];
  return ways
    .filter((each) => each.to === way.from)
    .flatMap((each) => each.hooks.flatMap((hook) => hook.run?.role ?? []));
}
