import { routes } from "../../../api/routes.ts";
import { parseTaskDocument } from "../../../engine/task-document.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { given } from "../../given.ts";
import { nameTask, shownTask } from "../../name-task.ts";
import { handIn, readWords } from "../../read-words.ts";
import { tellSaid } from "../../tell-said.ts";

export interface SayFlags {
  readonly message?: string;
  readonly status?: string;
  readonly json: boolean;
}

export async function answer(this: Context, flags: SayFlags, reference: string, argument?: string) {
  const { message, status: to, json } = flags;
  const call = createCall(this);
  const named = await nameTask(call, reference);
  const words = await readWords(this, given({ message, argument }), async () => {
    const { task, blocked } = await call(routes.explainTask, named);
    const { text } = await call(routes.getDocument, { params: { task: task.id } });
    const questions = parseTaskDocument(text).byHeading.get("Questions")?.body;
    const about = `Your answer for ${shownTask(task)} ${task.summary}, which is in ${task.status}.`;
    return [about, "", ...(questions === undefined ? blocked.map(({ reason }) => reason) : [questions])].join("\n");
  });
  const said = await handIn(this, words, (text) => call(routes.answerTask, { ...named, body: given({ text, to }) }));
  tellSaid(this, said, json);
}
