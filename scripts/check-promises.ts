// Checks from outside that the promises of docs/promises.md were kept: in git, the tickets, and the histories that
// `signalbox task export` printed. It shares no code with what it checks.
// node scripts/check-promises.ts REPOSITORY CONTROL HISTORIES [NOTES]
// CONTROL is the project's folder in `control` of the home, HISTORIES a folder of .jsonl files; NOTES a folder in whose
// file `made` agents recorded their work: `commit TASK SHA` and `content TASK SHA`; its file `forge.json` has what the forge has.
import { resolve } from "node:path";
import { type Evidence, type Places, readEvidence } from "./promises/evidence.ts";
import { authorProblems, endProblems, historyProblems, runProblems } from "./promises/history.ts";
import { forgeMergeProblems, pullRequestProblems } from "./promises/pull-requests.ts";
import { mergeProblems, repositoryProblems, workProblems } from "./promises/repository.ts";
import { assignmentProblems, ticketProblems } from "./promises/tickets.ts";

const promises: Readonly<Record<string, (evidence: Evidence) => readonly string[]>> = {
  "no transition is lost or doubled": historyProblems,
  "every task ends or asks for a person": endProblems,
  "at most one agent owns a task": runProblems,
  "no artifact counts from the wrong author": authorProblems,
  "done only if in the branch, and merged once": mergeProblems,
  "what a forge has merged is in the remote's branch": forgeMergeProblems,
  "a round has one comment, a task one pull request": pullRequestProblems,
  "repositories are whole": repositoryProblems,
  "no work is lost": workProblems,
  "a ticket is closed only if its work is in": ticketProblems,
  "a ticket has one task, an agent one ticket, in the order of what they depend on": assignmentProblems,
};

/** The violations of each promise, or of one of them. */
export function checkPromises(places: Places, only?: string): ReadonlyMap<string, readonly string[]> {
  const evidence = readEvidence(places);
  const chosen = Object.entries(promises).filter(([promise]) => only === undefined || promise === only);
  return new Map(chosen.map(([promise, problemsOf]) => [promise, whatBreaks(problemsOf, evidence)]));
}

/** Git may refuse to read a damaged repository. */
function whatBreaks(problemsOf: (evidence: Evidence) => readonly string[], evidence: Evidence): readonly string[] {
  try {
    return problemsOf(evidence);
  } catch (error) {
    return [String(error)];
  }
}

if (import.meta.main) {
  const [repository, control, histories, notes] = process.argv.slice(2).map((path) => resolve(path));
  if (repository === undefined || control === undefined || histories === undefined) {
    process.stderr.write("usage: node scripts/check-promises.ts REPOSITORY CONTROL HISTORIES [NOTES]\n");
    process.exit(2);
  }
  const found = checkPromises({ repository, control, histories, notes });
  for (const [promise, problems] of found) {
    process.stdout.write(`${problems.length === 0 ? "kept  " : "BROKEN"} ${promise}\n`);
    for (const problem of problems) process.stdout.write(`       ${problem}\n`);
  }
  process.exitCode = [...found.values()].some((problems) => problems.length > 0) ? 1 : 0;
}
