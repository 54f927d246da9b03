import type { Call } from "../../api/client.ts";
import type { ProjectView } from "../../api/routes.ts";
import type { Context } from "../context.ts";
import { count } from "../count.ts";
import { createBoard } from "../watch-board.ts";
import { watchLines } from "../watch-table.ts";

/** More would not be read. */
const mostRows = 20;

/** How things are in a project, and what can be done next. */
export async function showProject(context: Context, call: Call, { name }: ProjectView): Promise<void> {
  const { columns, paint, talkPaint, print, say } = context;
  const board = await createBoard({ project: name, open: "true", limit: "200" })(call);
  if (board.tasks.length === 0) say(`${talkPaint.bold(name)} has no open task.`);
  else {
    const lines = watchLines(board, { columns, rows: mostRows, paint, now: Date.now(), title: name, trouble: "" });
    // The last line is about keys, which do nothing here.
    print(lines.slice(0, -1).join("\n").trimEnd());
  }
  const needed = board.needs.size;
  const steps = [
    ...(needed === 0
      ? []
      : [["signalbox task actions ID", `what you can do (${count(needed, "task")} in need of you)`]]),
    ...(board.tasks.length === 0 ? [] : [["signalbox status --watch", "see what happens"]]),
    ['signalbox task create "What is to be done"', "give it something to do"],
    ["signalbox --help", "all commands"],
  ] as const;
  const width = Math.max(...steps.map(([command = ""]) => command.length));
  say("\nNext:");
  for (const [command = "", what = ""] of steps) say(`  ${talkPaint.cyan(command.padEnd(width))}  ${what}`);
}
