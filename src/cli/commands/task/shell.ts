import { Fault } from "../../../fault.ts";
import type { Context } from "../../context.ts";
import { shownTask } from "../../name-task.ts";
import { runInTerminal } from "../../run-in-terminal.ts";
import { workspaceOf } from "../../workspace-of.ts";

/** What makes a command speak for a run. */
const ofRuns = { SIGNALBOX_TOKEN: undefined, SIGNALBOX_RUN: undefined, SIGNALBOX_PROCESS: undefined };

export async function shell(this: Context, _flags: object, reference: string) {
  const { task, folder } = await workspaceOf(this, reference);
  const program = process.env.SHELL || "sh";
  this.say(`You are in the workspace of ${shownTask(task)}, ${folder}. To come back: exit`);
  const failure = await runInTerminal([program], { ...ofRuns, SIGNALBOX_TASK: task.id }, folder);
  // How the last command in there ended is nobody's business here.
  if (failure === undefined || failure.startsWith("ended")) return;
  throw new Fault("shell", `The shell ${program} ${failure}.`, { hint: "Set SHELL to one that is there." });
}
