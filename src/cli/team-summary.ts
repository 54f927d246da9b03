import type { ChildrenView, PartView } from "../api/tasks.ts";
import { shellWord } from "../shell-quote.ts";
import { oneLine } from "../text.ts";
import type { Context } from "./context.ts";
import { localPullRequest } from "./describe-task.ts";
import { shownTask } from "./find.ts";
import { describeCounts, paintMark, partMark } from "./parts.ts";
import { displayWidth, fill, wrapMessage, writeCosts, writeDuration, writeTokens } from "./text.ts";
import { lostParts, needsOfTeam, type TeamBoard, type TeamEnd, usageOfTeam } from "./watch/team.ts";

type Sheet = Pick<Context, "paint" | "columns">;

/** What became of a task: its parts with the reasons, the branch or pull request, the cost, and the next command. */
export function writeTeamSummary(board: TeamBoard, end: TeamEnd, sheet: Sheet, untested = ""): string {
  const { task, pullRequest } = board;
  const { paint, columns } = sheet;
  const took = writeDuration(Date.parse(task.updatedAt) - Date.parse(task.createdAt));
  const children = task.children?.parts.length ? task.children : null;
  const rows = [
    ["because", oneLine(task.reason)],
    ["parts", children === null ? "" : describeCounts(children)],
    ["tests", oneLine(untested)],
    ["branch", task.branch],
    ["pull request", pullRequest === null ? task.prUrl : pullRequest.url || localPullRequest(pullRequest.number)],
    ["cost", costText(board)],
    ["took", end === "needs-person" ? "" : took],
  ].filter(([, value]) => value !== "");
  return [
    `${titles(sheet, children)[end]} ${paint.bold(shownTask(task))} ${oneLine(task.summary)}`,
    ...rows.map(
      ([name = "", value = ""]) =>
        `  ${name.padEnd(titleWidth)}${wrapMessage(value, columns - titleWidth - 2, indent)}`,
    ),
    ...(children === null ? [] : ["", ...partLines(children.parts, sheet)]),
    "",
    ...nextSteps(board, end).map(([what, command]) => `${what}\n  ${paint.cyan(command)}`),
  ].join("\n");
}

const titleWidth = 14;
const indent = " ".repeat(titleWidth + 2);

function titles({ paint }: Sheet, children: ChildrenView | null): Readonly<Record<TeamEnd, string>> {
  const of = children === null ? "" : `, ${children.done} of ${children.parts.length} parts`;
  return {
    done: paint.green("Done:"),
    "partly-done": paint.yellow(`Done in part${of}:`),
    failed: paint.red("Failed:"),
    cancelled: paint.yellow("Cancelled:"),
    "needs-person": paint.yellow("Needs you:"),
  };
}

function costText(board: TeamBoard): string {
  const used = usageOfTeam(board);
  if (used.runs === 0) return "";
  const cost = used.unknown >= used.runs ? "unknown" : writeCosts(used);
  const tokens = used.inputTokens + used.outputTokens;
  return `${cost}${tokens === 0 ? "" : `, ${writeTokens(tokens)} tokens`} in ${used.runs} agent ${used.runs === 1 ? "run" : "runs"}`;
}

/** Parts that were not done come with the reason, and done ones with the findings that are only noted. */
function partLines(parts: readonly PartView[], { paint, columns }: Sheet): readonly string[] {
  const width = Math.min(20, Math.max(...parts.map(({ item }) => displayWidth(oneLine(item)))));
  return parts.map((part) => {
    const { item, title, why, state, status } = part;
    const again = part.try === 1 ? "" : ` (${part.try} tries)`;
    const about = why || (state === "done" ? "" : `It is in ${status}.`);
    const text = [`${title}${state === "done" ? "" : again}`, ...(about === "" ? [] : [about])].join(". ");
    const room = columns - 7 - width;
    return `  ${paintMark(partMark(part), paint)}  ${fill(oneLine(item), width)}  ${wrapMessage(oneLine(text), room, " ".repeat(7 + width))}`;
  });
}

/** What a person does next, and the command for it. */
function nextSteps(board: TeamBoard, end: TeamEnd): readonly (readonly [string, string])[] {
  const { task } = board;
  if (end === "needs-person") {
    const needs = needsOfTeam(board).map(({ who, reason, command }) => {
      const about = oneLine(`${who === "" ? "" : `${who}: `}${reason}`);
      return [about, command || `signalbox task explain ${task.id}`] as const;
    });
    const waits = board.waits.map(({ reason, fix }) => [reason, fix.replaceAll("\n", "\n  ")] as const);
    return [...(needs.length === 0 ? waits : needs), ["To come back to it then:", `signalbox run --resume ${task.id}`]];
  }
  if (end !== "done" && end !== "partly-done") {
    return [
      ["To see what happened:", `signalbox task history ${task.id}`],
      // Only the parts that are done have brought commits into its branch.
      ...((task.children?.done ?? 0) === 0
        ? []
        : ([["To continue from its commits in a new task:", `signalbox run --from ${task.id}`]] as const)),
    ];
  }
  const diff = ["To see the work:", `signalbox task diff ${task.id}`] as const;
  // A branch that was pushed to a remote is not in the user's repository before it is fetched.
  const merge = `signalbox task fetch ${task.id} && git merge ${shellWord(task.branch)}`;
  const use =
    task.prUrl === ""
      ? (["To merge it into the branch that you have checked out:", merge] as const)
      : (["To review and merge it:", task.prUrl] as const);
  if (lostParts(task).length === 0) return [diff, use];
  return [diff, use, ["To build the missing parts on top of it:", `signalbox run --from ${task.id}`]];
}
