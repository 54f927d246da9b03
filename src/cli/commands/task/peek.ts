import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { given } from "../../given.ts";
import { nameTask } from "../../name-task.ts";
import { printOutput } from "../../print-output.ts";
import { writeJson } from "../../write-json.ts";

export interface PeekFlags {
  readonly role?: string;
  readonly lines?: number;
  readonly color: boolean;
  readonly json: boolean;
}

/** Of an agent without a terminal, as much as would fit on a screen. */
const usualLines = 40;

export async function peek(this: Context, { role, lines, color, json }: PeekFlags, reference: string) {
  const call = createCall(this);
  const { params, query } = await nameTask(call, reference);
  const asked = {
    ...query,
    ...given({ role, lines: lines?.toString() }),
    styled: String(color),
    end: "true",
    told: String(!json),
  };
  const screen = await call(routes.getScreen, { params, query: asked });
  if (json) return this.print(writeJson(screen));
  const text = screen.source === "screen" ? screen.text : lastLines(screen.text, lines ?? usualLines);
  const shown = text.trimEnd();
  if (shown !== "") return printOutput(this, shown, color);
  const why = screen.isOver ? "has ended, and its window is gone" : "shows nothing yet";
  this.say(`${screen.run} ${why}. To see what happened: signalbox task history ${reference}`);
}

function lastLines(text: string, most: number): string {
  return text.trimEnd().split("\n").slice(-most).join("\n");
}
