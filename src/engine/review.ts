import { show } from "../answers/schema.ts";
import { isJsonObject } from "../json.ts";
import { cutText, oneLine, plainText } from "../text.ts";
import {
  type Finding,
  isUnsettled,
  type Ledger,
  maxEvidence,
  maxFindings,
  maxReported,
  maxTitle,
  noteOf,
  type Severity,
  severities,
} from "./findings.ts";
import { readFile } from "./plan-files.ts";
import { isSameEvidence, isSamePlace, likenessInReview, likenessToKnown, type Report } from "./same-finding.ts";

// A reviewer's list of findings: how it is read, and what it does to the ledger.

/** One entry of a reviewer's list: a new finding, or a word about a known one. */
interface Entry extends Report {
  /** The known finding that it names by its id. */
  readonly named: Finding | undefined;
  readonly state: "open" | "fixed" | "dismissed";
  readonly severity: Severity;
  readonly reason: string;
}

/** All that a review says about one defect. */
interface Words {
  /** Undefined for a new finding. */
  readonly known: Finding | undefined;
  readonly entries: Entry[];
}

type Reading =
  | { readonly ok: true; readonly words: readonly Words[] }
  | { readonly ok: false; readonly problem: string };

/** Why a reviewer's list cannot be taken into the ledger; undefined where it can. `run` is the run that answers. */
export function findingsProblem(ledger: Ledger, reported: unknown, run = ""): string | undefined {
  const read = readWords(ledger, reported, run);
  return read.ok ? undefined : read.problem;
}

// A list is first checked, then taken, against the same ledger.
const readings = new WeakMap<object, { readonly ledger: Ledger; readonly run: string; readonly reading: Reading }>();

function readWords(ledger: Ledger, reported: unknown, run: string): Reading {
  if (!Array.isArray(reported)) return { ok: false, problem: `findings must be a list, but is ${show(reported)}.` };
  const known = readings.get(reported);
  if (known?.ledger === ledger && known.run === run) return known.reading;
  const reading = readList(ledger, reported, run);
  readings.set(reported, { ledger, run, reading });
  return reading;
}

/** Reads a reviewer's list. Every finding that is not closed must be answered, or the review would end without a verdict on it. */
function readList({ findings }: Ledger, reported: readonly unknown[], run: string): Reading {
  const refused = (problem: string) => ({ ok: false, problem }) as const;
  const most = maxReported + findings.length;
  if (reported.length > most)
    return refused(`There are ${reported.length} findings, but ${most} are allowed. Keep the worst.`);
  const byId = new Map(findings.map((finding) => [finding.id, finding]));
  const entries: Entry[] = [];
  for (const [index, value] of reported.entries()) {
    const read = readEntry(byId, value, `findings[${index}]`);
    if (typeof read === "string") return refused(read);
    entries.push(read);
  }
  const words = sortEntries(findings, entries);
  const answered = new Set(words.map(({ known }) => known?.id));
  const silent = findings
    .filter(({ id, state, unseenBy }) => isUnsettled(state) && !answered.has(id) && unseenBy?.includes(run) !== true)
    .map(({ id }) => id);
  if (silent.length > 0) {
    const each = silent.length === 1 ? `finding ${silent[0]}` : `findings ${silent.join(", ")}`;
    const form = `{"id": "${silent[0]}", "state": "fixed" | "open" | "dismissed", "reason": "…"}`;
    return refused(`The answer says nothing about the open ${each}.${forAgent}${form}.`);
  }
  const added = words.length - answered.size + (answered.has(undefined) ? 1 : 0);
  if (added > maxReported)
    return refused(`There are ${added} new findings, but ${maxReported} are allowed. Keep the worst.`);
  const room = Math.max(0, maxFindings - findings.length);
  if (added <= room) return { ok: true, words };
  const keep = room === 0 ? "Report no new ones." : `Report only the worst ${room} new ones.`;
  return refused(`The task has ${findings.length} findings, and keeps at most ${maxFindings}. ${keep}`);
}

/**
 * Finds out which entries are about one defect. An entry with an id is about that finding. Of the others, those that close
 * something count for nothing: a title may be that of several defects. The rest is taken to the most similar known finding, then
 * to each other.
 */
function sortEntries(findings: readonly Finding[], entries: readonly Entry[]): readonly Words[] {
  const aboutKnown = new Map<string, Words>();
  const aboutNew: Words[] = [];
  const join = (known: Finding, entry: Entry) => {
    const words = aboutKnown.get(known.id);
    if (words === undefined) aboutKnown.set(known.id, { known, entries: [entry] });
    else words.entries.push(entry);
  };
  for (const entry of entries) if (entry.named !== undefined) join(entry.named, entry);

  const inFile = Map.groupBy(findings, ({ file }) => file);
  const loose = entries.filter(({ named, state }) => named === undefined && state === "open");
  const likely = loose.flatMap((entry) =>
    (inFile.get(entry.file) ?? []).flatMap((known) => {
      const score = likenessToKnown(known, entry, !isUnsettled(known.state));
      return score === 0 ? [] : [{ entry, known, score }];
    }),
  );
  const placed = new Set<Entry>();
  for (const { entry, known } of likely.toSorted((a, b) => b.score - a.score)) {
    if (placed.has(entry) || !agrees(aboutKnown.get(known.id)?.entries ?? [], entry)) continue;
    join(known, entry);
    placed.add(entry);
  }
  const newInFile = new Map<string, Words[]>();
  for (const entry of loose) {
    if (placed.has(entry)) continue;
    const before = newInFile.get(entry.file) ?? [];
    const same = before.find((words) => words.entries.some((other) => likenessInReview(other, entry) > 0));
    if (same !== undefined) {
      same.entries.push(entry);
      continue;
    }
    const words: Words = { known: undefined, entries: [entry] };
    newInFile.set(entry.file, [...before, words]);
    aboutNew.push(words);
  }
  return [...aboutKnown.values(), ...aboutNew];
}

/** Whether an entry can be about the same defect as those of this review that are about a finding already. */
function agrees(others: readonly Entry[], entry: Entry): boolean {
  // One that names the finding, and no line of its own, says nothing about another place.
  const placed = others.filter(({ named, line }) => named === undefined || line > 0);
  return placed.length === 0 || placed.some((other) => likenessInReview(other, entry) > 0);
}

const forAgent = " Add an entry for each: ";

/** Why a review was refused, for a person: without the form of an answer, which only its agent can give. */
export function problemForPerson(problem: string): string {
  return problem.split(forAgent)[0] ?? problem;
}

function readEntry(byId: ReadonlyMap<string, Finding>, value: unknown, name: string): Entry | string {
  if (!isJsonObject(value)) return `${name} must be an object, but is ${show(value)}.`;
  const named = typeof value.id === "string" ? byId.get(value.id) : undefined;
  const { id, state = "open", severity = named?.severity ?? "medium", line = 0 } = value;
  const title = textIn(value.title, maxTitle);
  const reason = textIn(value.reason, maxTitle);
  const evidence = typeof value.evidence === "string" ? cutText(plainText(value.evidence).trim(), maxEvidence) : "";
  if (!isWord(state)) return `${name}.state must be "open", "fixed" or "dismissed", but is ${show(state)}.`;
  if (!isSeverity(severity))
    return `${name}.severity must be one of ${severities.join(", ")}, but is ${show(severity)}.`;
  if (state === "dismissed" && reason === "") return `${name} is dismissed without a reason. Say why it is no defect.`;
  const place = {
    ...{ named, state, severity, evidence, reason },
    line: Number.isSafeInteger(line) ? Math.max(0, line as number) : 0,
  };
  if (named !== undefined) return { ...place, file: named.file, title: title || named.title };
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
  return { ...place, file: file.file, title };
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
  /** The run that answered, as `findingsProblem` was told. */
  readonly run?: string;
  /** What the reviewer was given; empty where no commit is known. */
  readonly commit: string;
  /** Whether a file differs from what it was at an earlier commit. */
  hasChanged(file: string, since: string): boolean;
}

/** Takes a reviewer's list, which `findingsProblem` accepts, into the ledger. */
export function takeReview(ledger: Ledger, reported: unknown, context: ReviewContext): Review {
  const read = readWords(ledger, reported, context.run ?? "");
  const round = ledger.round + 1;
  const byId = new Map(ledger.findings.map((finding) => [finding.id, finding]));
  const changed = new Set<string>();
  for (const { known, entries } of read.ok ? read.words : []) {
    const entry = joined(entries);
    const next =
      known === undefined ? newFinding(entry, `F${byId.size + 1}`, round, context) : answered(known, entry, context);
    if (next === known) continue;
    byId.set(next.id, next);
    if (next.state !== known?.state) changed.add(next.id);
  }
  const findings = [...byId.values()];
  const hasMoved = ledger.round === 0 || changed.size > 0 || context.commit !== ledger.commit;
  const quiet = hasMoved ? 0 : ledger.quiet + 1;
  return {
    ledger: { round, commit: context.commit, quiet, findings },
    changed: findings.filter(({ id }) => changed.has(id)),
  };
}

/** The entries about one defect as one. If they contradict each other, the defect is open. */
function joined(entries: readonly Entry[]): Entry {
  const [first] = entries as readonly [Entry, ...Entry[]];
  if (entries.length === 1) return first;
  const isClosed = entries.every(({ state }) => state === first.state) && first.state !== "open";
  if (isClosed) return entries.find(({ reason }) => reason !== "") ?? first;
  const open = entries.filter(({ state }) => state === "open");
  const [named, worst] = [
    entries.find((entry) => entry.named !== undefined)?.named,
    open.toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))[0],
  ];
  const evidence = open.reduce((before, entry) => withEvidence(before, entry.evidence, "Also: "), "");
  return {
    ...(open.find(({ line }) => line > 0) ?? open[0] ?? first),
    ...{ named, state: "open", evidence },
    ...{ severity: (worst ?? first).severity },
  };
}

/** Adds what a later report says to the evidence. Where it grows too long, the end of the older part goes. */
function withEvidence(before: string, added: string, prefix: string): string {
  if (before === "" || added === "" || isSameEvidence(before, added)) return before || added;
  const more = cutText(`${prefix}${added}`, maxEvidence / 2);
  return `${cutText(before, maxEvidence - more.length - 2)}\n\n${more}`;
}

function newFinding(entry: Entry, id: string, round: number, { role, commit }: ReviewContext): Finding {
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
      return finding.state === "open" ? { ...reported(), commit } : reopened();
    case "approved":
      // A person wants it fixed: no reviewer can dismiss it.
      return entry.state === "fixed" ? { ...closed, state: "fixed" } : { ...reported(), commit };
    case "dismissed":
    case "fixed":
      return entry.state === "open" ? reopened() : finding;
  }

  /** With the line where the defect is by now, and with what is new about it. */
  function reported(): Finding {
    if (entry.state !== "open") return finding;
    const isHere = entry.line === 0 || isSamePlace(finding, entry);
    const prefix = isHere ? "A later review adds: " : `A later review adds, of line ${entry.line}: `;
    const evidence = withEvidence(finding.evidence, entry.evidence, prefix);
    return { ...finding, evidence, line: isHere ? entry.line || finding.line : finding.line };
  }

  /**
   * Only if the file has changed since, and for new evidence. A fixed finding that the reviewer names needs none: a defect that
   * came back looks as it did before. What a person dismissed, agents do not bring back.
   */
  function reopened(): Finding {
    const { severity } = entry;
    const isBarred = finding.by === "human" || (finding.state === "noted" && isSmall(severity));
    const isNew = entry.evidence !== "" && !isSameEvidence(entry.evidence, finding.evidence);
    const isBack = finding.state === "fixed" && entry.named !== undefined;
    if (isBarred || !(isNew || isBack) || !hasChanged(finding.file, finding.commit)) return finding;
    return { ...reported(), severity, commit, state: "open", by: role, reason: "" };
  }
}
