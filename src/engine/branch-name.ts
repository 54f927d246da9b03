import { hasHidden } from "../hidden-characters.ts";
import { oneLine } from "../text.ts";

/**
 * Why git, or a terminal, would not take this name for a branch, as a sentence; undefined where it is fine. These are
 * the rules of `git check-ref-format --branch`, and a length that leaves room for the folders of the file system.
 */
export function branchNameProblem(name: string): string | undefined {
  if (name === "") return "A branch needs a name.";
  const problem = rules.find(([broken]) => broken(name))?.[1];
  return problem && `The branch name ${shown(name)} ${problem}.`;
}

const rules: readonly (readonly [broken: (name: string) => boolean, problem: string])[] = [
  [(name) => new TextEncoder().encode(name).length > 200, "is longer than 200 bytes"],
  [(name) => !name.isWellFormed(), "contains half of a surrogate pair, which is not valid text"],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the rule searches for them.
  [(name) => /[\x00-\x1f\x7f]/.test(name), "contains a control character"],
  [(name) => name.includes(" "), "contains a space"],
  // Also those that an emoji needs: with and without them, two names look the same in many terminals.
  [
    (name) => hasHidden(name) || oneLine(name) !== name,
    "contains an invisible character, or one that changes the direction of writing",
  ],
  [(name) => /[~^:?*[\\]/.test(name), "contains one of ~ ^ : ? * [ \\"],
  [(name) => name.startsWith("-"), "begins with a hyphen, so commands would take it for an option"],
  [(name) => name.startsWith("/") || name.endsWith("/"), "begins or ends with a slash"],
  [(name) => name.includes("//"), "contains two slashes in a row"],
  [(name) => name.includes(".."), "contains two dots in a row"],
  [(name) => name.endsWith("."), "ends with a dot"],
  [(name) => name.startsWith(".") || name.includes("/."), "has a part that begins with a dot"],
  [(name) => name.endsWith(".lock") || name.includes(".lock/"), "has a part that ends with .lock"],
  [(name) => name.includes("@{"), "contains @{"],
  [(name) => name.startsWith("refs/"), "begins with refs/, so git would take it for another branch or ref"],
  [(name) => name === "@" || name === "HEAD", "means the current commit to git"],
];

/** The branch of a task until an agent or a person names it. */
export function defaultBranch(id: string): string {
  return `signalbox/${id}`;
}

export function isDefaultBranch(branch: string, id: string): boolean {
  return branch === defaultBranch(id);
}

/** The prefix of the branch of an issue with these labels; of several labels the first in this order counts. */
export function prefixForLabels(labels: readonly string[]): string {
  const names = new Set(labels.map((label) => label.trim().toLowerCase()));
  if (names.has("bug")) return "fix";
  return ["docs", "refactor", "test"].find((name) => names.has(name)) ?? "feature";
}

/** The name in a model's answer: two to four lower-case words, joined by hyphens. Undefined where it is anything else. */
export function nameInAnswer(answer: string | undefined): string | undefined {
  const name = answer?.trim() ?? "";
  return name.length <= maxNameLength && /^[a-z][a-z0-9]*(?:-[a-z0-9]+){1,3}$/.test(name) ? name : undefined;
}

const maxNameLength = 60;

/** Makes any text a part of a branch name: `[a-z0-9-]`, at most `max` characters, cut between words where possible. */
export function slug(text: string, max = 40): string {
  const plain = text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\p{M}'’]/gu, "")
    .replace(/[ßæœøłđðþı]/g, (letter) => letters[letter] ?? "");
  const words = plain.split(/[^a-z0-9]+/).filter((word) => word !== "");
  let result = (words[0] ?? "").slice(0, max);
  for (const word of words.slice(1)) {
    if (result.length + 1 + word.length > max) break;
    result += `-${word}`;
  }
  return result === "" ? "task" : result;
}

/** The name itself where git takes it; otherwise the nearest one that git takes. */
export function nearestBranchName(text: string): string {
  // Git accepts no longer names.
  const wanted = text.trim().slice(0, 1_000);
  if (branchNameProblem(wanted) === undefined) return wanted;
  const parts = wanted
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses them.
    .replace(/[\x00-\x20\x7f~^:?*[\\]+|@\{|\.\.+/g, "-")
    .split("/")
    .map((part) => part.replace(/^[.-]+|(\.lock)+$|[.-]+$/g, ""))
    .filter((part) => part !== "");
  while (parts[0] === "refs" && parts.length > 1) parts.shift();
  const name = parts.join("/");
  if (branchNameProblem(name) === undefined) return name;
  const short = parts
    .map((part) => slug(part))
    .join("/")
    .slice(0, 100);
  return short.replace(/[/-]+$/, "") || slug("");
}

/** Letters that Unicode normalisation does not decompose. */
const letters: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
};

/** The name in quotes, with control characters escaped, and short enough for a line. */
function shown(name: string): string {
  return JSON.stringify(name.length > 60 ? `${name.slice(0, 57)}…` : name);
}
