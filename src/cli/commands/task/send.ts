import type { MessageView, SentView } from "../../../api/agent-wires.ts";
import type { Call } from "../../../api/client.ts";
import { routes } from "../../../api/routes.ts";
import { createOnlooker } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { exitCodes } from "../../exit-code.ts";
import { given } from "../../given.ts";
import { type NamedTask, nameTask } from "../../name-task.ts";
import { pause } from "../../pause.ts";
import { readInput } from "../../read-input.ts";
import { writeJson } from "../../write-json.ts";

export interface SendFlags {
  readonly role?: string;
  readonly wait: boolean;
  readonly json: boolean;
}

export async function send(this: Context, { role, wait, json }: SendFlags, reference: string, words = "-") {
  const text = words === "-" ? await readInput(this, "-") : words;
  const call = createOnlooker(this);
  const named = await nameTask(call, reference);
  const sent = await call(routes.sendMessage, { ...named, body: given({ text, role }) });
  if (wait && sent.waitsFor !== "") this.say(sent.waitsFor);
  const message = wait ? { ...sent, ...(await settled(call, named, sent)) } : sent;
  if (message.state === "undelivered" || (wait && message.state === "waiting"))
    this.process.exitCode = exitCodes.failed;
  if (json) return this.print(writeJson(message));
  this.print(message.state);
  this.say(explained(message, reference, wait));
}

const interval = 300;

/** As it is once nothing more happens to it by itself: it has arrived, was given up, or its run has ended. */
async function settled(call: Call, named: NamedTask, sent: MessageView): Promise<MessageView> {
  let message = sent;
  while (message.state === "waiting") {
    await pause(interval);
    const { task } = named.params;
    const { runs } = await call(routes.listRuns, { query: { task, ...named.query } });
    const { messages } = await call(routes.listMessages, named);
    message = messages.find(({ id }) => id === sent.id) ?? message;
    if (!runs.some(({ key }) => key === message.to)) break;
  }
  return message;
}

function explained({ state, to, problem, waitsFor }: SentView, reference: string, hasWaited: boolean): string {
  switch (state) {
    case "waiting":
      if (!hasWaited && waitsFor !== "") return `It is kept, and told to ${to} once that is there. ${waitsFor}`;
      return hasWaited
        ? `${to} has ended before it could be told. To bring it back: signalbox task respawn ${reference}`
        : `${to} is told as soon as it listens. To see what it is at: signalbox task peek ${reference}`;
    case "delivered":
      return `It has arrived in the conversation of ${to}.`;
    case "typed":
      return `It was typed into the terminal of ${to}, whose harness gives no sign that it has arrived.`;
    case "undelivered":
      return `${problem} To see what ${to} is at: signalbox task attach ${reference}`;
  }
}
