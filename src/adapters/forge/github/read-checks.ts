import type { Checks, FailedCheck } from "../../../ports/forge.ts";
import { cutText } from "./cut-text.ts";
import { textOrEmptyAt } from "./json-at.ts";

// Enough to see what went wrong.
const mostSummary = 2_000;

/** What check runs and commit statuses, GitHub's two kinds of checks, come to. */
export function readChecks(runs: readonly unknown[], statuses: readonly unknown[]): Checks {
  const checks = [...runs.map(readRun), ...statuses.map(readStatus)];
  const failed = checks.flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
  if (failed.length > 0) return { state: "failing", failed };
  if (checks.some(({ isDone }) => !isDone)) return { state: "unfinished", failed };
  return { state: checks.length > 0 ? "passing" : "none", failed };
}

interface Check {
  readonly isDone: boolean;
  readonly failure?: FailedCheck;
}

function readRun(json: unknown): Check {
  if (textOrEmptyAt(json, "status") !== "completed") return { isDone: false };
  const conclusion = textOrEmptyAt(json, "conclusion");
  if (["success", "neutral", "skipped"].includes(conclusion)) return { isDone: true };
  const said = [textOrEmptyAt(json, "output", "title"), textOrEmptyAt(json, "output", "summary")];
  const url = textOrEmptyAt(json, "html_url") || textOrEmptyAt(json, "details_url");
  return failure(textOrEmptyAt(json, "name"), url, said, conclusion);
}

function readStatus(json: unknown): Check {
  const state = textOrEmptyAt(json, "state");
  if (state !== "failure" && state !== "error") return { isDone: state === "success" };
  const said = [textOrEmptyAt(json, "description")];
  return failure(textOrEmptyAt(json, "context"), textOrEmptyAt(json, "target_url"), said, state);
}

function failure(name: string, url: string, said: readonly string[], word: string): Check {
  const summary = said.filter((part) => part.trim() !== "").join("\n") || word;
  return { isDone: true, failure: { name, url, summary: cutText(summary, mostSummary) } };
}
