/** A report of a defect, as far as it tells whether two reports are about the same one. */
export interface Report {
  readonly file: string;
  /** 0 where it is not known. */
  readonly line: number;
  readonly title: string;
  readonly evidence: string;
}

/** Lines so near to each other may be those of one defect. */
const nearLines = 5;

/**
 * How surely a report is about a known finding, from 0 (it is not): its file and its title are the same, and its line is near, or
 * its evidence tells the same. A report without a line and evidence tells nothing but its title: it is about what is not closed.
 */
export function likenessToKnown(known: Report, report: Report, isClosed: boolean): number {
  const titles = likeness(known, report);
  if (titles === 0) return 0;
  const [near, same] = [isNear(known, report), isAlikeEvidence(known, report, titles)];
  if (near || same) return titles + (same ? 2 : 0) + (near ? 1 : 0);
  const isBare = report.line === 0 && report.evidence === "";
  return isBare && !(isClosed && (known.line > 0 || known.evidence !== "")) ? titles : 0;
}

/**
 * How surely two reports of one review are about the same defect, from 0: a reviewer who reports twice with one title mostly means
 * two defects. Where a line is missing, the evidence must tell the same.
 */
export function likenessInReview(a: Report, b: Report): number {
  const titles = likeness(a, b);
  if (titles === 0 || isNear(a, b)) return titles;
  const isSame = a.evidence === b.evidence || isAlikeEvidence(a, b, titles);
  return (a.line === 0 || b.line === 0) && isSame ? titles : 0;
}

export function isNear(a: Pick<Report, "line">, b: Pick<Report, "line">): boolean {
  return a.line > 0 && b.line > 0 && Math.abs(a.line - b.line) <= nearLines;
}

/** Whether a report that names a finding is about the same place: then its line is where the finding is by now. */
export function isSamePlace(known: Report, report: Report): boolean {
  const titles = likeness(known, report);
  return titles > 0 && (report.evidence === "" || isNear(known, report) || isAlikeEvidence(known, report, titles));
}

/** Where two long titles agree in each word, the evidence need not agree as much. */
function isAlikeEvidence(a: Report, b: Report, titles: number): boolean {
  const isPlain = titles < 1 || titleOf(a).words.size < longTitle;
  return sharedPart(evidenceOf(a), evidenceOf(b)) >= (isPlain ? minEvidence : minEvidence / 2);
}

/** Words of a title that is hardly that of two defects in one file. */
const longTitle = 5;

/**
 * How likely two reports are about the same defect, from 0 (they are not) to 1. They must be about the same file. Case,
 * punctuation, order, word forms and small words do not count, and one title may say more than the other. If each has words of
 * its own, their evidence must agree: "the retry delay has no limit" is not "the retry count has no limit", on whatever line.
 * Names from the code must not contradict each other.
 */
export function likeness(a: Report, b: Report): number {
  if (a.file !== b.file) return 0;
  const [one, other] = [titleOf(a), titleOf(b)];
  if (contradict(one.names, other.names)) return 0;
  const shared = countShared(one.words, other.words);
  const few = Math.min(one.words.size, other.words.size);
  const score = (2 * shared) / Math.max(1, one.words.size + other.words.size);
  if (score === 1) return 1;
  if (shared === few && shared > 1) return Math.max(score, minScore);
  return score >= minScore && sharedPart(evidenceOf(a), evidenceOf(b)) >= minEvidence ? score : 0;
}

/** Below this, two titles have less in common than not. */
const minScore = 0.5;

/** Whether two texts tell the same, in other words or in another order. Of very short ones, one must contain the other. */
export function isSameEvidence(a: string, b: string): boolean {
  return sharedPart(wordsOf(a), wordsOf(b)) >= minEvidence;
}

const minEvidence = 0.6;

/** Which part of the words of the shorter text the other one has as well. */
function sharedPart(a: Words, b: Words): number {
  const few = Math.min(a.words.size, b.words.size);
  const shared = countShared(a.words, b.words);
  if (few < 3) return few > 0 && shared === few ? 1 : 0;
  return contradict(a.names, b.names) ? 0 : shared / few;
}

// Each report is compared with many others.
const titles = new WeakMap<Report, Words>();
const evidences = new WeakMap<Report, Words>();

function titleOf(report: Report): Words {
  const known = titles.get(report) ?? wordsOf(report.title);
  titles.set(report, known);
  return known;
}

function evidenceOf(report: Report): Words {
  const known = evidences.get(report) ?? wordsOf(report.evidence);
  evidences.set(report, known);
  return known;
}

interface Words {
  /** Stems, names included. */
  readonly words: ReadonlySet<string>;
  /** Names from the code: with a digit, an underscore, a capital inside, a dot inside, or in backticks. */
  readonly names: ReadonlySet<string>;
}

function wordsOf(text: string): Words {
  const words = new Set<string>();
  const names = new Set<string>();
  const parts = text.normalize("NFKC").matchAll(/`([^`]+)`|[\p{L}\p{N}_$]+(?:['’.][\p{L}\p{N}_$]+)*/gu);
  for (const [written, quoted] of parts) {
    if (quoted === undefined && !/[\d_$]|\p{Ll}\p{Lu}|\./u.test(written)) {
      for (const stem of stemsOf(written)) words.add(stem);
      continue;
    }
    const name = (quoted ?? written).replace(/\(.*$/s, "").trim().toLowerCase();
    words.add(name);
    names.add(name);
  }
  return { words, names };
}

/** The stems of one word: none of a small word, two of a negated one. */
function stemsOf(written: string): readonly string[] {
  const word = written.toLowerCase().replaceAll("’", "'");
  if (negations.has(word) || word.endsWith("n't")) return ["not"];
  if (smallWords.has(word)) return [];
  const negated = /^(?:un|non)(\p{L}{3,}(?:ed|able))$/u.exec(word)?.[1];
  return negated === undefined ? [stem(word)] : ["not", stem(negated)];
}

function stem(word: string): string {
  const known = synonyms.get(word);
  if (known !== undefined) return known;
  const one = word
    .replace(/'s$/, "")
    .replace(/ies$/, "y")
    .replace(/(ss|sh|ch|x)es$/, "$1")
    .replace(/([^s])s$/, "$1");
  if (one.length < 5) return one;
  const cut = one.replace(/(?:ation|ition|ement|ment|ion|ing|able|ied|ed|e|ly|y)$/, "");
  return cut.replace(/([bdgmnprt])\1$/, "$1");
}

const negations: ReadonlySet<string> = new Set([
  "no",
  "not",
  "never",
  "without",
  "missing",
  "misses",
  "lacks",
  "lack",
  "lacking",
  "absent",
  "nothing",
  "nowhere",
  "cannot",
]);

const smallWords: ReadonlySet<string> = new Set(
  (
    "a an the is are was be been being has have had does do did can could may might should must will would of in on at to for " +
    "from by with and or but if when where while that this these those it its there then than as into out any some all each every " +
    "too very also here just only so such which who what how why"
  ).split(" "),
);

/** Different words that reviewers use for one thing. */
const synonyms: ReadonlyMap<string, string> = new Map(
  Object.entries({
    lets: "allow",
    permits: "allow",
    allowed: "allow",
    allows: "allow",
    enables: "allow",
    clear: "plain",
    plaintext: "plain",
    cleartext: "plain",
    crash: "throw",
    crashes: "throw",
    throws: "throw",
    exception: "throw",
    unused: "dead",
    tests: "test",
    tested: "test",
    untested: "test",
    ignores: "ignore",
    ignored: "ignore",
    swallows: "ignore",
    swallowed: "ignore",
    leak: "leak",
    leaks: "leak",
    leaked: "leak",
    verify: "check",
    verified: "check",
    validates: "check",
    validated: "check",
    validation: "check",
    checks: "check",
    checked: "check",
  }),
);

/** Names on both sides, and each side has one that the other lacks. */
function contradict(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const shared = countShared(a, b);
  return shared < a.size && shared < b.size;
}

function countShared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let count = 0;
  for (const each of a) if (b.has(each)) count++;
  return count;
}
