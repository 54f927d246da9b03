import type { MessageView } from "../../api/agent-wires.ts";
import { Refusal } from "../../api/error.ts";
import type { Routes } from "../../api/routes.ts";
import { sentences } from "../../engine/sentence.ts";
import type { Message } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { isoTime } from "../views.ts";
import { agentsOf, runOf, runToCome } from "./agents-of.ts";
import { attend } from "./attend.ts";
import { findTask } from "./find-task.ts";
import { mustBeOpen } from "./must-be-open.ts";

export function sendMessage(core: Core): Handler<Routes["sendMessage"]> {
  return async (asked) => {
    const agents = agentsOf(core);
    const stored = await findTask(core, asked);
    const { text, role } = asked.body;
    const coming = await runToCome(core, stored, role);
    const run = coming ?? (await runningOf(core, stored, role));
    if (text.trim() === "")
      throw new Refusal([{ code: "bad-value", text: "The message is empty.", fix: "Say something." }]);
    if (run.mode !== "session")
      throw new Refusal([
        {
          code: "not-waiting",
          text: `${run.key} has no terminal, so nobody can talk to it.`,
          fix: "Wait for its answer.",
        },
      ]);
    await attend(core, asked, stored, "sent a message");
    const key = `person-${core.ids.secret().slice(0, 12)}`;
    await agents.mail.tell(run, text, key, "human");
    const message = await core.store.messages.get(`${run.id}:${key}`);
    if (message === undefined) throw new Error("The message was not kept.");
    return { ...messageView(message), waitsFor: coming === undefined ? "" : sentences([coming.why, coming.fix]) };
  };
}

/** The run that is there to be told something. */
async function runningOf(core: Core, stored: StoredTask, role: string | undefined) {
  const run = await runOf(core, stored, role === undefined ? {} : { role });
  if (run.endedAt === undefined) return { ...run, mode: run.started?.mode };
  mustBeOpen(stored);
  const fix = `Bring it back: signalbox task respawn ${stored.task.id}`;
  throw new Refusal([{ code: "run-over", text: `${run.key} has ended (${run.word}).`, fix }]);
}

export function listMessages(core: Core): Handler<Routes["listMessages"]> {
  return async (asked) => {
    const { task } = await findTask(core, asked);
    return { messages: (await core.store.messages.list({ task: task.id })).map(messageView) };
  };
}

function messageView({ id, from, to, text, at, deliveredAt, evidence, problem = "" }: Message): MessageView {
  const delivered = evidence === "typed" ? "typed" : "delivered";
  const state = deliveredAt !== undefined ? delivered : problem === "" ? "waiting" : "undelivered";
  return { id, from, to, text, at: isoTime(at), state, problem };
}
