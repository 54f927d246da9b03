import type { SaidView } from "../api/person-routes.ts";
import type { Context } from "./context.ts";
import { tellChange } from "./tell-change.ts";
import { writeJson } from "./write-json.ts";

/** Tells where the task went with somebody's words, and which agent learns of them. */
export function tellSaid(context: Context, answer: SaidView, json: boolean): void {
  if (json) {
    context.print(writeJson(answer));
    return;
  }
  const { change, section, told } = answer;
  tellChange(context, change);
  const { id } = change.task;
  context.say(`It stands in "## ${section}" of the task file. ${whoLearns(told, id)}`);
}

function whoLearns(told: SaidView["told"], id: string): string {
  if (told === null) return "No agent is at work now; the next one finds it there.";
  if (told.how === "start") return `${told.run} is started with it.`;
  return `${told.run} is told as soon as it listens. To see what it is at: signalbox task peek ${id}`;
}
