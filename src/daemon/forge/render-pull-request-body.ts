import type { Task } from "../../engine/task.ts";
import type { Usage } from "../../ports/records.ts";
import type { Artifact, StoredEffect } from "../../ports/store.ts";

export interface PullRequestFacts {
  readonly task: Pick<Task, "id" | "project" | "number" | "summary" | "workflow">;
  /** What somebody wrote in place of the summary; empty where nobody did. */
  readonly text: string;
  /** The evidence that passed gates, the oldest first. */
  readonly artifacts: readonly Pick<Artifact, "section" | "role" | "commit">[];
  readonly effects: readonly Pick<StoredEffect, "effect" | "state" | "failure">[];
  readonly usage: readonly Pick<Usage, "run" | "inputTokens" | "outputTokens" | "cost">[];
}

/** What a pull request says about its task. What is not known is said to be unknown. */
export function renderPullRequestBody({ task, text, artifacts, effects, usage }: PullRequestFacts): string {
  const about = text.trim() || task.summary.trim();
  return [
    ...(about === "" ? [] : [about, ""]),
    `Task ${task.project}#${task.number} (\`${task.id}\`), workflow \`${task.workflow}\`.`,
    "",
    ...gateLines(artifacts),
    `**Tests:** ${testsText(effects)}`,
    `**Cost:** ${costText(usage)}`,
    "",
  ].join("\n");
}

/** Of a section that passed several times, the last one is what counts. */
function gateLines(artifacts: PullRequestFacts["artifacts"]): readonly string[] {
  const last = new Map(artifacts.map((each) => [each.section, each]));
  if (last.size === 0) return ["No gate has been passed yet.", ""];
  const rows = [...last.values()].map(
    ({ section, role, commit }) =>
      `| ${cell(section)} | ${cell(role) || "unknown"} | ${commit === "" ? "–" : `\`${commit.slice(0, 12)}\``} |`,
  );
  return ["| evidence | by | for commit |", "| --- | --- | --- |", ...rows, ""];
}

/** Only what the engine ran itself counts. */
function testsText(effects: PullRequestFacts["effects"]): string {
  const last = effects.findLast(({ effect, state }) => effect.action === "run_tests" && state !== "dropped");
  if (last === undefined) return "not run by Signalbox.";
  if (last.state === "done") return "passed.";
  if (last.failure === undefined) return "not run yet.";
  if (last.failure.word === "untested") return "none were found.";
  return last.failure.word === "tests" ? "failed." : "did not run to their end.";
}

function costText(usage: PullRequestFacts["usage"]): string {
  if (usage.length === 0) return "unknown.";
  const known = usage.flatMap(({ cost }) => (cost === undefined ? [] : [cost]));
  const tokens = usage.reduce((sum, each) => sum + each.inputTokens + each.outputTokens, 0);
  const sum = known.reduce((total, cost) => total + cost, 0).toFixed(2);
  const runs = new Set(usage.map(({ run }) => run)).size;
  const of = `${tokens} tokens in ${runs} ${runs === 1 ? "run" : "runs"}`;
  if (known.length === 0) return `unknown (${of}).`;
  return known.length === usage.length ? `$${sum} (${of}).` : `at least $${sum}, the rest is unknown (${of}).`;
}

/** What would end a cell of the table, or the row. */
function cell(text: string): string {
  return text.replace(/\s+/g, " ").replaceAll("|", "\\|").trim();
}
