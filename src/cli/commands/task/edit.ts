import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { editText } from "../../edit-text.ts";
import { nameTask, shownTask } from "../../name-task.ts";
import { readInput } from "../../read-input.ts";
import { tellWritten } from "../../tell-written.ts";

export async function edit(this: Context, { file }: { readonly file?: string }, reference: string) {
  const call = createCall(this);
  const named = await nameTask(call, reference);
  if (file !== undefined) {
    const text = await readInput(this, file);
    return tellWritten(this, await call(routes.putDocument, { ...named, body: { text } }));
  }
  const { task } = await call(routes.getTask, named);
  const params = { task: task.id };
  const { text: before } = await call(routes.getDocument, { params });
  const draft = await editText(this, before, `${task.id}.md`);
  if (draft.text === before) {
    draft.remove();
    return this.say(`The task file of ${shownTask(task)} is as it was.`);
  }
  try {
    tellWritten(this, await call(routes.putDocument, { params, body: { text: draft.text } }));
  } catch (error) {
    this.say(`What you wrote is kept in ${draft.path}`);
    throw error;
  }
  draft.remove();
}
