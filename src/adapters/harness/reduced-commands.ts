import type { HarnessOrder } from "../../ports/harness.ts";
import { shellQuote } from "./shell-quote.ts";

/** Git that changes nothing, whatever follows. */
const readOnlyGit = ["status", "log", "diff", "show", "blame", "rev-parse", "rev-list", "ls-files", "ls-tree"]
  .concat(["cat-file", "merge-base", "describe", "shortlog", "name-rev", "stash list", "branch --list", "tag --list"])
  .map((each) => `git ${each}`);
/** What changes something as soon as a name follows. */
const bareGit = ["git branch", "git branch -a", "git branch -v", "git branch -vv", "git branch --show-current"].concat([
  "git tag",
  "git remote -v",
]);
/** `sort`, `uniq`, `find` and `sed` are not among them: they can write or run something. */
const readers = ["cat", "head", "tail", "wc", "ls", "pwd", "grep", "echo"];
/** The beginnings of everything that a run with reduced permissions may run in a shell. */
export function reducedPrefixes({ cli, testCommand }: Pick<HarnessOrder, "cli" | "testCommand">): readonly string[] {
  return [...readOnlyGit, ...readers, cli, ...(testCommand.length === 0 ? [] : [shellQuote(testCommand)])];
}

/** What may be run only as it stands here. */
export const reducedExactly: readonly string[] = bareGit;

/**
 * Matches a whole shell command that a run with reduced permissions may run: programs from the list, one after the other or
 * in a pipe, with plain or quoted words. Nothing that a shell would open, expand, define or set. Programs' own rules for
 * commands look at the parts that they find, and `(git log) > file` hides some of them.
 */
export function reducedCommand(order: Pick<HarnessOrder, "cli" | "testCommand">): RegExp {
  const plain = "[^\\s'\"<>(){}$`\\\\;&|*?[\\]]";
  const single = "'(?!-)[^'\\n]*'";
  const double = '"(?!-)[^"$`\\\\!\\n]*"';
  // `--output` writes a file and `--ext-diff` runs a program; quotes inside of a word could hide them.
  const option = `-(?!-ou|-ext)${plain}*(?:(?<==)(?:${single}|${double}))?`;
  const word = `(?:${option}|${single}|${double}|(?!-)${plain}+)(?=[\\s;&|]|$)`;
  const open = reducedPrefixes(order).map(escaped).join("|");
  const bare = reducedExactly.map(escaped).join("|");
  const one = `(?:(?:${open})(?: +${word})*|(?:${bare}))(?: +2>(?:&1|/dev/null))? *`;
  // What is longer is refused unread: spaces without end would keep the pattern busy for ever.
  return new RegExp(`^(?![^]{4001})\\s*${one}(?:(?:&&|\\|\\|?|;) *${one})*;?\\s*$`);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
