import { show } from "../answers/schema.ts";
import { cutText, oneLine } from "../text.ts";
import {
  type Finding,
  isUnsettled,
  type Ledger,
  maxEvidence,
  maxFindings,
  maxTitle,
  noteOf,
  type Severity,
} from "./findings.ts";
import { readFile } from "./plan-files.ts";
import type { Review } from "./review.ts";
import { isNear } from "./same-finding.ts";

interface Refused {
  readonly problem: string;
  readonly fix: string;
}

/** A person's decision about findings, or why it cannot be. All of them are decided, or none. `runs` are live meanwhile. */
export function takeDecision(
  ledger: Ledger,
  ids: readonly string[],
  state: "approved" | "dismissed",
  note: string,
  runs: readonly string[] = [],
): Review | Refused {
  const names = new Set(ids);
  const known = new Map(ledger.findings.map((finding) => [finding.id, finding]));
  for (const id of names) {
    const finding = known.get(id);
    if (finding === undefined) {
      const all = ledger.findings.map((each) => each.id);
      const fix = all.length === 0 ? "No review has reported any." : `Findings: ${all.join(", ")}.`;
      return { problem: `There is no finding ${show(id)}.`, fix };
    }
    if (finding.state === "dismissed" || finding.state === "fixed") {
      const problem = `${id} was already marked as ${finding.state} by ${finding.by === "human" ? "a person" : finding.by}.`;
      return { problem, fix: "You can only decide about findings that are open, approved or noted." };
    }
  }
  const decide = (finding: Finding): Finding => {
    // What was said for a fix says nothing about why the finding is not a defect.
    const said = note || (state === "approved" ? noteOf(finding) : "");
    if (finding.state === state && said === noteOf(finding)) return finding;
    // Prompts ask about open findings, but not about those that are only noted.
    const unseenBy = state === "approved" && finding.state === "noted" && runs.length > 0 ? { unseenBy: runs } : {};
    return { ...finding, state, by: "human", reason: "", note: said, ...unseenBy };
  };
  const findings = ledger.findings.map((finding) => (names.has(finding.id) ? decide(finding) : finding));
  return {
    ledger: { ...ledger, quiet: 0, findings },
    changed: findings.filter((_, i) => findings[i] !== ledger.findings[i]),
  };
}

/** A defect that a person has found. */
export interface GivenFinding {
  readonly file: string;
  /** 0 where it is about the whole file. */
  readonly line: number;
  readonly severity: Severity;
  /** What is wrong; the first line is the title. */
  readonly text: string;
}

const maxFile = 1_000;
/** Findings that only a person can add, once reviews have added all they may. */
const maxOwn = 200;

/** The ledger with a person's own finding, which needs no approval; or why it cannot be added. `runs` are live meanwhile. */
export function addOwn(
  ledger: Ledger,
  given: GivenFinding,
  commit: string,
  runs: readonly string[] = [],
): Review | Refused {
  const { severity, line } = given;
  const text = given.text.trim();
  if (given.file.trim() === "") return { problem: "The finding names no file.", fix: "Name it: --file src/app.ts" };
  if (given.file.length > maxFile)
    return { problem: `The file's path has ${given.file.length} characters.`, fix: `At most ${maxFile} are allowed.` };
  const read = readFile(given.file);
  if (!read.ok) {
    const [problem = "", ...fix] = read.problem.split(/(?<=\.) /);
    return { problem: `The finding names the file ${show(given.file)}, ${problem}`, fix: fix.join(" ") };
  }
  if (text === "") return { problem: "The finding has no text.", fix: 'Say what is wrong: -m "The lid leaks"' };
  if (text.length > maxEvidence)
    return {
      problem: `The text has ${text.length} characters; at most ${maxEvidence} are allowed.`,
      fix: "Shorten it, or add several findings.",
    };
  const { file } = read;
  const [first = "", ...rest] = text.split("\n");
  const title = oneLine(first, maxTitle);
  const isWhole = title === oneLine(first);
  const evidence = cutText((isWhole ? rest.join("\n") : text).trim(), maxEvidence);
  const isHere = (each: Finding) => line === 0 || each.line === 0 || isNear(each, given);
  const same = ledger.findings.find(
    (each) => isUnsettled(each.state) && each.file === file && each.title === title && isHere(each),
  );
  if (same !== undefined) {
    const fix = same.state === "open" ? `Approve it: approve ${same.id}` : "It is approved already.";
    return { problem: `That is the finding ${same.id}.`, fix };
  }
  const many = ledger.findings.length;
  const most = maxFindings + maxOwn;
  if (many >= most)
    return {
      problem: `The task has ${many} findings; at most ${most} are allowed.`,
      fix: "Say it in a note to a finding that is approved: approve F1 -m TEXT",
    };
  const finding: Finding = {
    ...{ id: `F${many + 1}`, severity, file, line, title, evidence, commit, round: ledger.round },
    ...{ state: "approved", by: "human", reason: "" },
    ...(runs.length === 0 ? {} : { unseenBy: runs }),
  };
  return { ledger: { ...ledger, quiet: 0, findings: [...ledger.findings, finding] }, changed: [finding] };
}
