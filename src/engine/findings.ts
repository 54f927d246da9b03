import { isJsonObject } from "../json.ts";
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
   * open: nobody has decided. approved: a person wants it fixed. dismissed: it is not a defect. fixed: a reviewer says so.
   * noted: it was found late and is small, and blocks nothing.
   */
  readonly state: "open" | "approved" | "dismissed" | "fixed" | "noted";
  /** The role that brought it into this state, or `human`. */
  readonly by: string;
  /** What the reviewer said when it closed the finding; empty where nothing was said. */
  readonly reason: string;
  /** What the person said about it, which no review replaces; missing where nothing was said. */
  readonly note?: string;
  /**
   * The runs that were live when a person added or approved it: their prompts do not have it, so that their reviews need not
   * answer it. Missing where there were none.
   */
  readonly unseenBy?: readonly string[];
}

export const severities = ["critical", "high", "medium", "low", "info"] as const;

export type Severity = (typeof severities)[number];

export const emptyLedger: Ledger = { round: 0, commit: "", quiet: 0, findings: [] };

/** New findings of one review. */
export const maxReported = 200;
/** Findings of a task; a person can add more than reviews. */
export const maxFindings = 1_000;
export const maxTitle = 300;
export const maxEvidence = 4_000;

/** Whether a run's answers are reviews: its role judges, and its schema has a list of findings. */
export function asksForFindings(workflow: Workflow, { role, result, mode }: RunSpec): boolean {
  const listed = result === undefined ? undefined : workflow.schemas[result]?.properties?.findings;
  return listed?.type === "array" && mode !== "dialogue" && workflow.judges.includes(role);
}

/** The findings in a review; undefined where it has none. */
export function reportedFindings(workflow: Workflow, spec: RunSpec, answer: unknown): unknown {
  return asksForFindings(workflow, spec) && isJsonObject(answer) ? answer.findings : undefined;
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

/** For prompts: the findings that are to be dealt with, the worst first. Of very many, the last are listed without evidence. */
export function writeFindings(ledger: Ledger | undefined, ...states: readonly Finding["state"][]): string {
  const wanted = (ledger?.findings ?? []).filter(({ state }) => states.includes(state));
  const rank = ({ severity }: Finding) => severities.indexOf(severity);
  let length = 0;
  return wanted
    .toSorted((a, b) => rank(a) - rank(b))
    .map((finding) => {
      const { id, severity, state, by, file, line, title, evidence } = finding;
      const who = state === "approved" || (state === "dismissed" && by === "human") ? " by a person" : "";
      const reason = by === "human" ? "" : finding.reason;
      const why = isUnsettled(state) || reason === "" ? "" : `: ${reason}`;
      const word = state === "open" ? severity : `${severity}, ${state}${who}${why}`;
      const note = noteOf(finding);
      const proof =
        length > maxListed && evidence !== "" ? "(Its evidence is left out: the list is too long.)" : evidence;
      const below = [proof, note === "" ? "" : `The person's note: ${note}`].filter((text) => text !== "");
      const more = below.map((text) => `\n  ${text.replaceAll("\n", "\n  ")}`).join("");
      const written = `${id} (${word}) ${file}${line > 0 ? `:${line}` : ""} ${title}${more}`;
      length += written.length;
      return written;
    })
    .join("\n");
}

const maxListed = 256 * 1024;
