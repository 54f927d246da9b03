import { Fault } from "../../../fault.ts";
import type { Context } from "../../context.ts";
import { shownTask } from "../../name-task.ts";
import { openFolder } from "../../open-folder.ts";
import { workspaceOf } from "../../workspace-of.ts";

export async function open(this: Context, _flags: object, reference: string) {
  const { task, folder } = await workspaceOf(this, reference);
  const { VISUAL, EDITOR } = process.env;
  const editor = VISUAL || EDITOR;
  if (!editor) {
    throw new Fault("usage", "Neither VISUAL nor EDITOR names an editor.", {
      hint: `Set one, such as: VISUAL=code signalbox task open ${task.id}`,
    });
  }
  const failure = await openFolder(editor, folder);
  if (failure === undefined) return this.say(`The workspace of ${shownTask(task)} was opened: ${folder}`);
  throw new Fault("editor", `The editor ${editor} ${failure}.`, { hint: "Look at what VISUAL and EDITOR say." });
}
