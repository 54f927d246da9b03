import type { Call } from "../../../api/client.ts";
import { routes } from "../../../api/routes.ts";
import type { TypeOf } from "../../../api/wire.ts";
import { createOnlooker } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { given } from "../../given.ts";
import { type NamedTask, nameTask } from "../../name-task.ts";
import { pause } from "../../pause.ts";
import { printOutput } from "../../print-output.ts";
import { createScreenLog } from "../../screen-log.ts";
import { unlessInterrupted, untilInterrupted } from "../../until-interrupted.ts";

export interface LogsFlags {
  readonly role?: string;
  readonly follow: boolean;
  readonly color: boolean;
  readonly raw: boolean;
}

type Screen = TypeOf<typeof routes.getScreen.answer>;

const interval = 500;
/** As much as terminals of agents remember. */
const allLines = "10000";

export async function logs(this: Context, { role, follow, color, raw }: LogsFlags, reference: string) {
  const ending = untilInterrupted();
  const call = createOnlooker(this, ending);
  const about = await nameTask(call, reference);
  const printing = { ...about, which: given({ role }), follow, color, raw, ending };
  await printRun(this, call, printing).catch(unlessInterrupted(ending));
}

interface Printing extends NamedTask {
  readonly which: { readonly role?: string; readonly run?: string };
  readonly follow: boolean;
  readonly color: boolean;
  /** As the program printed it, for other programs. */
  readonly raw: boolean;
  readonly ending: AbortSignal;
}

/** Prints what one run has printed or shows and, where that is wanted, goes on with it until it ends. */
export async function printRun(context: Context, call: Call, printing: Printing): Promise<void> {
  const { params, query, which, follow, color, raw, ending } = printing;
  const asked = { ...query, ...which, lines: allLines, styled: String(color), told: String(!raw) };
  const look = (more: { readonly from?: string; readonly run?: string; readonly errors?: string }) =>
    call(routes.getScreen, { params, query: { ...asked, ...more } });
  const first = await look({});
  const tell = (text: string) => printOutput(context, text, color);
  const again = (from: number) => look({ run: first.run, from: String(from) });
  if (first.source === "output") {
    await printed(first, again, tell, follow, ending);
    if (raw) return;
    const errors = (from: number) => look({ run: first.run, from: String(from), errors: "true" });
    const complaint = await errors(0);
    if (complaint.text.trim() === "") return;
    context.say(context.talkPaint.dim(`${first.run}, on its other channel:`));
    return printed(complaint, errors, tell, false, ending);
  }
  if (!follow) {
    tell(first.text.trimEnd());
    if (first.text.trim() === "") context.say(`Nothing is left of the screen of ${first.run}.`);
    return;
  }
  const log = createScreenLog();
  for (let screen = first; ; screen = await again(0)) {
    const isOver = screen.isOver || ending.aborted;
    tell(log.take(screen.text, isOver));
    if (isOver) return;
    await pause(interval, ending);
  }
}

/** Only whole lines are shown while more can come: what a terminal would obey may lie across two readings. */
async function printed(
  first: Screen,
  again: (from: number) => Promise<Screen>,
  tell: (text: string) => void,
  follow: boolean,
  ending: AbortSignal,
): Promise<void> {
  let rest = "";
  let from = 0;
  for (let part = first; ; part = await again(from)) {
    const text = rest + part.text;
    const isNews = part.next > from;
    from = part.next;
    const isLast = !isNews && (!follow || part.isOver || ending.aborted);
    const end = isLast ? text.length : text.lastIndexOf("\n") + 1;
    rest = text.slice(end);
    tell(text.slice(0, end));
    if (isLast) return;
    if (!isNews) await pause(interval, ending);
  }
}
