import type { Clock } from "../../../ports/clock.ts";
import type { Commands } from "../../../ports/commands.ts";

export interface CodexPorts {
  readonly commands: Commands;
  readonly clock: Pick<Clock, "now">;
  /** The environment in which agents are started: `PATH`, `HOME`, `CODEX_HOME`. */
  readonly env: Readonly<Record<string, string>>;
  /** Sockets by which a run with reduced permissions could make others act for it, such as that of our terminal. */
  readonly hidden: readonly string[];
  /** What the program is called, or where it is. */
  readonly program?: string;
}
