import { show } from "../answers/schema.ts";
import { isJsonObject } from "../json.ts";
import { cutText, oneLine } from "../text.ts";
import { readFile } from "./plan-files.ts";
import { isSameEvidence, likeness } from "./same-finding.ts";
import type { RunSpec, Workflow } from "./workflow.ts";

/** The findings of all reviews of a task, in the order in which they were found. */
export interface Ledger {
  /** How many reviews were taken into it. */
  readonly round: number;
  /** The commit that the last review was about; empty where none is known. */
  readonly commit: string;
  /** Reviews in a row, up to the last, after which neither the branch nor the ledger was any different. */
  readonly quiet: number;
  readonly findings: readonly Finding[];
}

/** A defect that a reviewer, or a person, found. */
export interface Finding {
  /** `F1`, `F2`, …: unique in the task. */
  readonly id: string;
  readonly severity: Severity;
  readonly file: string;
  /** 0 where it is not known. */
  readonly line: number;
  readonly title: string;
  readonly evidence: string;
  /** The commit that it was last reported or closed for; empty where none is known. */
  readonly commit: string;
  /** The review that found it, from 1; of a person's own finding, the last review before it. */
  readonly round: number;
  /**
   * open: nobody has decided. approved: a person wants it fixed. dismissed: it is none. fixed: a reviewer says so. noted: it
   * was found late and is small, and blocks nothing.
   */
  readonly state: "open" | "approved" | "dismissed" | "fixed" | "noted";
  /** The role that brought it into this state, or `human`. */
  readonly by: string;
  /** What the reviewer said when it closed the finding; empty where nothing was said. */
  readonly reason: string;
  /** What the person said about it, which no review replaces; missing where nothing was said. */
  readonly note?: string;
}

export const severities = ["critical", "high", "medium", "low", "info"] as const;

export type Severity = (typeof severities)[number];

export const emptyLedger: Ledger = { round: 0, commit: "", quiet: 0, findings: [] };

export const maxReported = 200;
export const maxTitle = 300;
export const maxEvidence = 4_000;

/** One entry of a reviewer's list: a new finding, or a word about a known one. */
interface Entry {
  /** The known finding that it is about; undefined where there is none. */
  readonly known: Finding | undefined;
  /** Whether it names that finding by its id. */
  readonly isNamed: boolean;
  readonly state: "open" | "fixed" | "dismissed";
  readonly severity: Severity;
  readonly file: string;
  readonly line: number;
  readonly title: string;
  readonly evidence: string;
  readonly reason: string;
}

type EntriesReading =
  | { readonly ok: true; readonly entries: readonly Entry[] }
  | { readonly ok: false; readonly problem: string };

/** Whether a run's answers are reviews: its role judges, and its schema has a list of findings. */
export function asksForFindings(workflow: Workflow, { role, result, mode }: RunSpec): boolean {
  const listed = result === undefined ? undefined : workflow.schemas[result]?.properties?.findings;
  return listed?.type === "array" && mode !== "dialogue" && workflow.judges.includes(role);
}

/** The findings in a review; undefined where it has none. */
export function reportedFindings(workflow: Workflow, spec: RunSpec, answer: unknown): unknown {
  return asksForFindings(workflow, spec) && isJsonObject(answer) ? answer.findings : undefined;
}

/** Why a reviewer's list cannot be taken into the ledger; undefined where it can. */
export function findingsProblem(ledger: Ledger, reported: unknown): string | undefined {
  const read = readEntries(ledger, reported);
  return read.ok ? undefined : read.problem;
}

// A list is first checked, then taken, against the same ledger.
const readings = new WeakMap<object, { readonly ledger: Ledger; readonly reading: EntriesReading }>();

function readEntries(ledger: Ledger, reported: unknown): EntriesReading {
  if (!Array.isArray(reported)) return { ok: false, problem: `findings must be a list, but is ${show(reported)}.` };
  const known = readings.get(reported);
  if (known?.ledger === ledger) return known.reading;
  const reading = readList(ledger, reported);
  readings.set(reported, { ledger, reading });
  return reading;
}

/** Reads a reviewer's list. Every finding that is not closed must be answered, or the review would end without a verdict on it. */
function readList(ledger: Ledger, reported: readonly unknown[]): EntriesReading {
  if (reported.length > maxReported)
    return {
      ok: false,
      problem: `There are ${reported.length} findings, but ${maxReported} are allowed. Keep the worst.`,
    };
  const entries: Entry[] = [];
  const known = createIndex(ledger.findings);
  for (const [index, value] of reported.entries()) {
    const read = readEntry(known, value, `findings[${index}]`);
    if (typeof read === "string") return { ok: false, problem: read };
    entries.push(read.known === undefined ? { ...read, known: known.alike(read) } : read);
  }
  const answered = new Set(entries.map(({ known }) => known?.id));
  const silent = ledger.findings.filter(({ id, state }) => isUnsettled(state) && !answered.has(id)).map(({ id }) => id);
  if (silent.length === 0) return { ok: true, entries };
  const each = silent.length === 1 ? `finding ${silent[0]}` : `findings ${silent.join(", ")}`;
  const form = `{"id": "${silent[0]}", "state": "fixed" | "open" | "dismissed", "reason": "…"}`;
  return { ok: false, problem: `The answer says nothing about the open ${each}.${forAgent}${form}.` };
}

const forAgent = " Add an entry for each: ";

/** Why a review was refused, for a person: without the form of an answer, which only its agent can give. */
export function problemForPerson(problem: string): string {
  return problem.split(forAgent)[0] ?? problem;
}

function readEntry(index: Index, value: unknown, name: string): Entry | string {
  if (!isJsonObject(value)) return `${name} must be an object, but is ${show(value)}.`;
  const known = typeof value.id === "string" ? index.get(value.id) : undefined;
  const { id, state = "open", severity = known?.severity ?? "medium", line = 0 } = value;
  const title = textIn(value.title, maxTitle);
  const reason = textIn(value.reason, maxTitle);
  const evidence = typeof value.evidence === "string" ? cutText(value.evidence.trim(), maxEvidence) : "";
  if (!isWord(state)) return `${name}.state must be "open", "fixed" or "dismissed", but is ${show(state)}.`;
  if (!isSeverity(severity))
    return `${name}.severity must be one of ${severities.join(", ")}, but is ${show(severity)}.`;
  if (state === "dismissed" && reason === "") return `${name} is dismissed without a reason. Say why it is no defect.`;
  const place = {
    isNamed: known !== undefined,
    state,
    severity,
    line: Number.isSafeInteger(line) ? Math.max(0, line as number) : 0,
    evidence,
    reason,
  };
  if (known !== undefined) return { ...place, known, file: known.file, title: title || known.title };
  if (title === "" || value.file === undefined) {
    if (id !== undefined)
      return `${name} names ${show(id)}, which is no known finding. Give a title and a file if it is new.`;
    return title === ""
      ? `${name} needs a title and a file, or the id of a known finding.`
      : `${name} (${show(title)}) names no file. Name the file of the repository that it is in.`;
  }
  if (typeof value.file !== "string") return `${name}.file must be text, but is ${show(value.file)}.`;
  const file = readFile(value.file);
  if (!file.ok) return `${name} names the file ${show(value.file)}, ${file.problem}`;
  return { ...place, known: undefined, file: file.file, title };
}

function textIn(value: unknown, max: number): string {
  return typeof value === "string" ? oneLine(value, max) : "";
}

function isWord(value: unknown): value is Entry["state"] {
  return value === "open" || value === "fixed" || value === "dismissed";
}

function isSeverity(value: unknown): value is Severity {
  return (severities as readonly unknown[]).includes(value);
}

/** What a review does to the ledger. */
export interface Review {
  readonly ledger: Ledger;
  /** The findings that are new or in another state than before. */
  readonly changed: readonly Finding[];
}

export interface ReviewContext {
  readonly role: string;
  /** What the reviewer was given; empty where no commit is known. */
  readonly commit: string;
  /** Whether a file differs from what it was at an earlier commit. */
  hasChanged(file: string, since: string): boolean;
}

/** Takes a reviewer's list, which `findingsProblem` accepts, into the ledger. */
export function takeReview(ledger: Ledger, reported: unknown, context: ReviewContext): Review {
  const read = readEntries(ledger, reported);
  const round = ledger.round + 1;
  const index = createIndex(ledger.findings);
  const changed = new Set<string>();
  for (const entry of read.ok ? read.entries : []) {
    const known = (entry.known && index.get(entry.known.id)) ?? index.alike(entry);
    const next =
      known === undefined ? newFinding(entry, `F${index.size() + 1}`, round, context) : answered(known, entry, context);
    if (next === undefined || next === known) continue;
    index.put(next);
    if (next.state !== known?.state) changed.add(next.id);
  }
  const findings = index.all();
  const hasMoved = ledger.round === 0 || changed.size > 0 || context.commit !== ledger.commit;
  const quiet = hasMoved ? 0 : ledger.quiet + 1;
  return {
    ledger: { round, commit: context.commit, quiet, findings },
    changed: findings.filter(({ id }) => changed.has(id)),
  };
}

/** The findings by id and by file, in their order: a review has a word about each, and may have as many new ones. */
interface Index {
  get(id: string): Finding | undefined;
  /** The finding that a report without an id is about. */
  alike(entry: Entry): Finding | undefined;
  /** Adds a finding, or replaces the one with its id, which is about the same file. */
  put(finding: Finding): void;
  size(): number;
  all(): readonly Finding[];
}

function createIndex(findings: readonly Finding[]): Index {
  const byId = new Map<string, Finding>();
  const inFile = new Map<string, Set<string>>();
  const put = (finding: Finding) => {
    byId.set(finding.id, finding);
    const ids = inFile.get(finding.file) ?? new Set();
    inFile.set(finding.file, ids.add(finding.id));
  };
  for (const finding of findings) put(finding);
  return {
    put,
    get: (id) => byId.get(id),
    size: () => byId.size,
    all: () => [...byId.values()],
    alike(entry) {
      let best: Finding | undefined;
      let highest = 0;
      for (const id of inFile.get(entry.file) ?? []) {
        const finding = byId.get(id);
        const score = finding === undefined ? 0 : likeness(finding, entry);
        if (score > highest) [best, highest] = [finding, score];
      }
      return best;
    },
  };
}

function newFinding(entry: Entry, id: string, round: number, { role, commit }: ReviewContext): Finding | undefined {
  // A reviewer that closes what nobody has reported says nothing about the work.
  if (entry.state !== "open") return undefined;
  const { severity, file, line, title, evidence } = entry;
  const state = round > 1 && isSmall(severity) ? "noted" : "open";
  return { id, severity, file, line, title, evidence, commit, round, state, by: role, reason: "" };
}

/** New findings like these do not begin another round. */
function isSmall(severity: Severity): boolean {
  return severity === "low" || severity === "info";
}

/** A known finding after a reviewer's word about it. */
function answered(finding: Finding, entry: Entry, { role, commit, hasChanged }: ReviewContext): Finding {
  const note = noteOf(finding);
  const closed = { ...finding, commit, by: role, reason: entry.reason, ...(note === "" ? {} : { note }) };
  switch (finding.state) {
    case "open":
    case "noted":
      if (entry.state !== "open") return { ...closed, state: entry.state };
      return finding.state === "open" ? { ...finding, commit, line: entry.line || finding.line } : reopened();
    case "approved":
      // A person wants it fixed: no reviewer can dismiss it.
      return entry.state === "fixed" ? { ...closed, state: "fixed" } : { ...finding, commit };
    case "dismissed":
    case "fixed":
      return entry.state === "open" ? reopened() : finding;
  }

  /**
   * Only if the file has changed since, and for new evidence. A fixed finding that the reviewer names needs none: a defect that
   * came back looks as it did before. What a person dismissed, agents do not bring back.
   */
  function reopened(): Finding {
    const { severity } = entry;
    const isBarred = finding.by === "human" || (finding.state === "noted" && isSmall(severity));
    const isNew = entry.evidence !== "" && !isSameEvidence(entry.evidence, finding.evidence);
    const isBack = finding.state === "fixed" && entry.isNamed;
    if (isBarred || !(isNew || isBack) || !hasChanged(finding.file, finding.commit)) return finding;
    const evidence = entry.evidence || finding.evidence;
    const line = entry.line || finding.line;
    return { ...finding, severity, evidence, commit, line, state: "open", by: role, reason: "" };
  }
}

/** Whether something is still to be done about it. */
export function isUnsettled(state: Finding["state"]): boolean {
  return state === "open" || state === "approved";
}

/** What a person said about a finding. Ledgers that were saved before notes were kept apart have it as the reason. */
export function noteOf({ note, by, reason }: Finding): string {
  return note ?? (by === "human" ? reason : "");
}

/** The numbers that guards can ask the ledger for. */
export function ledgerNumber(ledger: Ledger | undefined, name: string): number | undefined {
  const count = (state: Finding["state"]) =>
    (ledger?.findings ?? []).filter((finding) => finding.state === state).length;
  switch (name) {
    case "open_findings":
      return count("open");
    case "approved_findings":
      return count("approved");
    case "noted_findings":
      return count("noted");
    case "quiet_rounds":
      return ledger?.quiet ?? 0;
    default:
      return undefined;
  }
}

/** For prompts: the findings that are to be dealt with, the worst first. */
export function writeFindings(ledger: Ledger | undefined, ...states: readonly Finding["state"][]): string {
  const wanted = (ledger?.findings ?? []).filter(({ state }) => states.includes(state));
  const rank = ({ severity }: Finding) => severities.indexOf(severity);
  return wanted
    .toSorted((a, b) => rank(a) - rank(b))
    .map((finding) => {
      const { id, severity, state, by, file, line, title, evidence } = finding;
      const who = state === "approved" || (state === "dismissed" && by === "human") ? " by a person" : "";
      const reason = by === "human" ? "" : finding.reason;
      const why = isUnsettled(state) || reason === "" ? "" : `: ${reason}`;
      const word = state === "open" ? severity : `${severity}, ${state}${who}${why}`;
      const note = noteOf(finding);
      const below = [evidence, note === "" ? "" : `The person's note: ${note}`].filter((text) => text !== "");
      const more = below.map((text) => `\n  ${text.replaceAll("\n", "\n  ")}`).join("");
      return `${id} (${word}) ${file}${line > 0 ? `:${line}` : ""} ${title}${more}`;
    })
    .join("\n");
}
