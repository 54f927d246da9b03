import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { given } from "../../given.ts";
import { nameTask, shownTask } from "../../name-task.ts";
import { handIn, readWords } from "../../read-words.ts";
import { tellSaid } from "../../tell-said.ts";
import type { SayFlags } from "./answer.ts";

export async function requestChanges(this: Context, flags: SayFlags, reference: string, argument?: string) {
  const { message, status: to, json } = flags;
  const call = createCall(this);
  const named = await nameTask(call, reference);
  const words = await readWords(this, given({ message, argument }), async () => {
    const { task } = await call(routes.getTask, named);
    return `What is to be different in ${shownTask(task)} ${task.summary}, which is in ${task.status}.`;
  });
  const said = await handIn(this, words, (text) =>
    call(routes.requestChanges, { ...named, body: given({ text, to }) }),
  );
  tellSaid(this, said, json);
}
