import type { Stage } from "../stage.ts";
import { adopt } from "./adopt.ts";
import * as headless from "./headless.ts";
import { callsCli, deliver, start } from "./interactive.ts";

export interface Behaviour {
  readonly name: string;
  readonly isInteractive: boolean;
  /** Fails where the harness does not behave so. */
  readonly run: (stage: Stage) => Promise<void>;
}

const turn = (name: string, run: Behaviour["run"]): Behaviour => ({ name, isInteractive: false, run });
const session = (name: string, run: Behaviour["run"]): Behaviour => ({ name, isInteractive: true, run });

/** The rows of the table. */
export const behaviours: readonly Behaviour[] = [
  turn("a turn", headless.turn),
  turn("tools that edit files", headless.edit),
  turn("resume", headless.resume),
  turn("a JSON answer", headless.json),
  turn("reduced: refuses to write", headless.reduced),
  turn("reduced: does what it may", headless.reducedMay),
  turn("rate limit", headless.rateLimit),
  turn("server error", headless.serverError),
  turn("wrong key", headless.authentication),
  turn("kill and adopt", adopt),
  session("starts without dialogs", start),
  session("messages acknowledged, once", deliver),
  session("calls our command line", callsCli),
];
